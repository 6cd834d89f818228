"""Background work: one row a job, the sweep that notifies again, and the outbox of events."""
