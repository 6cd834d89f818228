"""Background work: one row a job, the sweep that rings again, and the outbox of events."""
