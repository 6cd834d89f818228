"""Reads code of Python that strangers wrote; nothing of it is run."""

import ast


def parsed(code: str | bytes) -> ast.Module | None:
    """The syntax tree; None for what is no Python or is nested deeper than the interpreter can follow."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
