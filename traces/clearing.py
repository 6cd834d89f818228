"""Replaces what was found in a trace that is stored: the trace keeps its id, its version and its place, and the secret
goes out of every row and file that came of it."""

from collections import Counter
from collections.abc import Iterable
from uuid import UUID

from django.core.files.storage import default_storage
from django.db import connection, transaction

from potato.configuration.project import Secrets
from potato.runs.changes.derive import derive
from potato.runs.converters.native import run_in
from potato.runs.model import ConversionReport, Converted, ReadingOptions
from potato.runs.secrets import ChangeDiffers, RunSecrets, hide, secrets_in_run
from tenancy.errors import Refused
from traces import uses
from traces.contents import may_remove_contents
from traces.importing.screening import Screened, found_columns, with_placeholders
from traces.importing.storing import Rows, one_at_a_time, ready
from traces.models import Body, ImportProblem, Picture, SecretsState, TaskText, Trace, TraceSecrets, pictures_of
from traces.run_names import run_name

_UNSCREENED = Secrets(keys="ignore", personal_data="ignore")


class CannotReplace(Refused):
    code = "cannot_replace"


def replace_secrets(trace: Trace) -> int:
    """Put placeholders of the same length in the place of all that the rules find in the trace; answers of how many.

    Raises CannotReplace while somebody works with the trace or its import is still read, and where the change would be
    another one; then nothing is changed. The pictures of the trace are not looked at.
    """
    with transaction.atomic():
        may_remove_contents()
        file = trace.file
        one_at_a_time(file)
        uses.lock([trace.pk])
        row = TraceSecrets.objects.select_for_update(of=("self",)).get(trace=trace)
        _demand_unused(trace)
        run = run_in(Body.objects.get(sha256=trace.content_sha256).content, ReadingOptions())
        if run is None:
            raise CannotReplace(
                f"{_name(trace)} cannot be read any more, so nothing in it can be replaced. Exclude it."
            )
        secrets = secrets_in_run(run)
        report = ConversionReport(**{name: Counter(counts) for name, counts in trace.report.items()})
        try:
            changed = with_placeholders(Converted(run, report, 1), secrets)
        except ChangeDiffers:
            raise CannotReplace(
                f"{_name(trace)}: an edit of this trace changes a part of a secret, so that "
                "its change would be another one with placeholders. Keep it as it is, or exclude it."
            ) from None
        _store(trace, Screened(changed, secrets, SecretsState.REPLACED, trace.content_sha256))
        files = derive(changed.run).files
        for name, value in found_columns(secrets, files).items():
            setattr(row, name, value)
        row.state = SecretsState.REPLACED
        row.save(update_fields=["state", "kinds", "places", "occurrences"])
        _replace_around(trace, secrets)
    if file.stored_as:
        default_storage.delete(file.stored_as)
    return len(secrets.values)


def _name(trace: Trace) -> str:
    """For sentences, without what was found in it."""
    return run_name(hide(trace.task), hide(trace.external_id))


def _demand_unused(trace: Trace) -> None:
    used = next(iter(uses.uses([trace.pk])), None)
    if used is not None:
        raise CannotReplace(f"{_name(trace)} stays as it is: {used.words}.")
    if trace.file.job is not None and trace.file.job.is_open:
        raise CannotReplace(f"{hide(trace.file.name)} is still being read. Wait until its import is over.")


def _store(trace: Trace, screened: Screened) -> None:
    """The same row with other content: its old contents go where no other trace has them."""
    run = screened.converted.run
    new = ready(screened.converted, trace.file, secrets=_UNSCREENED)
    rows = Rows(trace.file)
    rows.add_rows(str(trace.pk), new, trace.version, derive(run).files)
    (stored,) = rows.traces
    taken = Trace.objects.filter(project=trace.project_id, external_id=stored["external_id"], version=trace.version)
    if taken.exclude(pk=trace.pk).exists():
        raise CannotReplace(
            f"{_name(trace)} has a secret in its id, and another trace has the id without it. Exclude it."
        )
    stored |= {
        "original_sha256": screened.original_sha256,
        "converter": trace.converter,
        "imported_at": trace.imported_at,
    }
    pictures = list(Picture.objects.filter(sha256__in=pictures_of(trace.steps.all())))
    with connection.cursor() as cursor:
        # What refers to the trace is looked at when the transaction ends, and finds it again.
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        cursor.execute("SELECT traces_remove(%s)", [[trace.pk]])
    Picture.objects.bulk_create(pictures, ignore_conflicts=True)
    rows.store()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def _replace_around(trace: Trace, secrets: RunSecrets) -> None:
    """What was said of the file while it was read, and texts of tasks that came beside it."""
    for problem in ImportProblem.objects.filter(file=trace.file):
        _save_text(problem, "sentence", secrets)
    own = TaskText.objects.filter(project=trace.project_id)
    for text in _with_values(own, secrets):
        _save_text(text, "text", secrets)
    job = trace.file.job
    if job is not None and job.cursor is not None:
        job.cursor = None
        job.save(update_fields=["cursor"])


def _with_values(texts: "Iterable[TaskText]", secrets: RunSecrets) -> Iterable[TaskText]:
    return (text for text in texts if any(value in text.text for value in secrets.values))


def _save_text(row: ImportProblem | TaskText, name: str, secrets: RunSecrets) -> None:
    before: str = getattr(row, name)
    if (after := secrets.replaced_in(before)) != before:
        setattr(row, name, after)
        row.save(update_fields=[name])


def held_secrets(traces: Iterable[UUID]) -> set[UUID]:
    """Those of the traces that wait until somebody clears what was found in them."""
    return set(TraceSecrets.objects.held().filter(trace__in=list(traces)).values_list("trace", flat=True))
