"""The pages of traces: what a manager finds and reads, what a page may weigh, and that nobody else reads any of it."""

import gzip
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.actions.projects import publish_configuration
from accounts.models import ConfigurationVersion, Membership, Project
from tenancy.actor import acting_in
from tenancy.roles import Role
from tests.hostile import HOSTILE
from tests.pages import Page, assert_harmless, text_of
from tests.tenants import Tenants
from tests.traces.stored import code, outcome, read, step, stored
from traces.evidence import search as searching
from traces.evidence.fragments import DisplayOptions
from traces.evidence.pages import FILES_ON_A_PAGE, STEPS_ON_A_PAGE
from traces.models import Fragment, Trace, TraceFile, TraceStep
from traces.rendering.diff import RENDER_VERSION
from traces.rendering.parts import nodes_in

LIST = "/o/acme/p/parser/traces/"
SENT = 150_000
NODES = 20_000
QUERIES = 19

CONFIGURATION = """\
task_name: "Parser review"
agentic:
  coding_trace_display:
    diff_style: {style}
    diff_context_lines: {context}
annotation_schemes:
  - name: verdict
    annotation_type: code_review_verdict
"""


@pytest.fixture
def alice(tenants: Tenants, client: Client) -> Client:
    client.force_login(tenants.alice)
    return client


def publish(tenants: Tenants, style: str = "unified", context: int = 5) -> None:
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(
            project=tenants.acme_project, source=CONFIGURATION.format(style=style, context=context), confirmed=True
        )


def path_of(trace: Trace) -> str:
    return f"{LIST}{trace.pk}/"


def names_in(page: str) -> list[str]:
    """The ids of the traces that a list shows, in its order."""
    return re.findall(r'<span class="sub"><span class="mono">([^<]+)</span>', page)


def choices_in(page: str) -> set[tuple[str, int]]:
    """What the filters offer, with the numbers beside it."""
    found = re.findall(r'<span class="trunc">([^<]+)</span><span class="num">([\d,]+)</span>', page)
    return {(label, int(number.replace(",", ""))) for label, number in found}


def sources_in(page: str) -> list[str]:
    return re.findall(r'<lazy-fragment src="([^"]+)"', page)


def simple(tenants: Tenants, **more: Any) -> Trace:
    return stored(tenants.acme, tenants.acme_project, outcome("src/parser.py", "a\n", "b\n"), **more)


# --- The list ----------------------------------------------------------------------------------------------


def test_the_list_shows_the_newest_version_of_each_trace_with_its_figures(tenants: Tenants, alice: Client) -> None:
    simple(tenants, external_id="first")
    simple(tenants, external_id="first", task="Another task")
    simple(tenants, external_id="second", steps=(step(), step(is_error=True)))
    page = text_of(alice.get(LIST))
    assert names_in(page) == ["second", "first"]
    assert "version 2" in page
    assert "Another task" in page
    assert "1 step failed" in page
    assert names_in(text_of(alice.get(LIST, {"versions": "all", "sort": "id"}))) == ["first", "first", "second"]


def test_filters_narrow_the_list_and_count_what_they_would_show(tenants: Tenants, alice: Client) -> None:
    simple(tenants, external_id="one", agent_model="tern", tags=("easy", "go"), steps=(step(is_error=True),))
    simple(tenants, external_id="two", agent_model="tern", tags=("go",), converter="patch")
    simple(tenants, external_id="three", agent_model="", task="Parse 100%_of it")
    page = text_of(alice.get(LIST))
    wanted = {"tern": 2, "Not given": 1, "go": 2, "easy": 1, "native": 2, "patch": 1, "with failed steps": 1}
    assert set(wanted.items()) <= choices_in(page)

    def shown(**filters: str) -> set[str]:
        return set(names_in(text_of(alice.get(LIST, filters))))

    assert shown(model="tern") == {"one", "two"}
    assert shown(model="-") == {"three"}
    assert shown(tag="go", converter="native") == {"one"}
    assert shown(marks="errors") == {"one"}
    assert shown(q="THREE") == {"three"}
    assert shown(q="100%_") == {"three"}
    assert shown(q="%") == {"three"}
    assert shown(model="tern", q="nothing like it") == set()
    assert shown(q="\x00x", model="\x00") == set()
    assert shown(marks="nonsense", sort="nonsense", versions="nonsense", page="99") == {"one", "two", "three"}
    assert ("go", 1) in choices_in(text_of(alice.get(LIST, {"converter": "native"})))


