"""The tabs Traces and Batches and the page of a release, as forms without JavaScript."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import AuditEvent, Membership
from assignments.actions.quotas import open_quotas
from assignments.actions.releasing import BatchFacts, release_batch
from assignments.actions.steering import let_imports_wait
from assignments.actions.withholding import withhold
from assignments.forecast import forecast
from assignments.models import Batch, BatchPerson, BatchState, Priority, StandingRule, SteeringAct, TraceQuota, Withheld
from assignments.pool.progress import batch_rows, daily_annotations
from assignments.pool.selecting import Selection, take_sample, taken_by_share
from dashboard.figures import last_days
from tenancy.actor import acting_in
from tenancy.sentences import as_text
from tests.assignments.conftest import Queue, submit
from tests.dashboard.reviews import deliver
from tests.tenants import Tenants
from traces.models import Trace

TRACES, BATCHES = "/o/acme/p/parser/traces/", "/o/acme/p/parser/batches/"


@pytest.fixture
def manager(tenants: Tenants, client: Client) -> Client:
    client.force_login(tenants.mallory)
    return client


@pytest.fixture
def pool(tenants: Tenants) -> Queue:
    """Acme's project with twelve traces in the pool."""
    with acting_in(tenants.acme, tenants.alice):
        queue = Queue(tenants, tenants.acme_project)
        let_imports_wait(project=queue.project, wait=True)
        queue.publish(target=2)
        queue.add_traces(12)
        open_quotas(project=queue.project)
    return queue


def tabs(response: Any) -> dict[str, int]:
    """The numbers beside the states."""
    nav = response.content.decode().split('aria-label="State"')[1].split("</nav>")[0]
    found = re.findall(r">([A-Z][^<]+?) <span class=\"badge badge--count\">([\d,]+)<", nav)
    return {name: int(number.replace(",", "")) for name, number in found}


def digest_shown(preview: Any) -> str:
    match = re.search(r'name="digest" value="(\w{16})" form="release"', preview.content.decode())
    assert match
    return match[1]


def released(queue: Queue, client: Client, **form: str) -> Any:
    """With the digest that the preview of the same form shows, unless the form has another one."""
    form = {"name": "First", "take": "all", "priority": "2", "order": "imported", "who": "all", **form}
    form.setdefault("digest", digest_shown(client.get(f"{BATCHES}new/preview/?{urlencode(form)}")))
    return client.post(f"{BATCHES}new/", form, follow=True)


def test_each_trace_is_in_exactly_one_state_and_the_numbers_add_up(pool: Queue, manager: Client) -> None:
    released(pool, manager, take="number", number="5", seed="3", stratum="", seen="5")
    with acting_in(pool.tenants.acme, pool.tenants.bob):
        submit(pool.claimed(pool.tenants.bob))
    page = manager.get(TRACES)
    numbers = tabs(page)
    assert numbers["Every state"] == sum(number for name, number in numbers.items() if name != "Every state") == 12
    assert (numbers["In the pool"], numbers["Open"], numbers["In progress"]) == (7, 4, 1)
    assert "1 to 7 of 7" in manager.get(f"{TRACES}?state=pool").content.decode()


def test_filters_stand_in_the_address_and_count_within_the_others(pool: Queue, manager: Client) -> None:
    page = manager.get(f"{TRACES}?q=trace-0000&judged=no").content.decode()
    assert "1 to 10 of 10" in page
    assert 'name="q" value="trace-0000"' in page
    assert "No trace is like this" in manager.get(f"{TRACES}?model=nobody").content.decode()


def test_traces_are_excluded_from_the_list_with_a_reason_and_it_is_undone(pool: Queue, manager: Client) -> None:
    with acting_in(pool.tenants.acme):
        keys = [str(key) for key in TraceQuota.objects.order_by("trace").values_list("trace", flat=True)[:2]]
    refused = manager.post(f"{TRACES}", {"act": "excluded", "trace": keys}, follow=True)
    assert "Say in a few words why these traces are excluded" in refused.content.decode()
    done = manager.post(f"{TRACES}", {"act": "excluded", "trace": keys, "reason": "Broken"}, follow=True)
    assert "2 excluded." in done.content.decode()
    assert done.content.decode().count('<span class="sub">Broken</span>') == 2
    with acting_in(pool.tenants.acme):
        assert TraceQuota.objects.filter(withheld=Withheld.EXCLUDED).count() == 2
        act = SteeringAct.objects.get()
    assert f"undo/{act.pk}/" in done.content.decode()
    assert "Undone: 2 traces are as before." in manager.post(f"{TRACES}undo/{act.pk}/", follow=True).content.decode()
    with acting_in(pool.tenants.acme):
        assert not TraceQuota.objects.exclude(withheld="").exists()


