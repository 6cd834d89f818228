"""Accounts of people. A person is global, so nothing here asks what any organisation knows."""

import re
import secrets

from accounts.models import User


def create_account(*, email: str, name: str, password: str) -> User:
    """Store an account, whose user name is made of the address and a random number.

    The address is a claim, and may stand in other accounts. Nobody chooses the user name, and it always has a number:
    a name that "is taken", or one without a number, would tell who else has an account. Raises ValidationError for
    an address or a name that cannot be stored.
    """
    user = User(username=_new_username(email), email=email.lower(), name=name)
    user.set_password(password)
    user.full_clean()
    user.save(force_insert=True)
    return user


def _new_username(email: str) -> str:
    stem = re.sub(r"[^a-z0-9.]+", "-", email.partition("@")[0].lower())[:48].strip("-.") or "member"
    while True:
        username = f"{stem}-{secrets.randbelow(90_000) + 10_000}"
        if not User.objects.filter(username=username).exists():
            return username
