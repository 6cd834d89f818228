from tests.assignments.conftest import queue

__all__ = ["queue"]
