"""Readers of trace formats: bytes in, runs and unreadable records out. No Django and no database in here."""
