"""What can be asked of annotators: the base of a scheme type, the registry of installed ones, and those that come along."""
