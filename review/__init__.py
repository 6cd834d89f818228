"""Code review as annotation: inline comments, file ratings, a verdict."""