def test_all_that_fit_are_refused_where_the_list_has_changed(pool: Queue, manager: Client) -> None:
    answer = manager.post(f"{TRACES}", {"act": "held_back", "all": "1", "seen": "11"}, follow=True)
    assert "you saw 11 traces, now there are 12" in answer.content.decode()
    manager.post(f"{TRACES}", {"act": "held_back", "all": "1", "seen": "12"})
    assert tabs(manager.get(TRACES))["Held back"] == 12


def test_a_batch_is_previewed_released_paused_and_withdrawn(pool: Queue, manager: Client) -> None:
    query = urlencode({"take": "share", "share": "25", "stratum": "model", "seed": "7"})
    preview = manager.get(f"{BATCHES}new/preview/?{query}").content.decode()
    assert 'data-taken="3"' in preview
    assert "6 annotations, 2 a trace" in preview
    assert "All differ" not in preview
    assert "None of them is a newer version of another trace." in preview
    form = {"take": "share", "share": "25", "stratum": "model", "seed": "7", "priority": "4", "deadline": "2099-12-04"}
    assert "now there are 3" in released(pool, manager, **form, seen="4").content.decode()
    page = released(pool, manager, **form, seen="3").content.decode()
    assert "“First” was released: 3 traces can be taken now." in page
    assert "25% by agent model, seed 7" in page
    with acting_in(pool.tenants.acme):
        batch = Batch.objects.get()
        assert (batch.priority, str(batch.deadline)) == (Priority.URGENT, "2099-12-04")
        assert batch.selection == {"take": "share", "share": 25.0, "stratum": "model", "seed": 7}
    manager.post(f"{BATCHES}", {"act": f"pause:{batch.number}"})
    with acting_in(pool.tenants.acme):
        batch.refresh_from_db()
        assert batch.state == BatchState.PAUSED
    done = manager.post(f"{BATCHES}", {"act": "withdraw", "batch": "1"}, follow=True).content.decode()
    assert "3 traces wait in the pool again" in done
    assert tabs(manager.get(TRACES))["In the pool"] == 12


@pytest.mark.parametrize("form", [{"take": "all"}, {"take": "number", "number": "4", "stratum": "size", "seed": "3"}])
def test_a_release_of_as_many_but_other_traces_than_the_preview_showed_is_refused(
    pool: Queue, manager: Client, form: dict[str, str]
) -> None:
    preview = manager.get(f"{BATCHES}new/preview/?{urlencode(form)}")
    digest, seen = digest_shown(preview), "12" if form["take"] == "all" else "4"
    with acting_in(pool.tenants.acme, pool.tenants.alice):
        withhold(
            project=pool.project,
            traces=list(
                take_sample(pool.project, Selection(take="number", number=4, stratum="size", seed=3)).taken[:1]
            ),
            why=Withheld.HELD_BACK,
        )
        pool.add_traces(1, "later")
    refused = released(pool, manager, **form, seen=seen, digest=digest).content.decode()
    assert f"The pool changed since the preview: it showed {seen} traces, now it would be others." in refused
    assert "Look at the preview first" in released(pool, manager, **form, seen=seen, digest="").content.decode()
    with acting_in(pool.tenants.acme):
        assert not Batch.objects.exists()
    assert f"was released: {seen} traces" in released(pool, manager, **form, seen=seen).content.decode()


