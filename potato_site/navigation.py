"""What the frame of every page shows: the organisation, and the places that the person may go to."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from tenancy.permissions import allowed
from tenancy.roles import Right
from tenancy.urls import global_reverse


@dataclass(frozen=True)
class Entry:
    label: str
    url: str
    icon: str
    current: bool


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Context processor. Outside an organisation there is only home."""
    membership = getattr(request, "membership", None)
    links: dict[str, Any] = {
        "home_url": global_reverse("home"),
        "login_url": global_reverse("account_login"),
        "logout_url": global_reverse("account_logout"),
        "password_url": global_reverse("account_change_password"),
        "membership": membership,
        "navigation": [],
        "manage_navigation": [],
    }
    if membership is None:
        return links
    here = request.path

    def entry(label: str, name: str, icon: str, *, exact: bool = False) -> Entry:
        url = reverse(name)
        return Entry(label, url, icon, here == url if exact else here.startswith(url))

    links["navigation"] = [entry("Projects", "organisation", "git-pull-request", exact=True)]
    if allowed(request, Right.USE_ADMIN):
        places = [
            (Right.CONFIGURE_PROJECTS, "Set-up", "admin:accounts_project_changelist", "sliders-horizontal"),
            (Right.MANAGE_PEOPLE, "People", "admin:accounts_membership_changelist", "users"),
            (Right.SEE_JOBS, "Jobs", "admin:jobs_job_changelist", "list-checks"),
            (Right.SEE_AUDIT, "Audit trail", "admin:accounts_auditevent_changelist", "history"),
        ]
        links["manage_navigation"] = [
            entry(label, name, icon) for right, label, name, icon in places if allowed(request, right)
        ]
    return links
