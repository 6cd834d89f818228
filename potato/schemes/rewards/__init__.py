"""Process rewards: the first wrong step, or a label for every step."""
