"""What can be done from files on a command line, without a database."""
