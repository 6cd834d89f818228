"""What can be asked of annotators: the base of a scheme type, a registry, and those that come along."""
