"""What models suggest of traces: taken from programs, shown to annotators or kept from them, and what became of it."""
