"""Template tags of the pages that show runs."""
