"""Pages of the people who judge traces, and of those who read what was judged."""
