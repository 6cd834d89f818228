"""How far people agree: reports as rows, and machines' answers beside those of people (potato.statistics.agreement)."""