def test_the_bulk_bar_offers_no_traces_of_the_pool_where_none_was_chosen(pool: Queue, manager: Client) -> None:
    with acting_in(pool.tenants.acme, pool.tenants.alice):
        keys = list(TraceQuota.objects.order_by("trace").values_list("trace", flat=True)[:2])
        withhold(project=pool.project, traces=keys, why=Withheld.HELD_BACK)
    tab = f"{TRACES}?state=withheld"
    for form in ({"all": "1", "seen": "2"}, {"trace": [str(key) for key in keys]}):
        refused = manager.post(tab, {"act": "release", **form})
        assert refused.status_code == 422
        assert "None of the chosen traces waits in the pool (2 held back)" in refused.content.decode()


@pytest.mark.parametrize("is_all", [True, False])
def test_chosen_traces_that_wait_in_no_pool_are_named_where_the_others_are_released(
    pool: Queue, manager: Client, is_all: bool
) -> None:
    with acting_in(pool.tenants.acme, pool.tenants.alice):
        keys = list(TraceQuota.objects.order_by("trace").values_list("trace", flat=True)[:4])
        withhold(project=pool.project, traces=keys[:1], why=Withheld.HELD_BACK)
    chosen = {"all": "1", "seen": "12"} if is_all else {"trace": [str(key) for key in keys]}
    page = manager.post(TRACES, {"act": "release", **chosen}, follow=True).content.decode()
    number, of = (11, 12) if is_all else (3, 4)
    assert f"{number} of the {of} chosen traces wait in the pool and can be released. Left out: 1 held back." in page
    assert f'data-taken="{number}"' in page


def test_a_release_that_takes_nothing_or_less_than_was_chosen_by_hand_says_why(pool: Queue, manager: Client) -> None:
    with acting_in(pool.tenants.acme, pool.tenants.alice):
        keys = list(TraceQuota.objects.order_by("trace").values_list("trace", flat=True)[:3])
        withhold(project=pool.project, traces=keys[:2], why=Withheld.HELD_BACK)
    page = f"{BATCHES}new/?" + urlencode({"id": keys}, doseq=True)
    assert "2 of the 3 chosen by hand do not wait in the pool" in manager.get(page).content.decode()
    page = f"{BATCHES}new/?" + urlencode({"id": keys[:2]}, doseq=True)
    assert "None of those chosen by hand waits in the pool" in manager.get(page).content.decode()
    assert "No trace of the pool fits" in manager.get(f"{BATCHES}new/?model=nobody").content.decode()


