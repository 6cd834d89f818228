"""How long the database works or waits for us. No Django.

Each role logs in with its own limits, which `provision` sets on the role, so that they hold behind a pooler that hands
the connections on as well. Worker and commands share the web's role and take longer: they say so in each transaction.
"""

from collections.abc import Mapping

WEB: Mapping[str, str] = {
    "statement_timeout": "30s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "60s",
}
# A part of a job ends after 270 s, and computes within its transaction.
BACKGROUND: Mapping[str, str] = {
    "statement_timeout": "270s",
    "lock_timeout": "60s",
    "idle_in_transaction_session_timeout": "300s",
}
# A migration may take long. While it waits for a lock, everybody waits behind it.
OWNER: Mapping[str, str] = {"lock_timeout": "30s"}
# PostgreSQL compiles a query that it takes for a long one. Ours have many parts, each with the check of its policy:
# compiling took longer than all the rest of them (876 ms of 1,671 ms of a page of the queue of reviewers).
PLANNING: Mapping[str, str] = {"jit": "off"}
"""What each role logs in with beside its limits."""

_serves_requests = False


def serve_requests() -> None:
    """This process is a web server: the limits of its role stay as they are."""
    global _serves_requests
    _serves_requests = True


def own() -> Mapping[str, str]:
    """What this process has to say at the beginning of a transaction."""
    return {} if _serves_requests else BACKGROUND
