"""The wall between organisations: database roles, row-level policies, and who acts in which organisation."""
