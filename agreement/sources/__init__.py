"""Automated sources: their answers come in, are compared with people's, and where they differ people are asked."""
