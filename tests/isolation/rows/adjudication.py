"""What makes a row of each tenant table of adjudication."""

from adjudication.models import Adjudication, Disagreement, Side
from tests.isolation.rows.fixtures import Factories, Fixtures


def _disagreement(fixtures: Fixtures) -> Disagreement:
    return Disagreement.objects.create(
        project=fixtures.rows["accounts.Project"],
        trace=fixtures.rows["traces.Trace"],
        annotations=2,
        words=[{"title": fixtures.mark, "range": "1 : 1"}],
    )


def _adjudication(fixtures: Fixtures) -> Adjudication:
    return Adjudication.objects.create(
        project=fixtures.rows["accounts.Project"],
        trace=fixtures.rows["traces.Trace"],
        submission=fixtures.rows["assignments.Submission"],
        items=[
            {
                "scheme": "verdict",
                "key": "decision",
                "title": fixtures.mark,
                "how": "kept",
                "differed": True,
                "taken_from": [],
                "sides": [],
            }
        ],
        decided_by=fixtures.person,
    )


def _side(fixtures: Fixtures) -> Side:
    return Side.objects.create(
        adjudication=fixtures.rows["adjudication.Adjudication"],
        submission=fixtures.rows["assignments.Submission"],
        parts=2,
        same=1,
    )


FACTORIES: Factories = {
    "adjudication.Disagreement": _disagreement,
    "adjudication.Adjudication": _adjudication,
    "adjudication.Side": _side,
}