def test_runs_of_the_same_task_are_found_together(tenants: Tenants, alice: Client) -> None:
    for name in ("one", "two"):
        simple(tenants, external_id=name, task="Speed up the parser")
    simple(tenants, external_id="other", task="Slow it down")
    page = text_of(alice.get(LIST))
    assert page.count("2 runs of this task") == 2
    (query,) = set(re.findall(r'href="\?(task=[^"]+)"', page))
    assert set(names_in(text_of(alice.get(f"{LIST}?{query}")))) == {"one", "two"}


def test_the_list_is_ordered_as_asked(tenants: Tenants, alice: Client) -> None:
    stored(
        tenants.acme, tenants.acme_project, outcome("a.py", None, code(3)), external_id="b", steps=(step(), step("x"))
    )
    stored(tenants.acme, tenants.acme_project, outcome("a.py", None, code(9)), external_id="a", steps=(step(),))
    orders = {"newest": "ab", "oldest": "ba", "id": "ab", "steps": "ba", "lines": "ab"}
    assert {name: "".join(names_in(text_of(alice.get(LIST, {"sort": name})))) for name in orders} == orders


def test_an_empty_list_says_why(tenants: Tenants, alice: Client) -> None:
    assert "No traces yet" in text_of(alice.get(LIST))
    assert "No trace is like this" in text_of(alice.get(LIST, {"q": "x"}))


def test_ten_thousand_traces_cost_no_more_queries_than_one(tenants: Tenants, alice: Client) -> None:
    example = simple(tenants, tags=("go",))
    with CaptureQueriesContext(
        connection,
    ) as one:
        alice.get(LIST)
    with acting_in(tenants.acme):
        values = {
            field.attname: getattr(example, field.attname)
            for field in Trace._meta.local_fields
            if field.name not in ("id", "transaction")
        }
        Trace.objects.bulk_create(
            (Trace(**{**values, "external_id": f"t{number}", "version": 1}) for number in range(10_000)),
            batch_size=1000,
        )
    with CaptureQueriesContext(connection) as many:
        page = text_of(alice.get(LIST, {"q": "t", "model": "harbor-coder-2", "page": "3"}))
    assert len(names_in(page)) == 50
    assert "101 to 150 of 10,001" in page
    # Each chip counts its own choices; the agreement of the rows is one more.
    assert len(many) == len(one) <= QUERIES + 22


# --- One trace: files ----------------------------------------------------------------------------------------


def test_the_first_rows_are_in_the_response_and_the_rest_are_addresses(tenants: Tenants, alice: Client) -> None:
    files = [outcome(f"src/part_{at:02}.py", code(400), code(400, "new")) for at in range(4)]
    trace = stored(tenants.acme, tenants.acme_project, *files)
    page = text_of(alice.get(path_of(trace)))
    assert "<h1" in page
    assert "Fix the failing test in test_parser.py" in page
    assert "<strong>last page</strong>" in page
    assert 'data-new="1"' in page
    sources = sources_in(page)
    assert sources
    fragment = text_of(alice.get(sources[-1]))
    assert "part_03.py" in fragment
    assert fragment not in page


def test_a_page_is_made_with_few_queries(tenants: Tenants, alice: Client) -> None:
    publish(tenants)
    files = [outcome(f"src/part_{at:02}.py", code(60), code(60, "new")) for at in range(40)]
    trace = stored(tenants.acme, tenants.acme_project, *files, steps=tuple(step(f"Step {at}") for at in range(60)))
    for path in (path_of(trace), f"{path_of(trace)}steps/"):
        text_of(alice.get(path))
        with CaptureQueriesContext(connection) as queries:
            text_of(alice.get(path))
        asked = [query["sql"] for query in queries if "SAVEPOINT" not in query["sql"]]
        assert len(asked) <= QUERIES, "\n".join(sql[:120] for sql in asked)


