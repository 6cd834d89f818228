"""Agreement over 1,000,000 step labels and 100,000 comments: seconds and memory, of single measures and whole reports.

Each figure is of a process of its own, so that no other's memory is counted.
"""

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

from potato.schemes.comparisons import PlaceComparison, PlacedComment, ValueComparison
from potato.statistics.agreement.choices import Choices, Judged
from potato.statistics.agreement.coefficients import gwet_ac1, krippendorff_alpha, percent_agreement
from potato.statistics.agreement.comments import comment_agreement
from potato.statistics.agreement.report import About, Answered, Settings, compare

TRACES, STEPS, ANNOTATORS, LABELS = 50_000, 10, 2, 5
PEOPLE = 30
COMMENTED_TRACES, COMMENTS = 5_000, 10
MADE = "made here"
"""What a bench does before it measures; it is not in the sum."""


def bench_step_labels(capsys: pytest.CaptureFixture[str]) -> None:
    _bench(capsys, "1,000,000 step labels, 1,000 samples, measure by measure", _measures)


def bench_report_of_step_labels(capsys: pytest.CaptureFixture[str]) -> None:
    """With people, pairs, positions, agent models and weeks."""
    _bench(capsys, "1,000,000 step labels, 1,000 samples, the whole report", _report_of_labels)


def bench_comments(capsys: pytest.CaptureFixture[str]) -> None:
    _bench(capsys, "100,000 comments matched, spread over files", _spread_comments)


def bench_crowded_comments(capsys: pytest.CaptureFixture[str]) -> None:
    """All comments of a trace are near each other in one file, so that matchings have many ways."""
    _bench(capsys, "100,000 comments matched, crowded in one file, the whole report", _crowded_comments)


def _measures() -> Iterator[tuple[str, Any]]:
    answers = [*_answers()]
    yield MADE, ""
    choices = Choices.gather(_labels(answers), range(LABELS))
    yield "gathered", f"{len(choices.codes):,}"
    measures: list[tuple[str, Callable[[], object]]] = [
        ("alpha nominal", lambda: krippendorff_alpha(choices, "nominal")),
        ("alpha ordinal", lambda: krippendorff_alpha(choices, "ordinal")),
        ("alpha interval", lambda: krippendorff_alpha(choices, "interval")),
        ("Gwet's AC1", lambda: gwet_ac1(choices)),
        ("same label", lambda: percent_agreement(choices)),
    ]
    for name, measure in measures:
        yield name, str(measure())


def _report_of_labels() -> Iterator[tuple[str, Any]]:
    comparison = ValueComparison(
        "labels", "Labels", "steps", dict.items, ("alpha_nominal", "gwet_ac1", "percent"), tuple(range(LABELS)),
        by_position=True,
    )  # fmt: skip
    answers = [*_answers()]
    yield MADE, ""
    found = compare("rewards", comparison, answers, Settings())
    yield "report", f"{len(found.pairs)} pairs, {len(found.rest)} people, {len(json.dumps(found.as_json())):,} bytes"


def _spread_comments() -> Iterator[tuple[str, Any]]:
    yield "F1", str(comment_agreement(_comments(files=6, lines=200)))


def _crowded_comments() -> Iterator[tuple[str, Any]]:
    comparison = PlaceComparison("comments", "Comments", lambda result: result, {"category": ("bug", "style")})
    answers = (
        Answered(trace, name, comments)
        for trace, named in _comments(files=1, lines=40).items()
        for name, comments in named.items()
    )
    yield "report", str(compare("review", comparison, answers, Settings()).figures["f1"])


def _labels(answers: list[Answered]) -> Iterator[Judged]:
    for one in answers:
        for step, label in one.result.items():
            yield Judged(one.trace, step, one.annotator, label)


def _answers() -> Iterator[Answered]:
    random = np.random.default_rng(1)
    for trace in range(TRACES):
        about = About(agent_model=f"model-{trace % 4}", week=f"2026-W{trace * 20 // TRACES + 10}")
        truth = random.integers(0, LABELS, STEPS)
        wrong = random.random((ANNOTATORS, STEPS)) < 0.2
        for annotator in range(ANNOTATORS):
            labels = dict(enumerate(((truth + wrong[annotator]) % LABELS).tolist()))
            yield Answered(trace, f"annotator-{(trace * 7 + annotator) % PEOPLE:02}", labels, about)


def _comments(files: int, lines: int) -> dict[int, dict[str, list[PlacedComment]]]:
    random = np.random.default_rng(1)
    return {
        trace: {
            name: [
                PlacedComment(f"file{file}.py", "new", int(line), int(line) + 2, "bug" if line % 3 else "style")
                for file, line in zip(
                    random.integers(0, files, COMMENTS), random.integers(1, lines, COMMENTS), strict=True
                )
            ]
            for name in ("a", "b")
        }
        for trace in range(COMMENTED_TRACES)
    }


def _bench(capsys: pytest.CaptureFixture[str], title: str, work: Callable[[], Iterator[tuple[str, Any]]]) -> None:
    with get_context("spawn").Pool(1) as pool:
        rows, peak = pool.apply(_measured, (work,))
    with capsys.disabled():
        measured = [row for row in rows if row[0] != MADE]
        whole, worked = sum(row[1] for row in measured), sum(row[2] for row in measured)
        print(f"\n{title}; {whole:.1f} s in all, {worked:.1f} s of a processor, peak {peak} MiB")
        for name, seconds, own, found in rows:
            print(f"  {name:<16} {seconds:6.2f} s {own:6.2f} s  {found}")


def _measured(work: Callable[[], Iterator[tuple[str, Any]]]) -> tuple[list[tuple[str, float, float, str]], int]:
    """For each step its seconds, those of a processor, which a busy machine leaves alone, and what was found."""
    rows = []
    begin, began = time.perf_counter(), time.process_time()
    for name, found in work():
        rows.append((name, time.perf_counter() - begin, time.process_time() - began, str(found)))
        begin, began = time.perf_counter(), time.process_time()
    # KiB, but bytes on macOS.
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit
