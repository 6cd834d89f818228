"""What tests and checkers say of a run's change: reports read from files, as models."""
