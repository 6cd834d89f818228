"""Organisations, people, memberships, audit, and projects with their configuration."""
