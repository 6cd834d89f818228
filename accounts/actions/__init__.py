"""What can be done to organisations, people and projects: one function a verb, each one transaction."""
