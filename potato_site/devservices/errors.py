"""The one error of the embedded servers: its text says what, where and what to do."""


class ServiceError(Exception):
    """An embedded server can't be used, or an address given from outside can't."""
