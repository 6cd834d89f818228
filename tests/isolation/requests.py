"""Requests as one person of the tenants, whose effects are taken back."""

from copy import copy

from django.db import transaction
from django.http import HttpResponse
from django.test import Client

from accounts.models import User


def client_of(person: User | None) -> Client:
    """A browser in which the person is signed in. An exception in the site becomes an answer of 500, as outside."""
    client = Client(raise_request_exception=False)
    if person is not None:
        client.force_login(person)
    return client


def answer(client: Client, method: str, path: str) -> HttpResponse:
    """The answer; what the request changed in the database and in the browser is taken back."""
    cookies = copy(client.cookies)
    with transaction.atomic():
        response: HttpResponse = client.generic(method, path)  # type: ignore[assignment]  # it is one, with more
        if response.streaming:
            # Read inside the transaction; a test wants its text like any other's.
            response = HttpResponse(response.getvalue(), status=response.status_code, headers=dict(response.items()))
        transaction.set_rollback(True)
    client.cookies = cookies
    return response
