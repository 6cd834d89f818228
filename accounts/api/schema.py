"""How the OpenAPI description tells what every route shares: the two addresses, who comes in, and refusals."""

from typing import Any, Literal

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from pydantic import BaseModel, ConfigDict

from accounts.api.parameters import IDEMPOTENCY_KEY


class GapLocation(BaseModel):
    """Where on the task page a gap is mended; keys that do not apply are left out."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    file: str = ""
    side: str = ""
    line: int = 0
    comment_id: str = ""
    dimension: str = ""


class Gap(BaseModel):
    """One reason for which answers cannot be taken."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    path: list[str | int]
    """Leads to it in the answers."""
    code: str
    sentence: str
    kind: str
    """`missing`: something has to be added. `refused`: what is there is not allowed."""
    place: GapLocation


class Fault(BaseModel):
    """One thing in a request that cannot be taken."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    path: list[str | int]
    """Leads to it in the body, or is the parameter of the address; empty for the whole."""
    code: str
    sentence: str


class Problem(BaseModel):
    """Every answer of 400 and above, as application/problem+json for who accepts that by name."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)

    code: str
    """For programs; docs/api.md lists them."""
    detail: str
    """For people: what, where, and what to do."""
    type: str
    """`urn:potato:problem:` and the code, as problem details (RFC 9457) have it."""
    title: str
    status: int
    instance: str
    """The address that was asked."""
    errors: list[Fault] = []
    """With `invalid_request` and `not_publishable`: all at once."""
    gaps: list[Gap] = []
    """With `incomplete` and `malformed`: the first 500."""
    gaps_in_all: int = 0


class ApiSchema(AutoSchema):
    def get_tags(self) -> list[str]:
        return [self.path.strip("/").partition("/")[0]]

    def get_operation_id(self) -> str:
        name = type(self.view).__name__.removesuffix("View").lower()
        return name if len(self.view.allowed_methods) == 2 else f"{self.method.lower()}_{name}"

    def get_override_parameters(self) -> list[Any]:
        """The Idempotency-Key of every POST, but of those that say more of it."""
        given: list[Any] = super().get_override_parameters()
        return (
            [*given, IDEMPOTENCY_KEY]
            if self.method == "POST" and not getattr(self.view, "minds_its_key", True)
            else given
        )

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        model = self.get_response_serializers()
        if self.method == "DELETE" and not isinstance(model, dict):
            # drf-spectacular describes every DELETE as 204 without a body, and these answer with a model.
            bodies = {"200": self._get_response_for_code(model, "200")}  # type: ignore[no-untyped-call]
        problem = self._get_response_for_code(Problem, "default")  # type: ignore[no-untyped-call]
        return {**bodies, "default": problem}


class SessionScheme(OpenApiAuthenticationExtension):
    target_class = "accounts.api.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "__Host-session",
            "description": "At /o/{organisation}/api/v1/ alone. What changes something needs the header X-CSRFToken.",
        }


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "accounts.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "At /api/v1/ alone: an API token, made in the admin.",
        }
