"""Tests of the isolation of organisations as a whole: the catalogue, every tenant table, every route."""
