"""What can be searched for. Each app registers the sources that it brings, in its AppConfig.ready()."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from django.http import HttpRequest

from jobs.row_text import storable
from tenancy.ids import read_id
from tenancy.urls import organisation_reverse

LONGEST = 200
MOST_WORDS = 6


@dataclass(frozen=True)
class SearchText:
    """What somebody typed: all `words` are wanted; "by:name" narrows it to what that person annotated, "agent:model" to
    traces of that model."""

    typed: str = ""
    words: tuple[str, ...] = ()
    by: str = ""
    agent: str = ""

    @classmethod
    def read(cls, typed: str) -> Self:
        text = storable(typed.strip(), LONGEST)
        words, named = [], {"by": "", "agent": ""}
        for word in text.split():
            name, colon, value = word.partition(":")
            if colon and name.lower() in named:
                named[name.lower()] = value
            else:
                words.append(word)
        return cls(text, tuple(dict.fromkeys(words[:MOST_WORDS])), named["by"], named["agent"])

    def __bool__(self) -> bool:
        return bool(self.words or self.by or self.agent)

    @property
    def is_narrowed(self) -> bool:
        """Then it is about traces alone."""
        return bool(self.by or self.agent)

    @property
    def id(self) -> UUID | None:
        """The id that was typed, where it is one and nothing else."""
        return read_id(self.words[0]) if len(self.words) == 1 and not self.is_narrowed else None

    def fits(self, *texts: str) -> bool:
        """Whether each word is in one of the texts, in capitals or small."""
        whole = " ".join(texts).casefold()
        return all(word.casefold() in whole for word in self.words)


@dataclass(frozen=True)
class Hit:
    """One thing that was found. `badge` is a short state, and `tone` a name of its colour."""

    title: str
    about: str
    url: str
    icon: str
    badge: str = ""
    tone: str = ""


@dataclass(frozen=True)
class Hits:
    """What a source found, the best first; `is_all` is false where there is more."""

    rows: list[Hit]
    is_all: bool = True


@dataclass(frozen=True)
class Group:
    """What was found of one kind."""

    name: str
    title: str
    hits: list[Hit]
    is_all: bool

    @property
    def number(self) -> str:
        """As "3", or "6 or more"."""
        return str(len(self.hits)) if self.is_all else f"{len(self.hits)} or more"


Find = Callable[[HttpRequest, SearchText, int], Hits]
"""Answers at most so many hits that the reader may see."""


@dataclass(frozen=True)
class SearchProvider:
    name: str
    title: str
    position: int
    find: Find


_sources: dict[str, SearchProvider] = {}


def address(request: HttpRequest, page: str, /, **parts: Any) -> str:
    """The path of a page of the organisation that the request entered, also where a token entered it."""
    return organisation_reverse(request.membership.organisation_slug, page, **parts)  # type: ignore[attr-defined]


def register(name: str, title: str, position: int, find: Find) -> None:
    """Called in AppConfig.ready(). Traces have position 10, projects 20, batches 30, people 40, annotations 50, what
    else there is 60 and more; sources of one title stand together."""
    _sources[name] = SearchProvider(name, title, position, find)


def titles() -> list[str]:
    """What can be searched for, in words."""
    return list(dict.fromkeys(source.title for source in _ordered()))


def search(request: HttpRequest, text: SearchText, most: int) -> list[Group]:
    """What the reader may see of what fits, in groups that have something, each of at most `most` a source."""
    groups: dict[str, Group] = {}
    for source in _ordered() if text else ():
        hits = source.find(request, text, most)
        if not hits.rows:
            continue
        before = groups.get(source.title)
        rows = [*before.hits, *hits.rows] if before else hits.rows
        is_all = hits.is_all and (before is None or before.is_all)
        groups[source.title] = Group(before.name if before else source.name, source.title, rows, is_all)
    return list(groups.values())


def _ordered() -> list[SearchProvider]:
    return sorted(_sources.values(), key=lambda source: source.position)
