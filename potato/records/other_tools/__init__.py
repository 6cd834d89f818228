"""Annotations that were made in other tools, read as the site's records and marked with their origin."""
