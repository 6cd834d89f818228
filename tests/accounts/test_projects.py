"""Drafts and versions: nothing is overwritten, nothing published is changed, and what would be lost is said first."""

import json
import threading
from collections.abc import Callable

import pytest
from django.core.exceptions import ValidationError
from django.db import ProgrammingError, connection, transaction
from django.test import Client

from accounts.actions.projects import (
    BreaksAnnotations,
    DraftChanged,
    NewestUnreadable,
    NotPublishable,
    create_project,
    discard_draft,
    publish_configuration,
    rename_project,
    save_draft,
)
from accounts.models import AuditEvent, ConfigurationVersion, Project
from accounts.textdiff import unified_rows
from jobs.models import OutboxEvent
from potato.configuration import ProjectConfiguration, UnreadablePinError
from tenancy.actor import acting_in
from tests.tenants import Tenants
from traces.evidence.fragments import published_configuration

FIRST = "task_name: First\n"
SECOND = "task_name: Second\nguidelines: Read it all.\n"
WITHOUT_VERDICT = """\
task_name: First
annotation_schemes:
  - name: inline_comments
    annotation_type: code_review_comments
"""


def test_publishing_makes_a_version_an_audit_event_and_an_outbox_event(tenants: Tenants) -> None:
    with acting_in(tenants.acme, tenants.dora):
        version = publish_configuration(project=tenants.acme_project, source=FIRST, note="at last")
        assert (version.number, version.source, version.published_by) == (1, FIRST, tenants.dora)
        assert ProjectConfiguration.model_validate(version.configuration).task_name == "First"
        assert AuditEvent.objects.get(verb="configuration.published").detail == {"number": 1, "note": "at last"}
        assert OutboxEvent.objects.get(topic="configuration.published").payload["number"] == 1
        assert Project.objects.get().draft == FIRST


