"""An operation is a method written once: where its owner waits for answers it returns the result, where its owner is
asynchronous it returns what is to be awaited. Type checkers see both."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from potato.client.steps import Steps, Stream, path
from potato.client.transports import AsyncTransport, Transport

P = ParamSpec("P")
Answer = TypeVar("Answer")


class Waiting:
    """What asks through a transport that waits."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport


class Awaiting:
    """What asks through an asynchronous transport."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport


class OfProject:
    """What asks of one project, below its address."""

    slug: str

    def _path(self, *parts: object) -> str:
        return path("projects", self.slug, *parts)


class operation(Generic[P, Answer]):  # noqa: N801  (a decorator)
    """A method that returns the steps to an answer."""

    def __init__(self, steps: Callable[Concatenate[Any, P], Steps[Answer]]) -> None:
        self._steps = steps
        self.__doc__ = steps.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...
    @overload
    def __get__(self, owner: Waiting, kind: type) -> Callable[P, Answer]: ...
    @overload
    def __get__(self, owner: Awaiting, kind: type) -> Callable[P, Coroutine[Any, Any, Answer]]: ...
    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is None:
            return self

        @functools.wraps(self._steps)
        def call(*args: P.args, **kwargs: P.kwargs) -> Any:
            return owner._transport.run(self._steps(owner, *args, **kwargs))

        return call


class stream(Generic[P, Answer]):  # noqa: N801  (a decorator)
    """A method that returns the steps of a stream of rows."""

    def __init__(self, steps: Callable[Concatenate[Any, P], Stream[Answer]]) -> None:
        self._steps = steps
        self.__doc__ = steps.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...
    @overload
    def __get__(self, owner: Waiting, kind: type) -> Callable[P, Iterator[Answer]]: ...
    @overload
    def __get__(self, owner: Awaiting, kind: type) -> Callable[P, AsyncIterator[Answer]]: ...
    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is None:
            return self

        @functools.wraps(self._steps)
        def call(*args: P.args, **kwargs: P.kwargs) -> Any:
            return owner._transport.stream(self._steps(owner, *args, **kwargs))

        return call
