"""What a page shows of a stored trace, and what answers about it are checked against."""
