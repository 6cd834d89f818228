"""The runs that the product ships, on which a task page can be seen before a trace is there."""

import re
from functools import cache
from pathlib import Path

from django.templatetags.static import static

from potato.configuration import ProjectConfiguration
from potato.runs.converters.reading import Bookmark, read_on
from potato.runs.model import Converted, ReadingOptions
from potato.runs.run_files import source_at

_FOLDER = Path(__file__).resolve().parent / "samples"
_PICTURE = re.compile(r"\.\./pictures/([0-9a-f]{64})/(whole|small)\.webp")
SAMPLES = ("code", "web")


def sample_for(configuration: ProjectConfiguration) -> str:
    """The name of the run that fits what the configuration shows."""
    return "web" if configuration.agentic.display_type == "web_agent" else "code"


@cache
def sample_run(name: str) -> Converted:
    """One of SAMPLES, as an import reads it. Its screenshots lie among the static files, named by their hash."""
    entries = read_on(source_at(_FOLDER / f"{name}.json"), ReadingOptions(), Bookmark(), named="native", explicit=True)
    return next(entry for entry, _ in entries if isinstance(entry, Converted))


def with_shipped_pictures(html: str) -> str:
    """The page of a sample run with the addresses that its screenshots have."""
    return _PICTURE.sub(lambda found: static(f"samples/{found[1]}-{found[2]}.webp"), html)
