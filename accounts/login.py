"""What allauth asks us: who may sign up, where a login leads, and which account a name and a password open."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.auth_backends import AuthenticationBackend as AllauthBackend
from allauth.account.views import login as allauth_login
from django.contrib.auth.hashers import BasePasswordHasher, check_password, get_hasher, identify_hasher
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

from accounts import attempts
from accounts.attempts import TooManyTries, remember_device
from accounts.hashing import Busy, turn
from accounts.models import User
from accounts.models.people import person_with
from accounts.sessions import account_of_session

_CLAIMS = 3
"""How many accounts of one address can be opened by it, the oldest first; all of them by their user names."""


def sign_in(request: HttpRequest, **kwargs: Any) -> HttpResponse:
    """The page for signing in. Who tried too often, or came when too many did, gets the page again: 429 or 503."""
    response: HttpResponse = allauth_login(request, **kwargs)
    if request.method == "POST":
        remember_device(request, response)
    return as_refused(request, response)


def as_refused(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """The answer with the status of what the adapter refused, if it did."""
    refusal: TooManyTries | Busy | None = getattr(request, "sign_in_refusal", None)
    if refusal is not None:
        response.status_code = refusal.status
        response["Retry-After"] = str(refusal.retry_after)
    return response


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """People join by an admin's invitation alone."""
        return False

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """The account that the credentials open. Raises ValidationError with what to do where it may not be tried.

        A try is counted before it waits for its turn: one that is refused must not stand in the way of others.
        """
        login = str(credentials.get("email") or credentials.get("username") or "")
        try:
            counts = attempts.take(request, login, _accounts_named(login))
            with attempts.given_back_if_not_made(counts), turn.taken():
                # No allauth throttle: it counts an account's tries from everywhere, and locks.
                user: User | None = AuthenticationBackend().authenticate(request, **credentials)
        except (TooManyTries, Busy) as refusal:
            request.sign_in_refusal = refusal  # type: ignore[attr-defined]  # for as_refused
            raise ValidationError(refusal.sentence, code=refusal.code) from refusal
        if user is None:
            self.authentication_failed(request, **credentials)
            return None
        attempts.was_right(request, login, counts)
        user.backend = "accounts.login.AuthenticationBackend"
        return user


class AuthenticationBackend(AllauthBackend):  # type: ignore[misc]  # allauth ships no types
    """Nobody verifies an address, so several accounts may claim one, and the password says which of them is meant.

    One hash tells, however many accounts have the address, and one is made where none has: they share their salt. So
    the time of an answer tells neither whether an account has the address nor how many have. (An account with a salt
    of its own, from before, costs one more until it is signed in to.)
    """

    def get_user(self, user_id: UUID) -> User | None:
        """The person of a session; None for one who is switched off."""
        user = account_of_session(user_id) or person_with.first(user_id)
        return user if user is not None and self.user_can_authenticate(user) else None

    def _authenticate(self, request: HttpRequest | None, **credentials: str) -> User | None:
        login = credentials.get("email") or credentials.get("username") or ""
        # Done here: allauth would add one more where there is no account.
        self._did_check_password = True
        password = credentials["password"]
        opened = _opened(_accounts_named(login), password)
        if opened is not None:
            _renew(opened, password)
        return opened


def _opened(accounts: Sequence[User], password: str) -> User | None:
    hasher = get_hasher()
    hashes: dict[str, str] = {}
    for account in accounts:
        salt = _current_salt(hasher, account)
        if salt is None:
            if account.has_usable_password() and check_password(password, account.password):
                return account
            continue
        if salt not in hashes:
            hashes[salt] = hasher.encode(password, salt)
        if constant_time_compare(account.password, hashes[salt]):
            return account
    if not hashes:
        hasher.encode(password, hasher.salt())
    return None


def _current_salt(hasher: BasePasswordHasher, account: User) -> str | None:
    """None for a hash that is made differently today."""
    try:
        if identify_hasher(account.password).algorithm != hasher.algorithm or hasher.must_update(account.password):
            return None
        return str(hasher.decode(account.password)["salt"])
    except ValueError:
        return None


def _renew(account: User, password: str) -> None:
    """The hash as it is made today, with the salt that the accounts of the address share."""
    hasher = get_hasher()
    shared = account.shared_salt()
    salt = _current_salt(hasher, account)
    if salt is None or (shared is not None and salt != shared):
        account.set_password(password)
        account.save(update_fields=["password"])


def _accounts_named(login: str) -> list[User]:
    if "@" not in login:
        return list(User.objects.filter(username=login.lower()))
    named = User.objects.filter(Q(username=login.lower()) | Q(email__iexact=login))
    return list(named.order_by("date_joined", "pk")[:_CLAIMS])
