"""Figures made of annotations. Pure: numbers in, numbers out; no files, no Django and no database."""
