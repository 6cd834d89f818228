"""Agents' runs as files hold them: formats, steps, file events and the changes that come of them."""
