"""Measurements: `make bench`. Nothing here is asserted, and nothing of it runs in `make test`."""
