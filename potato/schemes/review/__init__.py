"""Code review: comments on lines, ratings of files, a verdict."""
