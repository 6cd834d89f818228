"""Process reward annotation: which step of an agent's run went wrong, and what each step is worth."""
