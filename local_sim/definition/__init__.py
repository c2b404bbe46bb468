"""From a flow's text to a typed definition with line and column, and the findings of the checker."""
