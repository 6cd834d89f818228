"""The documented offline doors. Thin: they call pure modules of the rooms, and need no Django and no database."""
