"""A module for each app, with what makes a row of each of its tenant tables."""
