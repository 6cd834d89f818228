"""A whole review over the API, from the project to the record, as a person's page or program makes it."""

import json

from accounts.models import Membership
from tenancy.actor import acting_in
from tests.assignments.reviews import api_of, documented, reviewed
from tests.review.documented_record import RECORD
from tests.worlds import World


def test_a_review_over_the_api_becomes_the_documented_record_key_by_key(world: World) -> None:
    reviewed(world.acme, world.acme_project)
    with acting_in(world.acme):
        Membership.objects.filter(user=world.bob).update(annotator_name="reviewer_01")
    api = api_of(world.bob)
    (project,) = api.get("projects/").json()["results"]
    assert project["slug"] == "parser"
    held = api.claim(project["slug"])
    answers = documented()
    for number, comment in enumerate(answers["inline_comments"]):
        comment |= {"side": "new", "comment_id": f"c{number}", "created_at": f"2025-01-15T14:0{number}:00.25Z"}
    saved = api.save(held, {"answers": answers, "page": {"viewed": ["src/parser.py"]}})
    assert (saved.status_code, saved.json()["revision"]) == (200, 1)
    submitted = api.submit(held, answers)
    assert submitted.status_code == 201, submitted.content
    record = submitted.json()["record"]
    for number, comment in enumerate(record["annotations"]["inline_comments"]):
        added = {key: comment.pop(key) for key in ("side", "comment_id", "created_at")}
        assert added == {"side": "new", "comment_id": f"c{number}", "created_at": f"2025-01-15T14:0{number}:00.25Z"}
    stamp = record.pop("timestamp")
    assert (stamp[-1], len(stamp)) == ("Z", 20)
    expected = {key: value for key, value in RECORD.items() if key != "timestamp"}
    assert json.dumps(record) == json.dumps(expected)
    listed = api.get("projects/parser/annotations/").json()
    assert listed["results"][0]["record"]["timestamp"] == stamp
