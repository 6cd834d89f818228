"""How risky it would be to merge the changes: a scheme type for Potato."""
