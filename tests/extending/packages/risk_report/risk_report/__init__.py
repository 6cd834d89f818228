"""Merge risks as lines of JSON: an export format for Potato."""
