"""What is to be done before the first annotation of a project, in order, with where to do it."""

from dataclasses import dataclass
from typing import Literal

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from accounts.models import Invitation, Membership, Project
from accounts.models.members import members_with
from assignments.models import BatchState, TraceQuota
from assignments.pool.states import imports_wait
from dashboard.overview import Overview
from potato.wording import counted, listed
from tenancy.permissions import allowed
from tenancy.roles import Right, Role

State = Literal["done", "now", "later"]


@dataclass(frozen=True)
class ChecklistStep:
    """`state` is "now" for the first that is not done. `links` are labels and addresses, those that the reader may
    follow; the first is the step's own. `drops` says that files may be dropped at the step, and `takes_task` that the
    reader may take a task there, which is what is to be done where both stand."""

    title: str
    words: str
    state: State
    links: tuple[tuple[str, str], ...]
    drops: bool = False
    takes_task: bool = False


@dataclass(frozen=True)
class _Found:
    title: str
    words: str
    is_done: bool
    links: tuple[tuple[str, str], ...]
    drops: bool = False
    takes_task: bool = False


def checklist(request: HttpRequest, overview: Overview) -> list[ChecklistStep]:
    """Configure, import, release, invite, watch. Empty once somebody has begun."""
    if overview.people.number:
        return []
    invite = _invite(request, overview)
    steps = [
        _configure(request, overview),
        _import(request, overview),
        _release(request, overview),
        invite,
        _watch(request, overview, takes_task=not invite.takes_task),
    ]
    first = next(at for at, step in enumerate(steps) if not step.is_done)
    return [
        ChecklistStep(
            step.title,
            step.words,
            "done" if step.is_done else "now" if at == first else "later",
            step.links,
            step.drops and not step.is_done,
            step.takes_task,
        )
        for at, step in enumerate(steps)
    ]


def _configure(request: HttpRequest, overview: Overview) -> _Found:
    project, version = overview.project, overview.version
    links: tuple[tuple[str, str], ...] = ()
    if allowed(request, Right.CONFIGURE_PROJECTS, project):
        links = (("Set-up", reverse("set-up", args=[project.slug])),)
        if version is not None:
            links = (*links, ("Try it yourself", reverse("set-up-try", args=[project.slug, "begin"])))
    if version is None:
        words = "Nobody can annotate before the configuration of this project is published."
        return _Found("Configure", words, False, links)
    schemes = overview.configuration.annotation_schemes if overview.configuration else ()
    asks = f": {listed([scheme.name.replace('_', ' ') for scheme in schemes], 'and')}" if schemes else ""
    return _Found("Configure", f"Version {version.number} is published{asks}.", True, links)


def _import(request: HttpRequest, overview: Overview) -> _Found:
    traces = overview.status.traces
    may = allowed(request, Right.IMPORT_TRACES, overview.project)
    links = (("Imports", reverse("imports", args=[overview.project.slug])),) if may else ()
    words = (
        f"{counted(traces, 'trace')} {'is' if traces == 1 else 'are'} there."
        if traces
        else "Sessions, patches, SWE-bench predictions or Potato's own format, one file or many."
    )
    return _Found("Import what agents did", words, traces > 0, links, drops=may)


def _release(request: HttpRequest, overview: Overview) -> _Found:
    project = overview.project
    waits = imports_wait(project)
    may = allowed(request, Right.MANAGE_PROJECTS, project)
    links = (("Release", reverse("release-batch", args=[project.slug])),) if may else ()
    batches = TraceQuota.objects.for_project(project).released().order_by().values_list("batch__state", flat=True)
    states = set(batches.distinct())
    if BatchState.OPEN in states or (not waits and _is_queued_at_a_claim(overview)):
        return _Found("Release a batch", "Traces are released: people can take them.", True, links)
    if BatchState.PAUSED in states:
        return _Found("Release a batch", "Traces are released, and their batch is paused.", True, links)
    if BatchState.DRAFT in states:
        if may:
            links = (("Batches", reverse("batches", args=[project.slug])), *links)
        words = "There is a draft of a batch. It gives nothing out until it is released."
        return _Found("Release a batch", words, False, links)
    rule = (
        "What is imported waits in the pool until you release it."
        if waits
        else "The default rule releases everything at import."
    )
    words = f"Choose all of them, a number, or a share by agent, and how many people judge each trace. {rule}"
    return _Found("Release a batch", words, False, links)


def _is_queued_at_a_claim(overview: Overview) -> bool:
    """Whether traces were imported that the queue has not taken in: the first claim releases them."""
    return TraceQuota.objects.for_project(overview.project).count() < overview.status.traces


def _invite(request: HttpRequest, overview: Overview) -> _Found:
    project = overview.project
    managers = members_with(Right.MANAGE_PROJECTS, project).values("pk")
    number = members_with(Right.ANNOTATE, project).exclude(pk__in=managers).count()
    links: tuple[tuple[str, str], ...] = ()
    if allowed(request, Right.MANAGE_MEMBERS, project):
        links = (("Invite", reverse("invite-people", args=[project.slug])),)
    if _is_alone(project):
        words = "A link that you send makes somebody a member. Who judges their own runs needs nobody else."
        title = "Invite people, or judge them yourself"
        return _Found(title, words, False, links, takes_task=_takes(request, overview))
    already = f" {counted(number, 'annotator')} may take traces here already." if number else ""
    words = f"A link that you send makes somebody a member.{already}"
    return _Found("Invite people", words, number > 0, links)


def _is_alone(project: Project) -> bool:
    """Whether the organisation has one person, and nobody is invited: somebody who judges their own runs."""
    people = Membership.objects.active().filter(organisation=project.organisation_id).exclude(role=Role.SERVICE)
    if people.count() > 1:
        return False
    return not Invitation.objects.acceptable(timezone.now()).filter(organisation=project.organisation_id).exists()


def _takes(request: HttpRequest, overview: Overview) -> bool:
    """Whether the reader may take a task, if one is free."""
    can_begin = overview.version is not None and overview.status.traces > 0
    return can_begin and allowed(request, Right.ANNOTATE, overview.project)


def _watch(request: HttpRequest, overview: Overview, *, takes_task: bool) -> _Found:
    words = "Progress, agreement and what needs you stand on this page from the first annotation on."
    return _Found("Watch", words, False, (), takes_task=takes_task and _takes(request, overview))
