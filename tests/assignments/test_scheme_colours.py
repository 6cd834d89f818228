"""The colours of a configuration, as a style sheet under the names of its schemes."""

import re

import pytest
from django.test import Client

from tests.assignments.opening import DEFAULTS, publish
from tests.pages import text_of
from tests.tenants import Tenants


def test_the_palette_has_the_colours_of_every_scheme_under_its_own_name(tenants: Tenants, bob: Client) -> None:
    publish(
        tenants,
        DEFAULTS
        + """\
annotation_schemes:
  - name: talk
    annotation_type: code_review_comments
    inline_comments:
      categories: [{value: added, color: "#ABC"}, {value: bug}]
  - name: verdict
    annotation_type: code_review_verdict
    verdict:
      options: [{value: added, color: "#123456"}]
""",
    )
    response = bob.get("/o/acme/p/parser/scheme-colours/2/1.css")
    assert [rule.partition(";")[0] for rule in text_of(response).splitlines()] == [
        '[data-c="talk.added"]{--c:#ABC',
        '[data-c="talk.bug"]{--c:#ef4444',
        '[data-c="verdict.added"]{--c:#123456',
    ]
    assert response["Content-Type"].startswith("text/css")
    assert response["Cache-Control"] == "private, max-age=31536000, immutable"
    assert bob.get("/o/acme/p/parser/scheme-colours/2/2.css").status_code == 404
    bob.force_login(tenants.charlie)
    assert bob.get("/o/acme/p/parser/scheme-colours/2/1.css").status_code == 404


def test_a_third_party_cannot_break_out_of_the_palette(monkeypatch: pytest.MonkeyPatch) -> None:
    from assignments.task_page.scheme_colours import scheme_colours_sheet
    from potato.configuration import check_configuration
    from potato.schemes.review.types import Verdict

    colours = {"good": "#fff", 'a"]{}': "#fff", "b": "red;}", "c": "#fff}*{x:y"}
    monkeypatch.setattr(Verdict, "colours", classmethod(lambda cls, scheme: colours))
    source = DEFAULTS + "annotation_schemes:\n  - {name: v, annotation_type: code_review_verdict}\n"
    configuration = check_configuration(source).configuration
    assert configuration is not None
    (rule,) = scheme_colours_sheet(configuration).splitlines()
    tones = r"(;--c-(text|mark):light-dark\(#\w{6},#\w{6}\)){2}"
    assert re.fullmatch(r"\[data-c=\"v\.good\"\]\{--c:#fff" + tones + r"\}", rule), rule
