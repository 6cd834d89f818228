"""What the audit trail says of tasks, annotations and batches, and where these are to be found."""

from collections.abc import Collection, Mapping
from typing import Any

from accounts.search.registry import address
from assignments.models import Batch, Submission
from tenancy.roles import Right
from tenancy.sentences import Link
from traces.audit_sentences import by_project

STEERING = {
    "suggestions.imported": (
        "imported what a model suggests of {taken:trace} of {target}[; {refused:record} could not be read]",
        "upload",
    ),
    "project.paused": ("paused {target}[: {reason:“}]", "pause"),
    "project.resumed": ("resumed {target}", "play"),
    "project.imports-wait": ("let later imports of {target} wait in the pool", "inbox"),
    "project.imports-released": ("let later imports of {target} be released at once", "circle-arrow-right"),
    "person.paused": ("paused {target} in {project}", "pause"),
    "person.resumed": ("let {target} go on in {project}", "play"),
    "person.limited": (
        "changed the limits of {target} in {project}[: at most {limit:annotation}][, at most {per_cent} % of all]",
        "gauge",
    ),
    "batch.drafted": ("drafted the batch {target} of {project}[ with {traces:trace}]", "square-pen"),
    "batch.released": ("released[ {traces:trace} of] {project} as the batch {target}", "circle-arrow-right"),
    "batch.withdrawn": ("took[ {traces:trace} of] the batch {target} back", "undo-2"),
    "batch.paused": ("paused the batch {target}[ of {project}]", "pause"),
    "batch.resumed": ("resumed the batch {target}[ of {project}]", "play"),
    "batch.priority": ("changed the priority of the batch {target}[ of {project}]", "arrow-up"),
    "batch.name": ("renamed the batch {before:“} to {target}", "pencil"),
    "batch.order": ("changed the order of the batch {target}[ of {project}]", "list"),
    "batch.deadline": ("changed the deadline of the batch {target}[ of {project}][ to {now}]", "calendar"),
    "batch.people": (
        "changed who may take tasks of the batch {target}[ of {project}][: {people:person|people} alone]",
        "users",
    ),
    "batch.redundancy": ("wants {now:annotation} of each trace of the batch {target}", "copy"),
    "batches.paused": ("paused the batches {batches:and} of {target}", "pause"),
    "batches.resumed": ("resumed the batches {batches:and} of {target}", "play"),
    "batches.released": ("released the batches {batches:and} of {target}", "circle-arrow-right"),
    "batches.withdrawn": ("took the batches {batches:and} of {target} back", "undo-2"),
    "batches.priority": ("changed the priority of the batches {batches:and} of {target}", "arrow-up"),
    "batches.deadline": ("changed the deadline of the batches {batches:and} of {target}", "calendar"),
    "batches.people": ("changed who may take tasks of the batches {batches:and} of {target}", "users"),
    "batches.redundancy": ("wants one more annotation of each trace of the batches {batches:and} of {target}", "copy"),
    "rule.changed": ("changed the standing rule of the batch {batch}[: {rule} of each import]", "pencil"),
    "rule.ended": ("ended the standing rule of the batch {batch}[, which took {taken:trace}]", "octagon-x"),
    "traces.held-back": ("held {traces:trace} of {target} back[: {reason:“}]", "hand"),
    "traces.excluded": ("excluded {traces:trace} of {target}[: {reason:“}]", "ban"),
    "traces.retired": ("retired {traces:trace} of {target}[: {reason:“}]", "archive"),
    "traces.given-out-again": ("let {traces:trace} of {target} be given out again", "rotate-ccw"),
    "traces.prioritised": ("made {traces:trace} of {target} {priority} ones", "arrow-up"),
    "traces.tagged": ("tagged {traces:trace} of {target} {tag:“}", "tag"),
    "traces.offered": ("offered {traces:trace} of {target} first[ to {people:person|people}]", "target"),
    "traces.offer-ended": ("gave {traces:trace} of {target} to everybody again before the date", "users"),
    "traces.untagged": ("took the tag {tag:“} off {traces:trace} of {target}", "tag"),
    "traces.more-annotators": ("wants {more} more of each of {traces:trace} of {target}", "copy"),
    "secrets.replaced": ("replaced what was found in {traces:trace} of {target} with placeholders", "eye-off"),
    "secrets.kept": ("cleared {traces:trace} of {target} with the secrets that were found in it", "eye"),
    "tasks.given-back": ("gave {tasks:held task} of {people:person|people} in {target} back to the queue", "undo-2"),
    "tasks.reassigned": ("gave {tasks:held task} of {target} to somebody else", "users"),
    "people.paused": ("paused {people:person|people} in {target}[: {reason:“}]", "pause"),
    "people.resumed": ("let {people:person|people} go on in {target}", "play"),
    "people.limited": (
        "changed the limits of {people:person|people} in {target}[: at most {limit:annotation}][, at most {per_cent} %"
        " of all]",
        "gauge",
    ),
    "people.role": ("made {people:person|people} {role} of {target}", "user"),
    "people.taken-off": (
        "took {people:person|people} off {target}[, and {released:held task} went back to the queue]",
        "log-out",
    ),
    "steering.undone": ("undid: {target}[ in {project}]", "undo-2"),
}
ANNOTATIONS = {
    "assignment.skipped": ("skipped {trace} of {project}[: {reason:“}]", "skip-forward"),
    "assignment.reassigned": ("gave a held task to somebody else: {trace} of {project}", "users"),
    "assignments.given_back": ("gave {released:held task} of {target} in {project} back to the queue", "undo"),
    "assignments.moved": ("moved {count:held task} of {target} to version {number}", "arrow-right"),
    "annotation.noted": ("wrote a note about {target} of {trace} in {project}", "message-square-plus"),
    "annotation.accepted": ("accepted {target} of {trace} in {project}", "check"),
    "annotation.returned": ("returned {target} of {trace} in {project}[ with {notes:note}]", "undo-2"),
    "annotation.corrected": ("corrected {target} of {trace} in {project}", "pencil"),
    "annotation.voided": ("voided {target} of {trace} in {project}", "ban"),
    "annotation.undecided": ("took the decision of {target} of {trace} in {project} back", "undo-2"),
    "note.answered": ("answered a note on {target} of {trace} in {project}", "message-square"),
    "question.asked": ("asked about a trace of {target}", "message-square"),
    "question.answered": ("answered a question about {target}", "message-square"),
    "submission.made": ("submitted {trace} of {project}", "check"),
    "submission.withdrawn": ("took the annotation of {trace} in {project} back", "undo-2"),
}


def batch_links(request: Any, keys: Collection[str]) -> Mapping[str, Link]:
    return {
        str(row.pk): Link(row.name, f"{address(request, 'traces', project=row.project.slug)}?batch={row.number}")
        for row in by_project(Batch, keys, request, Right.SEE_TRACES)
    }


def submission_links(request: Any, keys: Collection[str]) -> Mapping[str, Link]:
    return {
        str(row.pk): Link(str(row), address(request, "read-annotation", project=row.project.slug, submission_id=row.pk))
        for row in by_project(Submission, keys, request, Right.SEE_ANNOTATIONS).defer("packed")
    }