def test_files_that_were_only_read_come_last_and_closed(tenants: Tenants, alice: Client) -> None:
    trace = stored(
        tenants.acme,
        tenants.acme_project,
        read("a/first.py", "x\n"),
        outcome("z/last.py", "a\n", "b\n"),
        steps=(step(),),
    )
    page = text_of(alice.get(path_of(trace)))
    last, first = "z/</span><span>last.py", "a/</span><span>first.py"
    assert page.index(last) < page.index("Read, not changed</h2>") < page.index(first)
    (source,) = sources_in(page)
    assert "did not change it" in text_of(alice.get(source))


@pytest.mark.parametrize("changed", [12, 200])
def test_what_is_sent_before_scrolling_is_bounded(tenants: Tenants, alice: Client, changed: int) -> None:
    """A typical change of 12 files, and one of 50,000 lines."""
    files = [outcome(f"src/m{at % 9}/part_{at:03}.py", code(130), code(130, "new")) for at in range(changed)]
    trace = stored(tenants.acme, tenants.acme_project, *files)
    if changed == 200:
        assert trace.added + trace.removed > 50_000
    for query in ({}, {"view": "split"}):
        response = alice.get(path_of(trace), query, headers={"accept-encoding": "gzip"})
        assert response["Content-Encoding"] == "gzip"
        assert len(response.content) < SENT // 2  # The rest is for styles and modules; the stories weigh everything.
        page = gzip.decompress(response.content).decode()
        assert 'data-new="1"' in page
        assert nodes_in(page) < NODES


def test_one_file_of_very_many_lines_is_shown_in_parts(tenants: Tenants, alice: Client) -> None:
    trace = stored(tenants.acme, tenants.acme_project, outcome("src/huge.py", None, code(6_000)))
    page = text_of(alice.get(path_of(trace)))
    assert nodes_in(page) < NODES
    part = text_of(alice.get(f"{base_of(page)}1.html"))
    assert 'data-new="2000"' in part
    assert 'data-part="2"' in part


def test_a_change_of_very_many_files_is_shown_on_pages(tenants: Tenants, alice: Client) -> None:
    count = 2 * FILES_ON_A_PAGE + 5
    trace = stored(tenants.acme, tenants.acme_project, *(outcome(f"f{at:04}.txt", "a\n", "b\n") for at in range(count)))
    page = text_of(alice.get(path_of(trace)))
    assert f"Files 1 to {FILES_ON_A_PAGE} of {count}" in page
    assert nodes_in(page) < NODES
    with acting_in(tenants.acme):
        wanted = TraceFile.objects.get(path="f0300.txt").index
    for query in ({"page": "3"}, {"file": str(wanted)}, {"page": "9999999999"}):
        page = text_of(alice.get(path_of(trace), query))
        assert f'id="f{wanted}"' in page
        assert nodes_in(page) < NODES
    for nonsense in ("-1", "x", "99999999999999999999", "\u0663"):
        assert 'id="f0"' in text_of(alice.get(path_of(trace), {"file": nonsense, "page": nonsense}))


TITLE = '<h1 id="task">{}</h1>'


def head_of(client: Client, trace: Trace) -> str:
    """What stands above the tabs."""
    page = text_of(client.get(path_of(trace)))
    return page[page.index('<section class="task"') : page.index('<nav class="tabs"')]


def test_a_task_of_many_lines_shows_a_title_and_its_beginning_and_the_rest_when_somebody_wants_it(
    tenants: Tenants, alice: Client
) -> None:
    long = head_of(alice, simple(tenants, task="# Fix the parser\n\n" + "It drops the last page.\n" * 40))
    assert TITLE.format("Fix the parser") in long
    assert '<details class="task__more"><summary>' in long
    assert long.count("It drops the last page.") == 40
    short = head_of(alice, simple(tenants, external_id="short", task="Fix the parser\n\nIt drops the last page."))
    assert TITLE.format("Fix the parser") in short
    assert "It drops the last page." in short
    assert '<details class="task__more' not in short


