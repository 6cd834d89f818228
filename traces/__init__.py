"""Imported agent runs: converters, steps, files, diffs, and their safe rendering."""