def test_the_list_of_what_a_release_takes_is_paged_and_what_is_taken_off_stays_off(
    pool: Queue, manager: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assignments.views.batches._LISTED", 4)
    first = manager.get(f"{BATCHES}new/?take=all").content.decode()
    assert "1 to 4 of 12" in first
    listed = re.findall(r'name="without" value="([^"]+)" form="release"> <span', first)
    last = manager.get(f"{BATCHES}new/?take=all&page=3&without={listed[0]}").content.decode()
    assert "9 to 11 of 11" in last
    assert '<details class="seelist" open>' in last
    assert f'type="hidden" name="without" value="{listed[0]}"' in last


def test_a_standing_rule_is_changed_beside_what_it_would_take_and_that_is_undone(pool: Queue, manager: Client) -> None:
    with acting_in(pool.tenants.acme, pool.tenants.mallory):
        facts = BatchFacts(name="Weekly")
        release_batch(project=pool.project, selection=Selection(), facts=facts, is_rule=True)
        rule = StandingRule.objects.get()
    url = f"{BATCHES}rules/{rule.pk}/"
    assert url in manager.get(BATCHES).content.decode()
    asked = {"asked": "1", "take": "share", "share": "50", "seed": "7", "model": "-"}
    page = manager.get(url, asked).content.decode()
    with acting_in(pool.tenants.acme):
        fit = Trace.objects.filter(project=pool.project)
        number = len(taken_by_share(fit.values_list("pk", "external_id"), share=50, seed=7))
    assert re.search(rf'<span class="sum__n">{number} ', page)
    refused = manager.post(url, {**asked, "share": "500"})
    assert (refused.status_code, 'value="500"' in refused.content.decode()) == (422, True)
    done = manager.post(url, asked, follow=True).content.decode()
    assert "Of each later import goes into “Weekly”: 50%, seed 7." in done
    with acting_in(pool.tenants.acme, pool.tenants.mallory):
        pool.add_traces(8, prefix="later")
        open_quotas(project=pool.project)
        later = Trace.objects.filter(external_id__startswith="later")
        taken = taken_by_share(later.values_list("pk", "external_id"), share=50, seed=7)
        batch = TraceQuota.objects.filter(batch__name="Weekly", trace__in=later)
        assert set(batch.values_list("trace", flat=True)) == taken
    manager.post(re.findall(r'formaction="([^"]+undo[^"]+)"', done)[0])
    with acting_in(pool.tenants.acme):
        rule.refresh_from_db()
        assert rule.selection == {"take": "all"}
        (event,) = AuditEvent.objects.filter(verb="rule.changed")
        assert as_text(event).endswith("changed the standing rule of the batch Weekly: 50%, seed 7 of each import.")


def test_a_trace_s_own_page_says_where_it_stands_and_managers_steer_it_there(pool: Queue, manager: Client) -> None:
    with acting_in(pool.tenants.acme, pool.tenants.mallory):
        release_batch(project=pool.project, selection=Selection(), facts=BatchFacts(name="Spring"))
        held = pool.claimed(pool.tenants.bob)
        other = Trace.objects.filter(project=pool.project).exclude(pk=held.trace_id).first()
        assert other is not None
    url = f"{TRACES}{other.pk}/"
    page = manager.get(url, follow=True)
    text = page.content.decode().split('aria-label="In the queue"')[1].split("</section>")[0]
    assert "Open" in text
    assert "Spring" in text
    assert "0 of 2 annotations" in text

    def steer(**form: str) -> str:
        answer = manager.post(TRACES, {"from": str(other.pk), **form}, follow=True)
        assert answer.request["PATH_INFO"].startswith(url)
        return answer.content.decode()

    bob = str(pool.tenants.bob.pk)
    said = steer(act="offer", person=bob, days="3")
    assert "1 offered to one person first" in said
    assert "Offered to" in said
    person = manager.get("/o/acme/p/parser/people/bob/").content.decode()
    assert "1 trace</a> offered to bob before all others" in person
    undo_url = re.findall(r'formaction="([^"]+undo[^"]+)"', said)[0]
    assert "Undone: 1 trace is as before." in manager.post(undo_url, follow=True).content.decode()
    assert "Excluding" not in steer(act="priority", priority="4")
    assert "Say in a few words why" in steer(act="excluded")
    assert "the wrong repository" in steer(act="excluded", reason="the wrong repository")
    assert "Held back" in manager.get(url, follow=True).content.decode()
    theirs = manager.get(f"{TRACES}{held.trace_id}/", follow=True).content.decode()
    assert 'Held by <a class="chip" href="/o/acme/p/' in theirs
    narrowed = manager.get(f"{TRACES}?held=bob").content.decode()
    assert narrowed.count('name="trace" value=') == 1
    back = manager.post(f"{TRACES}?held=bob", {"act": "give-back", "trace": str(held.trace_id)}, follow=True)
    assert "1 task went back to the queue, with its draft kept." in back.content.decode()


def test_an_annotator_can_neither_see_nor_steer(pool: Queue, bob: Client) -> None:
    for path in (TRACES, BATCHES, f"{BATCHES}new/"):
        assert bob.get(path).status_code == 403
    assert bob.post(f"{BATCHES}pause/").status_code == 403
    assert bob.post(f"{TRACES}", {"act": "held_back"}).status_code == 403


def test_a_task_is_skipped_by_a_preset_and_the_manager_reads_how_many(
    pool: Queue, manager: Client, client: Client
) -> None:
    released(pool, manager, seen="12")
    with acting_in(pool.tenants.acme, pool.tenants.bob):
        held = pool.claimed(pool.tenants.bob)
    annotator = Client()
    annotator.force_login(pool.tenants.bob)
    assert "Not my field" in annotator.get("/o/acme/").content.decode()
    annotator.post(f"/o/acme/p/parser/tasks/{held.pk}/skip/", {"preset": "Not my field", "reason": ""})
    page = manager.get(BATCHES).content.decode()
    assert "<dt>Not my field</dt><dd>1</dd>" in page


def test_a_task_is_put_off_from_the_home_page(pool: Queue, manager: Client) -> None:
    released(pool, manager, seen="12")
    with acting_in(pool.tenants.acme, pool.tenants.bob):
        held = pool.claimed(pool.tenants.bob)
    annotator = Client()
    annotator.force_login(pool.tenants.bob)
    page = annotator.post(f"/o/acme/p/parser/tasks/{held.pk}/put-off/", {"hours": "24"}, follow=True)
    assert "The task was put off." in page.content.decode()
    with acting_in(pool.tenants.acme, pool.tenants.bob):
        assert pool.claimed(pool.tenants.bob).pk != held.pk


def test_what_a_batch_decides_is_saved_from_its_page_and_undone(pool: Queue, manager: Client) -> None:
    released(pool, manager, seen="12")
    page = f"{BATCHES}1/"
    assert 'placeholder="2, as the project says"' in manager.get(page).content.decode()
    form = {"name": "Week 47", "priority": "4", "order": "priority", "redundancy": "3", "deadline": "2099-12-04"}
    with acting_in(pool.tenants.acme):
        bob = str(pool.tenants.bob.pk)
    done = manager.post(page, {**form, "who": "named", "person": bob}, follow=True).content.decode()
    assert "“First”: it is called “Week 47” now, its priority is urgent" in done
    assert "annotations a trace: 3 (12 traces changed), it is due on 4 December 2099, it is for 1 person." in done
    refused = manager.post(page, {**form, "redundancy": "many", "who": "all"})
    assert refused.status_code == 422
    assert "whole number from 1 to 100" in refused.content.decode()
    assert "Name who may take the tasks" in manager.post(page, {**form, "who": "named"}).content.decode()
    with acting_in(pool.tenants.acme):
        act = SteeringAct.objects.latest("done_at")
    manager.post(f"{TRACES}undo/{act.pk}/")
    with acting_in(pool.tenants.acme):
        batch = Batch.objects.get()
        assert (batch.name, batch.priority, batch.redundancy, batch.is_restricted) == ("First", 2, None, False)


def test_a_viewer_reads_what_a_batch_decides_and_changes_nothing(pool: Queue, manager: Client, client: Client) -> None:
    released(pool, manager, seen="12")
    with acting_in(pool.tenants.acme):
        Membership.objects.filter(user=pool.tenants.dora).update(role="viewer")
    client.force_login(pool.tenants.dora)
    page = client.get(f"{BATCHES}1/").content.decode()
    assert "Its traces" in page
    assert "Save" not in page
    assert client.post(f"{BATCHES}1/", {"name": "x"}).status_code == 403


def test_traces_are_given_a_priority_from_the_list(pool: Queue, manager: Client) -> None:
    with acting_in(pool.tenants.acme):
        keys = [str(key) for key in TraceQuota.objects.order_by("trace").values_list("trace", flat=True)[:2]]
    done = manager.post(f"{TRACES}", {"act": "priority", "trace": keys, "priority": "4"}, follow=True)
    assert "2 are urgent now" in done.content.decode()
    assert done.content.decode().count("Urgent priority") == 2
    refused = manager.post(f"{TRACES}", {"act": "priority", "trace": keys, "priority": "9"}, follow=True)
    assert "low, normal, high or urgent" in refused.content.decode()


def test_only_those_who_annotate_in_the_project_can_be_named(pool: Queue, manager: Client) -> None:
    with acting_in(pool.tenants.acme):
        Membership.objects.filter(user=pool.tenants.dora).update(role="member")
    for path in (TRACES, f"{BATCHES}new/"):
        page = manager.get(path).content.decode()
        assert f'value="{pool.tenants.bob.pk}"' in page
        assert f'value="{pool.tenants.dora.pk}"' not in page


def test_what_was_typed_stays_where_a_batch_or_a_release_is_refused(pool: Queue, manager: Client) -> None:
    release = manager.post(
        f"{BATCHES}new/", {"take": "number", "number": "twenty", "name": "Mine", "seed": "7", "who": "all"}
    )
    assert release.status_code == 422
    page = release.content.decode()
    assert 'value="twenty"' in page
    assert 'value="7"' in page
    released(pool, manager, seen="12")
    asked = {"name": "Second", "redundancy": "many", "deadline": "2099-12-04", "priority": "3", "order": "random"}
    refused = manager.post(f"{BATCHES}1/", {**asked, "who": "named"})
    assert refused.status_code == 422
    page = refused.content.decode()
    for value in ("Second", "many", "2099-12-04"):
        assert f'value="{value}"' in page
    assert re.search(r'name="priority" value="3" checked', page)
    assert re.search(r'name="who" value="named" checked', page)


def test_ticks_and_texts_stay_where_many_traces_are_refused(pool: Queue, manager: Client) -> None:
    with acting_in(pool.tenants.acme):
        keys = [str(key) for key in TraceQuota.objects.order_by("trace").values_list("trace", flat=True)[:2]]
        bob = str(pool.tenants.bob.pk)
    asked = {"act": "offer", "trace": keys, "person": bob, "days": "x"}
    refused = manager.post(f"{TRACES}?sort=oldest&state=pool", asked)
    assert refused.status_code == 422
    page = refused.content.decode()
    for key in keys:
        assert re.search(rf'name="trace" value="{key}" checked', page)
    assert page.count(" checked aria-label") == 2
    assert re.search(rf'name="person" value="{bob}" checked', page)
    dialog = page.split('id="offer"')[1].split('class="dialog__foot"')[0]
    assert "data-refused" in dialog
    assert 'name="days" value="x"' in dialog
    assert "1 to 90 days" in dialog
    assert '<option value="oldest" selected>' in page
    tag = manager.post(TRACES, {"act": "tag", "new_tag": "pilot", "reason": "Broken"}).content.decode()
    assert "Tick one or more traces first." in tag
    assert 'name="new_tag" maxlength="100" value="pilot"' in tag
    assert ">Broken</textarea>" in tag
    done = manager.post(f"{TRACES}?sort=oldest", {"act": "tag", "new_tag": "pilot", "trace": keys})
    assert done["Location"] == f"{TRACES}?sort=oldest"


def three_batches(pool: Queue, manager: Client) -> None:
    """First, Second and Third of four traces each, of which Second is withdrawn."""
    for number, name in enumerate(("First", "Second", "Third")):
        released(pool, manager, name=name, take="number", number="4", seed=str(number), stratum="", seen="4")
    manager.post(BATCHES, {"act": "withdraw", "batch": "2"})


def facts_of_batches() -> list[dict[str, Any]]:
    rows = Batch.objects.order_by("number").values("state", "deadline", "redundancy", "is_restricted")
    return [dict(row) for row in rows]


@pytest.mark.parametrize("act", ["pause", "deadline", "more", "people", "withdraw"])
def test_what_is_done_to_several_batches_is_done_as_one_and_what_cannot_be_is_named(
    pool: Queue, manager: Client, act: str
) -> None:
    three_batches(pool, manager)
    with acting_in(pool.tenants.acme):
        before, events, acts = facts_of_batches(), AuditEvent.objects.count(), SteeringAct.objects.count()
    form = {"act": act, "batch": ["1", "2", "3"], "deadline": "2099-12-04", "person": [str(pool.tenants.bob.pk)]}
    page = manager.post(BATCHES, form, follow=True).content.decode()
    assert "“First” and “Third” are " in page
    assert "“Second” is withdrawn" in page
    with acting_in(pool.tenants.acme):
        assert [one != other for one, other in zip(before, facts_of_batches(), strict=True)] == [True, False, True]
        assert AuditEvent.objects.count() == events + 1
        event = AuditEvent.objects.latest("at")
        assert event.detail == {"batches": ["First", "Third"]}
        assert "the batches “First” and “Third” of Parser review" in as_text(event)
        if act == "pause":
            return
        undone = SteeringAct.objects.latest("done_at")
        assert SteeringAct.objects.count() == acts + 3
    answer = manager.post(f"{TRACES}undo/{undone.pk}/")
    assert answer["Location"] == BATCHES
    with acting_in(pool.tenants.acme):
        assert before == facts_of_batches()
        assert TraceQuota.objects.filter(batch__number__in=[1, 3], is_released=True).count() == 8


def test_what_can_be_done_to_none_of_the_batches_is_refused_with_every_reason(pool: Queue, manager: Client) -> None:
    three_batches(pool, manager)
    manager.post(BATCHES, {"act": "withdraw", "batch": "1"})
    refused = manager.post(BATCHES, {"act": "pause", "batch": ["1", "2"]})
    assert refused.status_code == 422
    page = refused.content.decode()
    assert "“First” is withdrawn" in page
    assert "“Second” is withdrawn" in page
    assert re.search(r'name="batch" value="1" checked', page)
    unreadable = manager.post(BATCHES, {"act": "deadline", "batch": "3", "deadline": "soon"}).content.decode()
    dialog = unreadable.split('id="deadline"')[1].split('class="dialog__foot"')[0]
    assert "data-refused" in dialog
    assert 'name="deadline" value="soon"' in dialog
    assert "Write the deadline as a date" in dialog


def test_people_are_added_beside_somebody_who_annotates_here_no_more(pool: Queue, manager: Client) -> None:
    bob, dora = pool.tenants.bob, pool.tenants.dora
    released(pool, manager, seen="12", who="named", person=str(bob.pk))
    with acting_in(pool.tenants.acme):
        Membership.objects.filter(user=bob).update(role="viewer")
    page = manager.post(BATCHES, {"act": "people", "batch": "1", "person": str(dora.pk)}, follow=True)
    assert "it is for 2 people" in page.content.decode()
    with acting_in(pool.tenants.acme):
        act = SteeringAct.objects.latest("done_at")
    assert "the batch is as it was before" in manager.post(f"{TRACES}undo/{act.pk}/", follow=True).content.decode()
    with acting_in(pool.tenants.acme):
        assert list(BatchPerson.objects.values_list("user", flat=True)) == [bob.pk]


def test_batches_and_the_overview_expect_the_same_end(pool: Queue, manager: Client) -> None:
    # Half of an even week's work is left, on days of their own pace.
    monday = timezone.now().replace(year=2026, month=11, day=2, hour=12)
    with acting_in(pool.tenants.acme, pool.tenants.alice), time_machine.travel(monday) as clock:
        release_batch(project=pool.project, selection=Selection(), facts=BatchFacts(name="First"))
        for number in (1, 3, 2, 1, 0, 2, 1):
            for _ in range(number):
                submit(pool.claimed(pool.tenants.bob))
            clock.shift(timedelta(days=1))
        deliver(pool)
        days = daily_annotations(pool.project)
        (row,) = (row for row in batch_rows(pool.project, days) if not row.batch.is_standard)
        expected = forecast(last_days(pool.project), 24 - 10)
        assert expected is not None
        assert row.forecast == expected
        manager.force_login(pool.tenants.mallory)
        page = manager.get(BATCHES).content.decode()
    assert f"{expected.early:%-d %b} to {expected.late:%-d %b}" in page
    assert f"{expected.a_day:.0f} <small>a day</small>" in page


def test_filters_with_nothing_to_choose_are_left_out_and_seldom_ones_folded(pool: Queue, manager: Client) -> None:
    def chips(query: str = "") -> tuple[list[str], list[str]]:
        """Those that stand there, and those that are folded."""
        tools = manager.get(f"{TRACES}{query}").content.decode().split('class="tools__chips"')[1].split("</details>")[0]
        shown, _, folded = tools.partition("<summary")
        names = re.compile(r'popovertarget="filter-(\w+)"')
        return names.findall(shown), names.findall(folded.split("</details>")[0])

    assert "batch" not in chips()[0], "no trace is in a batch"
    assert "model" not in chips()[0], "all have the same"
    with acting_in(pool.tenants.acme, pool.tenants.alice):
        pool.add_traces(1, "other", agents=["finch"], each=lambda at: {"agent": "cli"})
        release_batch(project=pool.project, selection=Selection(take="number", number=5), facts=BatchFacts("Five"))
    shown, folded = chips()
    assert {"model", "batch"} <= set(shown)
    assert "agent" in folded
    assert "agent" in chips("?agent=cli")[0], "one that is set stands there"
