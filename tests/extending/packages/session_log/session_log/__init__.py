"""Logs of an agent of our own: a trace converter for Potato."""
