"""Tests of the wall between organisations as a whole: the catalogue, every tenant table, every route."""
