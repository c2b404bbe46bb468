"""What the engine does differently for the older dialect; imported when the first such flow runs."""
