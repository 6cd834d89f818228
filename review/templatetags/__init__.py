"""Template tags of the forms in which people judge."""
