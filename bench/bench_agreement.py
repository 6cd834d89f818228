"""Agreement over 1,000,000 step labels and 100,000 comments: seconds and memory."""

import resource
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from potato.schemes.comparisons import PlacedComment
from potato.statistics.agreement.coefficients import gwet_ac1, krippendorff_alpha, percent_agreement
from potato.statistics.agreement.comments import comment_agreement
from potato.statistics.agreement.judged import Choices, Judged

TRACES, STEPS, ANNOTATORS, LABELS = 50_000, 10, 2, 5


def bench_step_labels(capsys: pytest.CaptureFixture[str]) -> None:
    begin = time.perf_counter()
    choices = Choices.gather(_labels(), range(LABELS))
    rows = [("gathered", time.perf_counter() - begin, "")]
    measures: list[tuple[str, Callable[[], object]]] = [
        ("alpha nominal", lambda: krippendorff_alpha(choices, "nominal")),
        ("alpha ordinal", lambda: krippendorff_alpha(choices, "ordinal")),
        ("alpha interval", lambda: krippendorff_alpha(choices, "interval")),
        ("Gwet's AC1", lambda: gwet_ac1(choices)),
        ("same label", lambda: percent_agreement(choices)),
    ]
    for name, measure in measures:
        begin = time.perf_counter()
        found = measure()
        rows.append((name, time.perf_counter() - begin, str(found)))
    _print(capsys, f"{len(choices.codes):,} step labels, 1,000 samples", rows)


def bench_comments(capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(1)
    traces = {
        trace: {
            name: [
                PlacedComment(f"file{file}.py", "new", int(line), int(line) + 2)
                for file, line in zip(random.integers(0, 6, 10), random.integers(1, 200, 10), strict=True)
            ]
            for name in ("a", "b")
        }
        for trace in range(5_000)
    }
    begin = time.perf_counter()
    found = comment_agreement(traces)
    _print(capsys, "100,000 comments matched, 1,000 samples", [("F1", time.perf_counter() - begin, str(found))])


def _labels() -> Iterator[Judged]:
    random = np.random.default_rng(1)
    for trace in range(TRACES):
        truth = random.integers(0, LABELS, STEPS)
        wrong = random.random((ANNOTATORS, STEPS)) < 0.2
        for annotator in range(ANNOTATORS):
            for step in range(STEPS):
                label = int(truth[step] + wrong[annotator, step]) % LABELS
                yield Judged(trace, step, (trace * 7 + annotator) % 30, label)


def _print(capsys: pytest.CaptureFixture[str], title: str, rows: list[tuple[str, float, str]]) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    with capsys.disabled():
        print(f"\n{title}; {sum(seconds for _, seconds, _ in rows):.1f} s in all, peak {peak} MiB")
        for name, seconds, found in rows:
            print(f"  {name:<16} {seconds:6.2f} s  {found}")
