"""The ground of every API route: exact JSON, who comes in at which of the two addresses, refusals as JSON."""
