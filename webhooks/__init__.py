"""What happened, told to other programs: endpoints, signed deliveries and their log."""
