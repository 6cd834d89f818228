"""`python -m potato.analysis anchoring`: how far annotators follow a model's suggestions, from files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from potato.records.archives import parsed_object
from potato.records.folders import Folder
from potato.records.sources import RecordsError
from potato.statistics.agreement.compared import Settings
from potato.statistics.agreement.figures import Estimate
from potato.wording import counted


def anchoring_in(folder: Folder, suggestions: Path, settings: Settings) -> dict[str, Any]:
    """What the site's report has under `suggestions`, of a folder of records and the suggestions of its project.

    A line of the suggestions is as the API lists them, with `shown_to` and `hidden_from`. Raises RecordsError.
    """
    from potato.statistics.agreement.anchoring import Anchoring, Exposed

    configuration = folder.project.newest
    anchoring = Anchoring(configuration.annotation_schemes if configuration else (), settings)
    drawn = dict(_drawn(suggestions))
    for batch in folder.records("all", buffered=False):
        for record in batch:
            key = record.id, record.trace_version, record.annotator
            if record.kind == "normal" and key in drawn:
                is_shown, suggestion = drawn[key]
                anchoring.add(Exposed(key[:2], is_shown, suggestion, record.annotations))
    if anchoring.is_empty:
        raise RecordsError(f"No annotation is of a task for which {suggestions.name} has a suggestion drawn.")
    return anchoring.as_json()


def anchoring_lines(figures: Mapping[str, Any]) -> Iterator[str]:
    """The figures as lines of text."""
    shown = counted(figures["shown"], "annotation")
    yield f"{shown} with suggestions shown, {figures['hidden']:,} with suggestions hidden"
    if figures["has_few"]:
        yield "Too few traces to conclude anything: fewer than 30 with suggestions shown, or with them hidden."
    for part in figures["acts"]:
        yield ""
        yield f"What was done with suggestions ({part['scheme']})"
        for action in ("accepted", "edited", "rejected", "unanswered"):
            yield f"  {action:<41} {part[action]:,}"
        yield f"  {'accepted or edited, share':<41} {_figure(part['acceptance'])}"
    for part in figures["compared"]:
        yield ""
        yield f"Same as suggested: {part['title']} ({part['scheme']})"
        for name in ("shown", "hidden", "difference"):
            yield f"  {name:<41} {_figure(part[name])}"


def _drawn(path: Path) -> Iterator[tuple[tuple[str, int, str], tuple[bool, Any]]]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise RecordsError(f"{path} cannot be read: {error.strerror}.") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path.name} line {number}"
        row = parsed_object(line, where)
        name, version, said = row.get("id"), row.get("trace_version", 1), row.get("annotations")
        people = {is_shown: row.get(key, []) for is_shown, key in ((True, "shown_to"), (False, "hidden_from"))}
        if not isinstance(name, str) or not isinstance(version, int) or not isinstance(said, dict):
            raise RecordsError(f"{where}: a suggestion has id, annotations, shown_to and hidden_from.")
        for is_shown, annotators in people.items():
            if not isinstance(annotators, list) or not all(isinstance(one, str) for one in annotators):
                raise RecordsError(f"{where}: shown_to and hidden_from are lists of annotators.")
            for annotator in annotators:
                yield (name, version, annotator), (is_shown, said)


def _figure(figure: Mapping[str, Any]) -> str:
    estimate = Estimate(**figure)
    if estimate.value is None:
        return f"not defined: {estimate.undefined}"
    interval = "" if estimate.low is None else f" [{estimate.low:.2f}, {estimate.high:.2f}]"
    few = ", too few to say much" if estimate.has_few_pairs else ""
    return f"{estimate.value:.2f}{interval} from {counted(estimate.pairs, 'item')}{few}"