def test_a_long_first_line_is_no_title(tenants: Tenants, alice: Client) -> None:
    words = "Please look at the parser and tell me why it drops the last page of each range. " * 3
    head = head_of(alice, simple(tenants, task=words))
    assert '<h1 class="task__eyebrow" id="task">What the agent was asked</h1>' in head
    assert head.count(words.strip()) == 1
    assert "task__more" in head
    nothing = head_of(alice, simple(tenants, external_id="silent", task=""))
    assert TITLE.format("silent") in nothing
    assert "The trace does not say what the agent was asked." in nothing


MORE = '<details class="task__more">'


@pytest.mark.parametrize(
    ("task", "title", "more"),
    [
        pytest.param("t" * 100, "t" * 100, False, id="a first line of 100 characters is a title"),
        pytest.param("t" * 101, None, False, id="one of 101 is none"),
        pytest.param("Fix it\n\n" + "t" * 180, "Fix it", False, id="180 characters are all shown"),
        pytest.param("Fix it\n\n" + "t" * 181, "Fix it", True, id="181 show their beginning"),
        pytest.param("Fix it\n\none\n\ntwo", "Fix it", False, id="two lines are all shown, however far apart"),
        pytest.param("Fix it\n\none\ntwo\nthree", "Fix it", True, id="three lines show two"),
        pytest.param("t" * 101 + "\none", None, False, id="two lines without a title"),
        pytest.param("t" * 101 + "\none\ntwo", None, True, id="three lines without a title"),
    ],
)
def test_a_title_is_short_and_a_text_that_shows_its_beginning_is_long(
    tenants: Tenants, alice: Client, task: str, title: str | None, more: bool
) -> None:
    head = head_of(alice, simple(tenants, task=task))
    assert ('<h1 class="task__eyebrow" id="task">What the agent was asked</h1>' in head) == (title is None)
    assert (TITLE.format(title) in head) == (title is not None)
    assert (MORE in head) == more


def test_a_trace_without_steps_has_no_tab_for_them(tenants: Tenants, alice: Client) -> None:
    without = stored(
        tenants.acme, tenants.acme_project, outcome("a.py", "a\n", "b\n"), external_id="no steps", steps=()
    )
    assert "Agent trace" not in text_of(alice.get(path_of(without)))
    assert "Agent trace" in text_of(alice.get(path_of(simple(tenants, steps=(step(),)))))


def test_a_file_that_is_asked_for_is_in_the_response(tenants: Tenants, alice: Client) -> None:
    files = [outcome(f"src/part_{at:02}.py", code(900), code(900, "new")) for at in range(4)]
    trace = stored(tenants.acme, tenants.acme_project, *files, read("src/z.py", "only read\n"))
    for wanted in (2, 4):
        page = text_of(alice.get(path_of(trace), {"file": str(wanted)}))
        article = page[page.index(f'id="f{wanted}"') :].partition("</article>")[0]
        assert "lazy-fragment" not in article
        assert "is-closed" not in article


def test_the_project_decides_how_a_page_opens(tenants: Tenants, alice: Client) -> None:
    publish(tenants, style="split", context=1)
    trace = simple(tenants)
    assert "diff--split" in text_of(alice.get(path_of(trace)))
    assert "diff--split" not in text_of(alice.get(path_of(trace), {"view": "unified"}))
    assert "diff--split" in text_of(alice.get(path_of(trace), {"view": "nonsense"}))


def test_traces_stay_readable_where_a_scheme_type_was_uninstalled(tenants: Tenants, alice: Client) -> None:
    trace = simple(tenants, steps=(step(),))
    with acting_in(tenants.acme):
        ConfigurationVersion.objects.create(
            project=tenants.acme_project,
            number=1,
            source="",
            configuration={"task_name": "x", "annotation_schemes": [{"annotation_type": "mood", "name": "mood"}]},
        )
    for address in everything_about(trace, alice):
        assert alice.get(address).status_code == 200


