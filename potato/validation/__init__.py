"""A YAML text read with the place of every key, and what is wrong with it in sentences for people."""
