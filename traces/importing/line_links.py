"""Which steps wrote the lines of a file's change, as a column keeps it."""

from collections.abc import Sequence
from typing import Any

from jobs.row_text import storable
from potato.runs.changes.linked_lines import MOST_LINKS
from potato.runs.changes.model import FileChange
from potato.runs.model import Step
from traces.rendering.tool_calls import step_title


def stored_links(change: FileChange, steps: Sequence[Step]) -> dict[str, Any]:
    """As the column keeps it: stretches of lines with the steps that wrote them, what was overwritten, and the titles
    of these steps, so that a page of files need not read the steps. Empty where no step wrote a line that is known."""
    links = change.links[:MOST_LINKS]
    named = sorted({step for link in links for step in link.steps if step < len(steps)})
    if not named and not change.overwritten:
        return {}
    return {
        "lines": [[link.side, link.first, link.last, list(link.steps)] for link in links],
        "overwritten": [[gone.step, gone.by, gone.lines] for gone in change.overwritten[:MOST_LINKS]],
        "steps": {str(index): _title(steps[index]) for index in named},
    }


def _title(step: Step) -> str:
    title = step_title(step)
    return storable(f"{title.title} {title.detail}".strip(), 200)
