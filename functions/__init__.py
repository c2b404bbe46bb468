"""FC handlers of the shipped flows and the small kit they share."""
