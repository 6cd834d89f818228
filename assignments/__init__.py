"""Who judges which trace, and what becomes of it: the queue, and an annotation's life from claim to submission."""
