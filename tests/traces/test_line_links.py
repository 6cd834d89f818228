"""Lines of a change name the steps that wrote them, and steps the lines that they left, on the pages of a trace."""

import json
import re
from html import unescape

import pytest
from django.test import Client

from accounts.actions.projects import publish_configuration
from potato.runs.changes.linked_lines import MOST_LINKS
from potato.runs.model import FileEdit, FileEvent, FileTouched, FileWrite, Step
from tenancy.actor import acting_in
from tests.assignments.opening import claimed, path_of
from tests.pages import text_of
from tests.tenants import Tenants
from tests.traces.stored import read, step, stored
from traces.models import Trace, TraceFile

BASE = "".join(f"line {number}\n" for number in range(1, 21))

PROGRESSIVE = """\
task_name: "Which step went wrong"
annotation_schemes:
  - name: correctness
    annotation_type: process_reward
    target: agentic_steps
    mode: first_error
    reveal: REVEAL
  - name: verdict
    annotation_type: code_review_verdict
"""


def edited(tenants: Tenants, *edits: tuple[int, FileEvent], steps: int = 8) -> Trace:
    events = (read("src/parser.py", BASE), *(event for _, event in edits))
    return stored(
        tenants.acme,
        tenants.acme_project,
        *events,
        steps=tuple(step(f"Act {number}.") for number in range(steps)),
        event_steps=(None, *(at for at, _ in edits)),
    )


def edit(old: str, new: str) -> FileEdit:
    return FileEdit("src/parser.py", old, new)


def links_in(page: str) -> list[dict[str, object]]:
    return [json.loads(unescape(each)) for each in re.findall(r'data-links="([^"]*)"', page)]


def _lines_of(article: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", "", article[article.index("<ul") : article.index("</ul>")])).split())


@pytest.fixture
def alice(tenants: Tenants, client: Client) -> Client:
    client.force_login(tenants.alice)
    return client


def test_a_file_names_the_steps_that_wrote_its_lines_with_what_they_did(tenants: Tenants, alice: Client) -> None:
    trace = edited(tenants, (2, edit("line 5\n", "five\n")), (6, edit("five\n", "FIVE\nand more\n")))
    page = alice.get(f"/o/acme/p/parser/traces/{trace.pk}/").text
    assert links_in(page) == [
        {
            "lines": [["new", 5, 6, [6, 2]], ["old", 5, 5, [2]]],
            "steps": {"2": "Run a command make test", "6": "Run a command make test"},
        }
    ]


def test_a_step_says_which_lines_it_left_and_who_overwrote_the_others(tenants: Tenants, alice: Client) -> None:
    trace = edited(
        tenants,
        (2, edit("line 5\n", "five\n")),
        (3, edit("line 9\nline 10\n", "nine\nten\n")),
        (6, edit("five\n", "FIVE\n")),
        (7, edit("ten\n", "")),
    )
    page = alice.get(f"/o/acme/p/parser/traces/{trace.pk}/steps/").text
    articles = [part for part in page.split("<article ") if "step__lines" in part]
    shown = {int(re.findall(r'id="s(\d+)"', part)[0]): _lines_of(part) for part in articles}
    assert set(shown) == {2, 3, 6}
    assert shown[2] == "src/parser.py: removed 1 line (old 5); 1 line of it was overwritten later by step 6"
    assert shown[3].startswith("src/parser.py: wrote 1 line of the final change (9), removed 2 lines (old 9 to 10);")
    assert shown[6] == "src/parser.py: wrote 1 line of the final change (5)"
    assert f'href="/o/acme/p/parser/traces/{trace.pk}/?file=0#f0-new-5"' in page


def test_a_step_of_whose_lines_nothing_is_left_says_so(tenants: Tenants, alice: Client) -> None:
    trace = edited(
        tenants,
        (2, edit("line 5\n", "five\n")),
        (4, FileTouched("src/parser.py", "The command `git checkout .`")),
        (5, read("src/parser.py", BASE)),
        (6, FileWrite("src/other.py", "x\n", created=True)),
    )
    page = alice.get(f"/o/acme/p/parser/traces/{trace.pk}/steps/").text
    article, other = (part for part in page.split("<article ") if "step__lines" in part)
    assert 'id="s2"' in article
    assert 'id="s6"' in other
    assert "1 line of it was overwritten" in _lines_of(article)


def test_a_change_that_the_trace_does_not_record_names_no_step(tenants: Tenants, alice: Client) -> None:
    touched = FileTouched("src/parser.py", "The command `make format`", is_certain=True)
    formatted = FileEdit("src/parser.py", "line 9\n", "nine\n", original=BASE.replace("line 5", "LINE 5"))
    trace = edited(tenants, (1, touched), (2, formatted))
    (links,) = links_in(alice.get(f"/o/acme/p/parser/traces/{trace.pk}/").text)
    assert links["lines"] == [["new", 9, 9, [2]], ["old", 9, 9, [2]]]


def test_hostile_paths_and_titles_stay_text(tenants: Tenants, alice: Client) -> None:
    hostile = 'a"><script>alert(1)</script>.py'
    trace = stored(
        tenants.acme,
        tenants.acme_project,
        FileEdit(hostile, "", "x\n"),
        steps=(Step(message='"><img src=x onerror=alert(1)>'),),
        event_steps=(0,),
    )
    for tab in ("", "steps/"):
        page = alice.get(f"/o/acme/p/parser/traces/{trace.pk}/{tab}").text
        assert "<script>alert" not in page
        assert "<img src=x" not in page


def test_a_file_keeps_a_bounded_number_of_links(tenants: Tenants) -> None:
    lines = MOST_LINKS + 50
    text = "".join(f"{number}\n" for number in range(2 * lines))
    changed = "".join(f"{number}\n" if number % 2 else f"changed {number}\n" for number in range(2 * lines))
    trace = stored(
        tenants.acme,
        tenants.acme_project,
        read("a.txt", text),
        FileEdit("a.txt", text, changed),
        steps=(step(),),
        event_steps=(None, 0),
    )
    with acting_in(tenants.acme):
        assert len(TraceFile.objects.get(trace=trace).links["lines"]) == MOST_LINKS


@pytest.mark.parametrize(("reveal", "is_shown"), [("all", True), ("progressive", False)])
def test_later_steps_that_are_a_secret_are_not_told_by_lines(
    tenants: Tenants, client: Client, reveal: str, is_shown: bool
) -> None:
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(
            project=tenants.acme_project, source=PROGRESSIVE.replace("REVEAL", reveal), confirmed=True
        )
    edited(tenants, (2, edit("line 5\n", "five\n")))
    client.force_login(tenants.bob)
    assignment = claimed(tenants)
    steps = text_of(client.get(path_of(assignment, "steps/")))
    assert "Act 7." in steps
    assert ("step__lines" in steps) is is_shown
    assert bool(links_in(text_of(client.get(path_of(assignment))))) is is_shown
