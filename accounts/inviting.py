"""Inviting many people at once: what was pasted or uploaded, read line by line, before anybody is invited."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from email.utils import parseaddr
from io import StringIO
from itertools import count

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models import Q
from django.utils import timezone

from accounts.models import Invitation, Membership, Project, ProjectMember
from accounts.models.organisations import ANNOTATOR_NAME
from tenancy.errors import Refused
from tenancy.roles import ProjectRole

MOST = 500
LONGEST = 200_000
COLUMNS = ("address", "name", "role")
_SEPARATORS = re.compile(r"[,;\n]")


class Unreadable(Refused):
    code = "unreadable_list"
    status = 400


@dataclass(frozen=True)
class Guest:
    """Somebody to be invited, as a line says. With a `problem` they are left out; `name` is empty where one is given in
    turn."""

    line: int
    text: str
    email: str
    name: str = ""
    role: ProjectRole = ProjectRole.ANNOTATOR
    problem: str = ""


def pasted(text: str, role: ProjectRole) -> list[Guest]:
    """Addresses, separated by commas, semicolons or lines; a name before an address in angle brackets is passed over.
    Raises Unreadable for too many."""
    guests = []
    for number, line in enumerate(_bounded(text).splitlines(), start=1):
        guests += [_guest(number, part.strip(), role) for part in _SEPARATORS.split(line) if part.strip()]
    return _checked(guests)


def from_csv(text: str, role: ProjectRole) -> list[Guest]:
    """A table with the columns address, name (the annotator name) and role, of which the last two may be missing; its
    first line names them. Raises Unreadable where it does not."""
    rows = csv.reader(StringIO(_bounded(text).removeprefix("\ufeff"), newline=""), strict=True)
    try:
        head = [column.strip().lower() for column in next(rows, [])]
        if "address" not in head or (unknown := [column for column in head if column not in COLUMNS]):
            named = f" {unknown[0]!r} is none of them." if "address" in head else ""
            raise Unreadable(f"The first line names the columns: address, and if wanted name and role.{named}")
        guests = [
            _row(rows.line_num, dict(zip(head, (cell.strip() for cell in row), strict=False)), role)
            for row in rows
            if any(cell.strip() for cell in row)
        ]
    except csv.Error as error:
        raise Unreadable(f"Line {rows.line_num} is no CSV: {error}.") from None
    return _checked(guests)


def with_names(guests: list[Guest], beginning: str) -> list[Guest]:
    """Those without a problem, each with an annotator name: the one of the table, else the beginning with the next
    number that nobody has. Raises Unreadable for a beginning that is none."""
    try:
        ANNOTATOR_NAME(f"{beginning}01")
    except ValidationError as error:
        raise Unreadable(f"Names cannot begin with {beginning[:80]!r}. {error.messages[0]}") from None
    taken = {guest.name.lower() for guest in guests} | {name.lower() for name in _names_like(beginning)}
    numbers = count(1)

    def following() -> str:
        return next(name for number in numbers if (name := f"{beginning}{number:02}").lower() not in taken)

    return [replace(guest, name=guest.name or following()) for guest in guests if not guest.problem]


def already_in(project: Project, guests: list[Guest]) -> list[Guest]:
    """With the problem said of those whom the project knows by this address: members of it, and who is invited to it by
    a link that works. Invitations to other projects and accounts outside make no difference, nor do members of the
    organisation who are not in the project: their addresses are claims, so they get a link like everybody."""
    emails = [guest.email for guest in guests if not guest.problem]
    joined = Invitation.objects.filter(email__in=emails).exclude(accepted_by=None)
    by_link = dict(joined.values_list("accepted_by", "email"))
    present = (
        ProjectMember.objects.for_project(project)
        .present()
        .filter(Q(membership__user__email__in=emails) | Q(membership__user__in=list(by_link)))
    )
    here = {
        address.lower()
        for user, email in present.values_list("membership__user", "membership__user__email")
        for address in (email, by_link.get(user, ""))
    }
    invited = Invitation.objects.acceptable(timezone.now()).filter(email__in=emails)
    to_here = set(invited.filter(projects__project=project).values_list("email", flat=True))

    def problem(guest: Guest) -> str:
        if guest.problem:
            return guest.problem
        if guest.email in here:
            return "is already here"
        if guest.email in to_here:
            return "is invited already: make a new link under Open invitations"
        return ""

    return [replace(guest, problem=problem(guest)) for guest in guests]


def _names_like(beginning: str) -> Iterator[str]:
    for model in (Membership.objects.all(), Invitation.objects.open()):
        yield from model.filter(annotator_name__istartswith=beginning).values_list("annotator_name", flat=True)


def _bounded(text: str) -> str:
    if len(text) > LONGEST:
        raise Unreadable(f"That is too much text. At most {MOST} people are invited at once.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _row(line: int, cells: dict[str, str], role: ProjectRole) -> Guest:
    guest = _guest(line, cells.get("address", ""), role)
    name, wanted = cells.get("name", ""), cells.get("role", "").lower()
    if wanted and wanted not in ProjectRole.values:
        return replace(guest, problem=f"has the role {wanted[:40]!r}: use {', '.join(ProjectRole.values)}")
    if name:
        try:
            ANNOTATOR_NAME(name)
        except ValidationError:
            return replace(guest, problem=f"has the name {name[:80]!r}: use letters, digits, and the signs _ . -")
    return replace(guest, name=name, role=ProjectRole(wanted) if wanted else role)


def _guest(line: int, text: str, role: ProjectRole) -> Guest:
    email = parseaddr(text)[1].lower() if "<" in text else text.lower()
    if "@" not in email:
        return Guest(line, text[:120], email[:254], role=role, problem="has no @")
    try:
        validate_email(email)
    except ValidationError:
        return Guest(line, text[:120], email[:254], role=role, problem="is no address")
    return Guest(line, text[:120], email, role=role)


def _checked(guests: list[Guest]) -> list[Guest]:
    """With the problem said of the second of two that are the same."""
    if len(guests) > MOST:
        raise Unreadable(f"These are {len(guests):,} addresses. At most {MOST} people are invited at once.")
    emails: set[str] = set()
    names: set[str] = set()
    checked = []
    for guest in guests:
        problem = guest.problem
        if not problem and guest.email in emails:
            problem = "stands here twice"
        elif not problem and guest.name and guest.name.lower() in names:
            problem = f"has the name {guest.name}, which stands here twice"
        checked.append(replace(guest, problem=problem))
        if not problem:
            emails.add(guest.email)
            names.add(guest.name.lower())
    return checked
