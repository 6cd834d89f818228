"""What a trace keeps of the tests that its agent ran."""

from typing import Any

from jobs.row_text import storable
from potato.runs.model import AgentRun
from potato.runs.test_runs import last_outcome, run_record, test_runs

TEST_RUNS_KEPT = 200
"""The last ones of a run."""


def kept_test_runs(run: AgentRun) -> dict[str, Any]:
    """The columns `test_runs` and `tests_outcome` of the run's trace."""
    tests = test_runs(run)
    return {
        "test_runs": [{**run_record(each), "command": storable(each.command)} for each in tests[-TEST_RUNS_KEPT:]],
        "tests_outcome": last_outcome(tests),
    }
