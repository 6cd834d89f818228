"""The content security policy on every answer: the same for all, since no page of ours needs an exception."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class ContentSecurityPolicyMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        directives = settings.CONTENT_SECURITY_POLICY.items()
        self.policy = "; ".join(f"{directive} {sources}" for directive, sources in directives)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", self.policy)
        return response