# --- One trace: steps ----------------------------------------------------------------------------------------


def test_steps_are_listed_with_their_titles_and_errors(tenants: Tenants, alice: Client) -> None:
    steps = (
        step("Run the tests first."),
        step("Now mend it.", is_error=True),
        *(step(f"More {at}") for at in range(30)),
    )
    trace = simple(tenants, steps=steps)
    page = text_of(alice.get(f"{path_of(trace)}steps/"))
    assert page.count('<article class="step') == 32
    assert "1 failed step" in page
    assert "make test" in page
    assert len(sources_in(page)) == 22
    assert "More 29" in text_of(alice.get(sources_in(page)[-1]))
    late = text_of(alice.get(f"{path_of(trace)}steps/", {"step": "20"}))
    assert "More 18" in late[late.index('id="s20"') :].partition("</article>")[0]


def test_five_hundred_steps_and_more_stay_within_the_bound(tenants: Tenants, alice: Client) -> None:
    trace = simple(tenants, steps=tuple(step(f"Step {at}") for at in range(STEPS_ON_A_PAGE + 20)))
    page = text_of(alice.get(f"{path_of(trace)}steps/"))
    assert page.count('<article class="step') == STEPS_ON_A_PAGE
    assert nodes_in(page) < NODES
    assert f'id="s{STEPS_ON_A_PAGE}"' in text_of(alice.get(f"{path_of(trace)}steps/", {"step": str(STEPS_ON_A_PAGE)}))


def test_words_are_found_in_steps_that_no_browser_has_loaded(tenants: Tenants, alice: Client) -> None:
    said = (
        step("Mend the Parser"),
        step("x", thought="the parser is NAÏVE"),
        step("y", result="no <b>PARSER</b> here"),
    )
    trace = simple(tenants, steps=(*(step(f"Step {at}") for at in range(20)), *said))
    where = f"{path_of(trace)}steps/"

    def found(words: str) -> list[int]:
        page = text_of(alice.get(where, {"q": words}))
        return [int(index) for index in re.findall(r'<article class="step[^>]* id="s(\d+)"', page)]

    assert found("parser") == [20, 21, 22]
    assert found("naïve") == [21]
    assert found("<b>parser") == [22]
    assert found("nobody says this") == []
    assert found("  ") == list(range(23))
    assert found("\x00") == []
    page = text_of(alice.get(where, {"q": "<b>parser", "step": "22"}))
    assert "1 step with &ldquo;&lt;b&gt;parser&rdquo;" in page
    assert "was searched" not in page


def test_a_search_ends_where_a_trace_is_too_long(
    tenants: Tenants, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "SEARCHED_BYTES", 100)
    trace = simple(tenants, steps=tuple(step(f"Step {at}") for at in range(9)))
    page = text_of(alice.get(f"{path_of(trace)}steps/", {"q": "step"}))
    assert "1 step with" in page
    assert "the first 1 steps were searched" in page


def test_a_trace_without_steps_or_without_files_says_so(tenants: Tenants, alice: Client) -> None:
    assert "No steps" in text_of(alice.get(f"{path_of(simple(tenants))}steps/"))
    words = stored(tenants.acme, tenants.acme_project, steps=(step(),), external_id="words", task="")
    page = text_of(alice.get(path_of(words)))
    assert "No file was changed" in page
    assert "does not say what the agent was asked" in page
    assert f'href="{path_of(words)}steps/"' in text_of(alice.get(LIST))


# --- Fragments -----------------------------------------------------------------------------------------------


def base_of(page: str) -> str:
    return str(re.findall(r'data-base="([^"]+)"', page)[0])


