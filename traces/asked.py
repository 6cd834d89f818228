"""What the agent was asked, as the head of a page shows it: a first line, and the rest as safe HTML."""

from dataclasses import dataclass
from functools import lru_cache

from traces.listing import first_line
from traces.models import Trace
from traces.rendering.prose import prose
from traces.rendering.safe import SafeHtml

_LONG = 640
"""A rest with more characters is folded."""


@dataclass(frozen=True)
class AskedFor:
    """`title` is the first line, `rest` what follows it; both are empty where the trace does not say."""

    title: str
    rest: SafeHtml | None
    is_long: bool


def asked_for(trace: Trace) -> AskedFor:
    title = first_line(trace.task)
    rest = trace.task.partition(title)[2].strip() if title else ""
    return AskedFor(title, _prose(rest) if rest else None, len(rest) > _LONG or rest.count("\n") > _LONG // 80)


# Several agents are asked the same, and several people read each trace.
@lru_cache(maxsize=100)
def _prose(text: str) -> SafeHtml:
    return prose(text)
