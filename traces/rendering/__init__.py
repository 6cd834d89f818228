"""File changes and steps as HTML fragments, the same for every reader. Reads no database and knows no request."""