def test_a_fragment_is_sent_as_it_is_stored_and_kept_for_ever(tenants: Tenants, alice: Client) -> None:
    trace = simple(tenants, steps=(step(),))
    for path in (path_of(trace), f"{path_of(trace)}steps/"):
        source = f"{base_of(text_of(alice.get(path)))}0.html"
        packed = alice.get(source, headers={"accept-encoding": "br, gzip;q=0.8"})
        plain = alice.get(source, headers={"accept-encoding": "identity"})
        assert packed["Content-Encoding"] == "gzip"
        assert not plain.has_header("Content-Encoding")
        assert gzip.decompress(packed.content) == plain.content
        with acting_in(tenants.acme):
            assert packed.content in [bytes(fragment.gzipped) for fragment in Fragment.objects.all()]
        for response in (packed, plain):
            assert response["Cache-Control"] == "private, max-age=31536000, immutable"
            assert {"Accept-Encoding", "Cookie"} <= set(response["Vary"].split(", "))
            assert response["Content-Type"] == "text/html; charset=utf-8"
            assert "default-src 'none'" in response["Content-Security-Policy"]
            assert response["X-Content-Type-Options"] == "nosniff"
        assert alice.head(source).status_code == 200
        assert alice.post(source).status_code == 405


def test_hidden_rows_are_made_when_they_are_asked_for(tenants: Tenants, alice: Client) -> None:
    text = code(60)
    trace = stored(
        tenants.acme, tenants.acme_project, outcome("src/parser.py", text, text.replace("# old 30\n", "# x\n"))
    )
    page = text_of(alice.get(path_of(trace)))
    (first, last) = re.findall(r'data-part="(rows-\d+-\d+)"', page)
    assert text_of(alice.get(f"{base_of(page)}{first}.html")).count("<tr") == 24
    assert 'data-new="60"' in text_of(alice.get(f"{base_of(page)}{last}.html"))


def test_an_address_that_names_no_fragment_is_a_404(tenants: Tenants, alice: Client) -> None:
    trace = simple(tenants, steps=(step(),))
    other = simple(tenants, external_id="other", task="Other")
    unified = DisplayOptions().diff().key
    for path in (path_of(trace), f"{path_of(trace)}steps/"):
        base = base_of(text_of(alice.get(path)))
        (sha256,) = re.findall(r"/([0-9a-f]{64})/", base)
        wrong = [
            base.replace(sha256, "0" * 64) + "0.html",
            base.replace(f"/{RENDER_VERSION}/", f"/{RENDER_VERSION + 1}/") + "0.html",
            base.replace("/0/", "/1/") + "0.html",
            base.replace("/0/", "/99999999999999999999/") + "0.html",
            base.replace("coloured", "plain") + "0.html",
            base.replace(unified, "unified-6-coloured") + ("0.html" if unified in base else "9.html"),
            *(
                base + part
                for part in ("1.html", "rows-0-99999.html", "rows-5-1.html", "rows-x-y.html", "rows-0-0-0.html")
            ),
            *(base + part for part in ("line-0-1.html", "0", "0.htm", "..%2f0.html", "rows--1-2.html", "x.html")),
            base.replace(str(trace.pk), "0" * 8 + str(trace.pk)[8:]) + "0.html",
        ]
        for address in wrong:
            response = alice.get(address)
            assert response.status_code == 404, address
            assert "data-new" not in response.content.decode()
    assert alice.get(base_of(text_of(alice.get(path_of(trace)))).replace(str(trace.pk), str(other.pk)) + "0.html")


def test_a_fragment_of_older_options_is_not_served(tenants: Tenants, alice: Client) -> None:
    publish(tenants, context=5)
    trace = simple(tenants)
    source = f"{base_of(text_of(alice.get(path_of(trace))))}0.html"
    assert alice.get(source).status_code == 200
    publish(tenants, context=2)
    assert alice.get(source).status_code == 404
    assert "data-new" in text_of(alice.get(f"{base_of(text_of(alice.get(path_of(trace))))}0.html"))


# --- Who may read ----------------------------------------------------------------------------------------------


