"""What starts an event loop of its own, in tests that share their process with browsers."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


def run_apart(do: Callable[Given, Result], *arguments: Given.args, **named: Given.kwargs) -> Result:
    """What it returns, called in a thread: the main one has Playwright's loop once a test drove a browser."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(do, *arguments, **named).result()