def test_publishing_the_same_again_makes_no_version(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        first = publish_configuration(project=tenants.acme_project, source=FIRST)
        assert publish_configuration(project=tenants.acme_project, source=FIRST) == first
        assert publish_configuration(project=tenants.acme_project, source=SECOND).number == 2
        assert publish_configuration(project=tenants.acme_project, source=FIRST).number == 3


def test_a_configuration_with_errors_is_not_published_and_all_are_told(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        with pytest.raises(NotPublishable) as refusal:
            publish_configuration(project=tenants.acme_project, source="task_nam: X\nassignment: {max_open: 0}\n")
        assert len(refusal.value.checked.errors) == 3
        assert not ConfigurationVersion.objects.exists()


def test_what_would_be_stripped_is_said_and_waits_for_a_confirmation(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        publish_configuration(project=tenants.acme_project, source=FIRST)
        with pytest.raises(BreaksAnnotations) as refusal:
            publish_configuration(project=tenants.acme_project, source=WITHOUT_VERDICT)
        told = [change.message for change in refusal.value.breaking_changes]
        assert told[-2:] == ["The scheme file_ratings is removed.", "The scheme verdict is removed."]
        assert "The severity level critical of inline_comments is removed." in told
        version = publish_configuration(project=tenants.acme_project, source=WITHOUT_VERDICT, confirmed=True)
        assert version.number == 2


def test_a_version_whose_scheme_type_was_uninstalled_is_named_and_can_be_replaced(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        pin = ProjectConfiguration(task_name="First").model_dump(mode="json")
        pin["annotation_schemes"][0] = {"name": "mood", "annotation_type": "mood", "palette": {}}
        ConfigurationVersion.objects.create(project=tenants.acme_project, number=1, source="old", configuration=pin)
        with pytest.raises(NewestUnreadable, match="names the scheme type mood, which is not installed") as refusal:
            publish_configuration(project=tenants.acme_project, source=FIRST)
        assert [change.message for change in refusal.value.breaking_changes] == [refusal.value.sentence]
        with pytest.raises(UnreadablePinError, match="names the scheme type mood, which is not installed"):
            published_configuration(tenants.acme_project)
        assert publish_configuration(project=tenants.acme_project, source=FIRST, confirmed=True).number == 2


def test_the_editor_asks_before_it_replaces_a_version_that_no_longer_loads(tenants: Tenants, client: Client) -> None:
    with acting_in(tenants.acme):
        pin = {**ProjectConfiguration(task_name="First").model_dump(mode="json"), "task_name": ""}
        ConfigurationVersion.objects.create(project=tenants.acme_project, number=1, source="old", configuration=pin)
    client.force_login(tenants.dora)
    path = f"/o/acme/admin/accounts/project/{tenants.acme_project.pk}/"
    answer = client.post(f"{path}configuration/", {"source": FIRST, "revision": 0, "action": "publish"})
    assert answer["Location"] == f"{path}publish/"
    assert "does not fit this version of Potato in task_name." in client.get(f"{path}publish/").content.decode()
    answer = client.post(f"{path}publish/", {"revision": 1})
    assert answer.status_code == 409
    assert "does not fit this version of Potato in task_name." in answer.content.decode()


def test_a_published_version_cannot_be_changed_or_removed(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        publish_configuration(project=tenants.acme_project, source=FIRST)
        for change in (
            "UPDATE accounts_configurationversion SET source = ''",
            "DELETE FROM accounts_configurationversion",
        ):
            with (
                pytest.raises(ProgrammingError, match="permission denied"),
                transaction.atomic(),
                connection.cursor() as cursor,
            ):
                cursor.execute(change)


def test_of_two_who_edit_a_draft_the_second_is_told(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        save_draft(project=tenants.acme_project, source="mine", revision=0)
        with pytest.raises(DraftChanged):
            save_draft(project=tenants.acme_project, source="theirs", revision=0)
        assert Project.objects.get().draft == "mine"


def test_a_draft_keeps_what_was_typed_even_a_nul(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        save_draft(project=tenants.acme_project, source="task_name: \x00\n", revision=0)
        assert Project.objects.get().draft == "task_name: ␀\n"


def test_discarding_a_draft_brings_the_published_text_back(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        publish_configuration(project=tenants.acme_project, source=FIRST)
        project = save_draft(project=Project.objects.get(), source="half", revision=1)
        discard_draft(project=project, revision=2)
        assert Project.objects.get().draft == FIRST


def test_two_who_publish_at_once_get_two_numbers(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    numbers: list[int] = []

    def publish(source: str) -> None:
        try:
            with acting_in(tenants.acme):
                numbers.append(
                    publish_configuration(project=tenants.acme_project, source=source, confirmed=True).number
                )
        finally:
            connection.close()

    threads = [threading.Thread(target=publish, args=[f"task_name: T{number}\n"]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == [1, 2, 3, 4, 5, 6]


def test_of_two_who_take_one_address_at_once_the_second_is_told(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    with acting_in(tenants.acme):
        others = [create_project(slug=f"other-{number}", name="Other") for number in range(2)]
    assert of_two_at_once(tenants, lambda slug: create_project(slug=slug, name="New"), "new") == ["__all__"]
    assert of_two_at_once(
        tenants, lambda slug: rename_project(project=others.pop(), slug=slug, name="Renamed"), "renamed"
    ) == ["__all__"]


def of_two_at_once(tenants: Tenants, act: Callable[[str], Project], slug: str) -> list[str]:
    """The keys of the faults that the second is told, who stores while the first has stored and not committed."""
    told: list[str] = []

    def second() -> None:
        try:
            with acting_in(tenants.acme):
                act(slug)
        except ValidationError as error:
            told.extend(error.message_dict)
        finally:
            connection.close()

    thread = threading.Thread(target=second)
    with transaction.atomic(), acting_in(tenants.acme):
        act(slug)
        thread.start()
        with connection.cursor() as cursor:
            while thread.is_alive():
                cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted")
                if cursor.fetchone():
                    break
    thread.join()
    return told


def test_a_project_is_renamed_with_what_it_was_before(tenants: Tenants) -> None:
    with acting_in(tenants.acme):
        project = create_project(slug="other", name="Other")
        rename_project(project=project, slug="better", name="Better")
        assert AuditEvent.objects.get(verb="project.renamed").detail == {"before": {"slug": "other", "name": "Other"}}


def test_the_editors_check_answers_every_problem_and_stores_nothing(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.dora)
    path = "/o/acme/p/parser/set-up/check/"
    answer = client.post(path, {"source": "task_name: X\r\nguidlines: y\r\n"}).json()
    (problem,) = answer["problems"]
    assert (problem["line"], problem["column"], problem["severity"]) == (2, 1, "error")
    assert problem["fix"] == {"label": "Make it guidelines", "start": 17, "end": 17, "text": "e"}
    assert client.get(path).status_code == 405
    with acting_in(tenants.acme):
        assert Project.objects.get().draft == ""


def test_the_editor_shows_the_problems_in_the_page_itself(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.dora)
    path = f"/o/acme/admin/accounts/project/{tenants.acme_project.pk}/configuration/"
    sent = {"source": "guidlines: y\n", "revision": "0", "action": "publish"}
    page = client.post(path, sent, follow=True)
    assert page.redirect_chain[-1][0] == path
    assert "guidlines is not a key" in page.content.decode()
    assert json.dumps("guidlines: y\n")[1:-1].split("\\n")[0] in page.content.decode()


def test_two_versions_are_compared_line_by_line(tenants: Tenants, client: Client) -> None:
    with acting_in(tenants.acme):
        publish_configuration(project=tenants.acme_project, source=FIRST)
        publish_configuration(project=tenants.acme_project, source=SECOND)
    client.force_login(tenants.dora)
    path = f"/o/acme/admin/accounts/project/{tenants.acme_project.pk}/versions/"
    page = client.get(path, {"old": "1", "new": "2"}).content.decode()
    assert "guidelines: Read it all." in page
    assert client.get(path, {"old": "7"}).status_code == 404


def test_the_rows_of_a_difference_are_numbered_on_both_sides() -> None:
    old = "".join(f"line {number}\n" for number in range(1, 11))
    rows = unified_rows(old, old.replace("line 9\n", "new\n"))
    assert [(row.kind, row.old_no, row.new_no) for row in rows] == [
        ("gap", None, None),
        ("context", 6, 6),
        ("context", 7, 7),
        ("context", 8, 8),
        ("del", 9, None),
        ("add", None, 9),
        ("context", 10, 10),
    ]
    assert unified_rows(old, old) == []