def everything_about(trace: Trace, alice: Client) -> list[str]:
    files, steps = text_of(alice.get(path_of(trace))), text_of(alice.get(f"{path_of(trace)}steps/"))
    return [path_of(trace), f"{path_of(trace)}steps/", f"{base_of(files)}0.html", f"{base_of(steps)}0.html"]


def test_managers_read_annotators_may_not_and_strangers_find_nothing(tenants: Tenants, alice: Client) -> None:
    publish(tenants)
    addresses = [LIST, *everything_about(simple(tenants, steps=(step(),)), alice)]
    expected = {tenants.mallory: 200, tenants.dora: 200, tenants.bob: 403, tenants.charlie: 404}
    for person, status in expected.items():
        client = Client()
        client.force_login(person)
        assert {client.get(address).status_code for address in addresses} == {status}, person.username
    assert {Client().get(address).status_code for address in addresses} == {302}


def test_a_viewer_finds_nothing_of_a_project_that_is_not_published(tenants: Tenants, alice: Client) -> None:
    addresses = [LIST, *everything_about(simple(tenants, steps=(step(),)), alice)]
    client = Client()
    client.force_login(tenants.mallory)
    with acting_in(tenants.acme):
        Membership.objects.filter(user=tenants.mallory).update(role=Role.VIEWER)
    assert {client.get(address).status_code for address in addresses} == {404}


def test_ids_of_another_project_or_organisation_lead_nowhere(tenants: Tenants, alice: Client) -> None:
    ours = simple(tenants, steps=(step(),))
    theirs = stored(tenants.birch, tenants.birch_project, outcome("src/parser.py", "a\n", "b\n"), steps=(step(),))
    with acting_in(tenants.acme):
        second = Project.objects.create(slug="second", name="Second")
        assert not Trace.objects.filter(pk=theirs.pk).exists()
    for address in everything_about(ours, alice):
        # The same file and step, so the same hashes: what is asked for stands in the store, for others.
        for wrong in (
            address.replace(str(ours.pk), str(theirs.pk)),
            address.replace("/p/parser/", f"/p/{second.slug}/"),
            address.replace("/o/acme/", "/o/birch/"),
            address.replace("/o/acme/", "/o/birch/").replace(str(ours.pk), str(theirs.pk)),
        ):
            assert alice.get(wrong).status_code == 404, wrong
    charlie = Client()
    charlie.force_login(tenants.charlie)
    for address in everything_about(ours, alice):
        assert charlie.get(address.replace("/o/acme/", "/o/birch/")).status_code == 404


# --- What a run may say ------------------------------------------------------------------------------------------


def test_nothing_of_a_run_becomes_markup(tenants: Tenants, alice: Client) -> None:
    plain = simple(tenants, external_id="plain", steps=(step(thought="x", result="x"),))
    expected = scripts_in(text_of(alice.get(path_of(plain))))
    for words in HOSTILE:
        trace = stored(
            tenants.acme,
            tenants.acme_project,
            outcome(f"src/{words.replace('/', '.')}", None, words + "\n"),
            external_id=words,
            task=f"{words}\n{words}",
            agent_model=words,
            tags=(words,),
            task_id=words,
            steps=(step(words, thought=words, result=words),),
        )
        for path in (path_of(trace), f"{path_of(trace)}steps/"):
            page = text_of(alice.get(path))
            assert scripts_in(page) == expected, words
            assert_harmless(page, words)
    assert_harmless(text_of(alice.get(LIST)), "the list")
    assert_harmless(text_of(alice.get(LIST, {"q": HOSTILE[0], "tag": HOSTILE[7], "model": HOSTILE[5]})), "its filters")


def scripts_in(page: str) -> list[dict[str, str | None]]:
    return [attributes for name, attributes in Page(page).elements if name == "script"]


def test_steps_and_files_point_back_to_their_trace(tenants: Tenants) -> None:
    trace = simple(tenants, steps=(step(), step("b", is_error=True)))
    with acting_in(tenants.acme):
        assert trace.error_steps == TraceStep.objects.filter(trace=trace, is_error=True).count() == 1
