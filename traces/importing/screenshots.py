"""Stores the pictures of a run on its way in: each is made anew, and the run then names it by its hash.

A picture that is absent or none is never a lost run: the step keeps its name, and says why it cannot be shown.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace

from potato.runs.converters.native_pages import data_url
from potato.runs.model import JSON, AgentRun, Converted, RunFile, Screenshot, Step, TooLarge
from potato.runs.packages import BROKEN
from traces.contents import keep_contents
from traces.importing.pictures import NoPicture, Packed, packed, reuse_small_picture
from traces.models import Picture

PICTURES_A_RUN = 1_000
_NAMES_SHOWN = 5
_HAS_PICTURES = (b'"screenshot":{', b'"pictures":[{', b'"prompt_pictures":[{', b'"after_pictures":[{')
_ABSENT = "it did not come with the trace"


def with_pictures(converted: Converted, source: RunFile, *, keeps_packed: bool = False) -> tuple[Converted, list[str]]:
    """The run with its pictures stored, and sentences about those that cannot be shown.

    What a run says of a picture's hash counts for nothing, unless `keeps_packed`: then a picture of an archive, whose
    bytes have the hash that the run names, stays as it was packed.
    """
    if not any(any(_pictures(step)) for step in converted.run.steps):
        return converted, []
    keep_contents()
    keeper = _Keeper(source, keeps_packed=keeps_packed)
    steps = tuple(keeper.kept(step) for step in converted.run.steps)
    run = replace(converted.run, steps=steps)
    for screenshot in keeper.refused:
        converted.report.repairs[
            "screenshot that was not there" if screenshot.problem == _ABSENT else "screenshot that is no picture"
        ] += 1
    return replace(converted, run=run), _sentences(run, keeper.refused)


def result_pictures(step: Step) -> list[str]:
    """The hashes of the step's stored pictures beside its screenshot: what tools gave back and what the user sent, also
    in the agents that it started."""
    return sorted({picture.sha256 for picture in _pictures(replace(step, screenshot=None)) if picture.sha256})


def has_pictures(native: bytes) -> bool:
    """Whether a stored run, as compact JSON, may have pictures: a text in it can look as if it had."""
    return any(mark in native for mark in _HAS_PICTURES)


def with_pictures_inside(native: bytes) -> bytes:
    """A stored run, as compact JSON, with its pictures as data URLs: all of it in one line, for an archive."""
    if not has_pictures(native):
        return native
    record = json.loads(native)
    shots = [shot for shot in _native_pictures(record.get("steps", ())) if shot.get("sha256")]
    pictures = dict(
        Picture.objects.filter(sha256__in={shot["sha256"] for shot in shots}).values_list("sha256", "whole")
    )
    for shot in shots:
        shot["data"] = data_url(bytes(pictures[shot["sha256"]]), Picture.MEDIA_TYPE)
    return json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _pictures(step: Step) -> Iterator[Screenshot]:
    """All of the step's pictures: what the agent saw, what the user sent, what tools gave back, and those of the agents
    that it started."""
    if step.screenshot is not None:
        yield step.screenshot
    yield from step.prompt_pictures
    yield from step.after_pictures
    for call in step.calls:
        yield from call.pictures
    for agent in step.agents:
        for inner in agent.steps:
            yield from _pictures(inner)


def _native_pictures(steps: Iterable[dict[str, JSON]]) -> Iterator[dict[str, JSON]]:
    """The same of native steps."""
    for step in steps:
        if shot := step.get("screenshot"):
            yield shot
        yield from step.get("prompt_pictures", ())
        yield from step.get("after_pictures", ())
        for call in step.get("tool_calls", ()):
            yield from call.get("pictures", ())
        for agent in step.get("agents", ()):
            yield from _native_pictures(agent["steps"])


def _sentences(run: AgentRun, refused: list[Screenshot]) -> list[str]:
    """One for all that are absent, and one for each that is none."""
    absent = [screenshot.name for screenshot in refused if screenshot.problem == _ABSENT]
    sentences = [
        f"{screenshot.name[:200]} cannot be shown: {screenshot.problem}. The step shows its name instead."
        for screenshot in refused
        if screenshot.problem != _ABSENT
    ]
    if absent:
        names = ", ".join(name[:200] for name in absent[:_NAMES_SHOWN])
        more = f" and {len(absent) - _NAMES_SHOWN} more" if len(absent) > _NAMES_SHOWN else ""
        sentences.append(
            f"{run.external_id[:200] or 'A run'}: {len(absent)} of its screenshots did not come with it: "
            f"{names}{more}. Import a ZIP with the run and its screenshots to see them."
        )
    return sentences


class _Keeper:
    """Stores the pictures of one run, each once."""

    def __init__(self, source: RunFile, *, keeps_packed: bool) -> None:
        self._source = source
        self._keeps_packed = keeps_packed
        self._found = 0
        self.refused: list[Screenshot] = []

    def kept(self, step: Step) -> Step:
        if not any(_pictures(step)):
            return step
        return replace(
            step,
            screenshot=None if step.screenshot is None else self._shown(step.screenshot),
            prompt_pictures=tuple(map(self._shown, step.prompt_pictures)),
            after_pictures=tuple(map(self._shown, step.after_pictures)),
            calls=tuple(replace(call, pictures=tuple(map(self._shown, call.pictures))) for call in step.calls),
            agents=tuple(replace(agent, steps=tuple(map(self.kept, agent.steps))) for agent in step.agents),
        )

    def _shown(self, screenshot: Screenshot) -> Screenshot:
        try:
            return self._kept(screenshot)
        except NoPicture as problem:
            refused = Screenshot(name=screenshot.name, problem=str(problem))
            self.refused.append(refused)
            return refused

    def _kept(self, screenshot: Screenshot) -> Screenshot:
        data = screenshot.data or self._beside(screenshot)
        self._found += 1
        if self._found > PICTURES_A_RUN:
            raise NoPicture(f"a run may have {PICTURES_A_RUN:,} screenshots")
        source_sha256 = hashlib.sha256(data).hexdigest()
        is_packed = self._keeps_packed and source_sha256 == screenshot.sha256
        known = Picture.objects.filter(**{"sha256" if is_packed else "source_sha256": source_sha256})
        picture = known.defer("whole", "small").first()
        if picture is None:
            picture = _stored(reuse_small_picture(data) if is_packed else packed(data), source_sha256)
        if is_packed and screenshot.width > 0 and screenshot.height > 0:
            return Screenshot(screenshot.name, b"", picture.sha256, screenshot.width, screenshot.height)
        return Screenshot(screenshot.name, b"", picture.sha256, picture.width, picture.height)

    def _beside(self, screenshot: Screenshot) -> bytes:
        try:
            data = self._source.beside(screenshot.name) if screenshot.name else None
        except TooLarge as problem:
            raise NoPicture(str(problem)) from None
        except BROKEN as problem:
            raise NoPicture(f"it is damaged ({problem})"[:200]) from None
        if data is None:
            # A run that was here before keeps saying what was wrong with its picture.
            raise NoPicture(screenshot.problem or _ABSENT)
        return data


def _stored(made: Packed, source_sha256: str) -> Picture:
    """Two who store the same picture at once store one: the hash says that it is the same."""
    picture = Picture(
        sha256=hashlib.sha256(made.whole).hexdigest(),
        source_sha256=source_sha256,
        width=made.width,
        height=made.height,
        whole=made.whole,
        small=made.small,
    )
    Picture.objects.bulk_create([picture], ignore_conflicts=True)
    return picture
