"""What allauth asks us: who may sign up, where a login leads, and which account a name and a password open."""

from uuid import UUID

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.auth_backends import AuthenticationBackend as AllauthBackend
from django.db.models import Q
from django.http import HttpRequest

from accounts.models import User
from accounts.models.people import person_with

_CLAIMS = 3
"""How many accounts of one address can be opened by it, the oldest first; all of them by their user names."""


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """People join by an admin's invitation alone."""
        return False


class AuthenticationBackend(AllauthBackend):  # type: ignore[misc]  # allauth ships no types
    """Nobody verifies an address, so several accounts may claim one, and the password says which of them is meant.

    What does not match takes as many checks of a password as any other that does not: the time of an answer tells
    neither whether an account has the address nor how many have.
    """

    def get_user(self, user_id: UUID) -> User | None:
        """The person of a session; None for one who is switched off."""
        found = person_with.first(user_id)
        return found if found is not None and self.user_can_authenticate(found) else None

    def _authenticate(self, request: HttpRequest | None, **credentials: str) -> User | None:
        login = credentials.get("email") or credentials.get("username") or ""
        password = credentials["password"]
        claims = _accounts_named(login)
        for account in claims:
            if self._check_password(account, password):
                return account
        for _ in range(_CLAIMS - len(claims) if "@" in login else 1 - len(claims)):
            self._mitigate_timing_attack(password)
        # Done here: allauth would add one more where there is no account.
        self._did_check_password = True
        return None


def _accounts_named(login: str) -> list[User]:
    if "@" not in login:
        return list(User.objects.filter(username=login.lower()))
    named = User.objects.filter(Q(username=login.lower()) | Q(email__iexact=login))
    return list(named.order_by("date_joined", "pk")[:_CLAIMS])
