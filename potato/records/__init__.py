"""What was answered: a record, an archive in and out, and what a trace says about its record."""
