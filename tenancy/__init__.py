"""Isolation of organisations: database roles, row-level policies, and who acts in which organisation."""
