"""What leaves: formats as pure functions over records, export jobs, and the files that people take away."""
