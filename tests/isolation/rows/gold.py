"""What makes a row of each tenant table of gold."""

from typing import Any

from gold.models import AddedAnnotator, Admission, ExpectedAnnotation, GoldScore, GoldStanding, Origin, PracticeAttempt
from tests.isolation.rows.fixtures import Factories, Fixtures
from traces.models.bodies import pack


def _expected_annotation(fixtures: Fixtures) -> ExpectedAnnotation:
    return ExpectedAnnotation.objects.create(
        project=fixtures.rows["accounts.Project"],
        trace=fixtures.rows["traces.Trace"],
        origin=Origin.EXPERT,
        packed=pack({"verdict": {"decision": fixtures.mark}}),
        why=fixtures.mark,
        made_by=fixtures.person,
    )


def _scored_part(fixtures: Fixtures) -> dict[str, Any]:
    nothing = dict.fromkeys(("expected", "given", "expected_at", "given_at"))
    return {
        "scheme": "verdict",
        "title": "Verdict",
        "outcome": "wrong",
        "points": 0.0,
        "unit": "",
        "sentence": fixtures.mark,
        **nothing,
    }


def _gold_score(fixtures: Fixtures) -> GoldScore:
    return GoldScore.objects.create(
        project=fixtures.rows["accounts.Project"],
        user=fixtures.person,
        expected=fixtures.rows["gold.ExpectedAnnotation"],
        submission=fixtures.rows["assignments.Submission"],
        score=0.5,
        packed=pack([_scored_part(fixtures)]),
    )


def _gold_standing(fixtures: Fixtures) -> GoldStanding:
    return GoldStanding.objects.create(
        project=fixtures.rows["accounts.Project"], user=fixtures.person, sentence=fixtures.mark
    )


def _practice_attempt(fixtures: Fixtures) -> PracticeAttempt:
    return PracticeAttempt.objects.create(
        project=fixtures.rows["accounts.Project"],
        user=fixtures.person,
        expected=fixtures.rows["gold.ExpectedAnnotation"],
        submission=fixtures.rows["assignments.Submission"],
        number=1,
        score=0.5,
        passed=True,
        packed=pack([_scored_part(fixtures)]),
    )


def _admission(fixtures: Fixtures) -> Admission:
    return Admission.objects.create(
        project=fixtures.rows["accounts.Project"], user=fixtures.person, admitted_by=fixtures.person
    )


def _added_annotator(fixtures: Fixtures) -> AddedAnnotator:
    return AddedAnnotator.objects.create(
        project=fixtures.rows["accounts.Project"], trace=fixtures.rows["traces.Trace"], annotators=2, agreement=0.25
    )


FACTORIES: Factories = {
    "gold.ExpectedAnnotation": _expected_annotation,
    "gold.GoldScore": _gold_score,
    "gold.GoldStanding": _gold_standing,
    "gold.PracticeAttempt": _practice_attempt,
    "gold.Admission": _admission,
    "gold.AddedAnnotator": _added_annotator,
}
