"""The consensus of an export over 1,000,000 step labels of 200 people: seconds and memory."""

import random
import resource
import time

import pytest

from potato.formats.consensus import Crowd
from potato.formats.options import Weighting

TRACES, STEPS, PEOPLE, EACH = 20_000, 10, 200, 5


def bench_consensus_of_an_export(capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(1)  # noqa: S311  (a crowd, and no secret)
    right = {f"p{number}": chance.choice((0.95, 0.8, 0.8, 0.5)) for number in range(PEOPLE)}
    names, begin = list(right), time.perf_counter()
    crowd = Crowd((1, -1))
    for _ in range(TRACES):
        crowd.next_trace()
        chosen = chance.sample(names, EACH)
        for _ in range(STEPS):
            truth = 1 if chance.random() < 0.7 else -1
            crowd.add((name, truth if chance.random() < right[name] else -truth) for name in chosen)
    collected = time.perf_counter() - begin
    weightings: tuple[Weighting, ...] = ("dawid_skene", "one_coin")
    for weighting in weightings:
        begin = time.perf_counter()
        consensus, _ = crowd.consensus(weighting)
        seconds = time.perf_counter() - begin
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        with capsys.disabled():
            print(
                f"\n{TRACES * STEPS * EACH:,} choices by {weighting}: collected in {collected:.1f} s, fitted in "
                f"{seconds:.1f} s with {consensus.iterations} iterations, peak {peak} MiB"
            )
