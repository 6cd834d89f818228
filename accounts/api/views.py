"""The class that every API view extends: who comes in, and JSON both ways. It is no route of its own."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, cast

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse
from rest_framework.exceptions import APIException, NotAuthenticated
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api.authentication import SessionAuthentication, TokenAuthentication, is_for_sessions
from accounts.api.errors import Throttled, answer_to
from accounts.api.exact_json import GZIP, ExactJSONParser, ExactJSONRenderer, content_encoding
from accounts.api.idempotency import HEADER, Replayed, begin_once, end_once
from accounts.models import Project, User
from accounts.models.idempotency import IdempotencyKey
from accounts.models.projects import AnyRow, in_projects_with, visible_project
from accounts.models.tokens import Pace
from accounts.throttling import Throttle
from tenancy.actor import ActiveMembership
from tenancy.permissions import demand_at, demand_scope
from tenancy.roles import Right, Role, TokenScope

_SIGN_IN = "You are not signed in, or no longer. Sign in, then repeat this."
_BEARER = "Send the header `Authorization: Bearer pt_...` with an API token of the organisation."


CALLERS = Throttle(settings.API_REQUESTS_A_MINUTE)
_COSTS = {Pace.SLOW: 4.0, Pace.NORMAL: 1.0, Pace.FAST: 0.25}
"""How much of what a person may ask a request of a token of that pace takes."""
ORGANISATIONS = Throttle(settings.API_REQUESTS_A_MINUTE_OF_AN_ORGANISATION)


class JSONAlone(BaseContentNegotiation):
    """There is one form of answer; what the client would rather have does not matter."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        wanted = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == wanted), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, str(renderer.media_type)


class UnsupportedEncoding(APIException):
    status_code = 415
    default_code = "unsupported_encoding"
    default_detail = "A body comes as it is, or as application/json with Content-Encoding: gzip."


class ApiView(APIView):
    """A route for members with `right`: nobody signed in gets 401, strangers 404, other members 403. `right_to_change`
    is asked for instead by methods that change something. Both are asked in the project that the address names; where
    it names none, one project in which they hold is enough, and the route shows what lies in such projects.

    A token needs a scope beside the right, by the table of tenancy.roles; `read_with` are scopes that are enough to
    read this route, beside those, and `change_with` to change a part of it, where the view says which. `largest_body`
    bounds what a request may send, in bytes.

    A POST with an Idempotency-Key is done once, and answered the same again for a day. `answers_secret`: its answer is
    not kept for that. `minds_its_key`: the view does so itself.
    """

    right: ClassVar[Right]
    right_to_change: ClassVar[Right | None] = None
    read_with: ClassVar[frozenset[TokenScope]] = frozenset()
    change_with: ClassVar[frozenset[TokenScope]] = frozenset()
    largest_body: ClassVar[int] = 16_384
    answers_secret: ClassVar[bool] = False
    minds_its_key: ClassVar[bool] = False

    _done_once: IdempotencyKey | None = None

    authentication_classes = (SessionAuthentication, TokenAuthentication)
    permission_classes = ()
    throttle_classes = ()
    parser_classes = (ExactJSONParser,)
    renderer_classes = (ExactJSONRenderer,)
    content_negotiation_class = JSONAlone
    metadata_class = None

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Any:  # a view function with attributes, for which the stubs have a class
        view: Any = super().as_view(**initkwargs)
        view.permission = cls.right  # read by tenancy.permissions
        view.permission_to_change = cls.right_to_change or cls.right
        view.authenticates = True  # read by tenancy.middleware
        return view

    def check_permissions(self, request: Request) -> None:
        if request.successful_authenticator is None:
            raise NotAuthenticated(_SIGN_IN if is_for_sessions(request._request) else _BEARER)
        self._demand_a_pause()
        demand_at(request._request, self.required_right, self.kwargs)
        if request.method in self.allowed_methods:
            also = self.read_with if self._is_read else self.change_with
            demand_scope(self.membership, self.required_right, is_change=not self._is_read, also=also)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        packed_as = content_encoding(request)
        if packed_as and (packed_as != GZIP or not self._takes(request, ExactJSONParser)):
            raise UnsupportedEncoding
        if (
            request.method == "POST"
            and HEADER in request.headers
            and not self.minds_its_key
            and "POST" in self.allowed_methods
        ):
            self._done_once = begin_once(request, self._caller)

    @property
    def _caller(self) -> str:
        """The token, or the person where there is none."""
        return str(getattr(self.request._request, "api_token", None) or self.person.pk)

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, Replayed):
            return exc.answer
        return super().handle_exception(exc)

    def _takes(self, request: Request, parser: type[BaseParser]) -> bool:
        return isinstance(JSONAlone().select_parser(request, self.get_parsers()), parser)

    def project(self) -> Project:
        """The project that the address names. Raises Http404 where it is not the caller's to see."""
        return visible_project(self.membership, self.kwargs["project"])

    def _demand_a_pause(self) -> None:
        """Of a program without one: the caller's own bound comes before that of the organisation, which all share."""
        organisation = self.membership.organisation_id
        costs = _COSTS[getattr(self.request._request, "token_pace", Pace.NORMAL)]
        if seconds := CALLERS.wait(f"{organisation} {self._caller}", costs=costs):
            raise Throttled("This token or person", seconds)
        if seconds := ORGANISATIONS.wait(str(organisation)):
            raise Throttled("This organisation", seconds)

    def get_authenticate_header(self, request: Request) -> str:
        """What a 401 asks for: never anything for which a browser opens a window of its own."""
        return "Cookie" if is_for_sessions(request._request) else "Bearer"

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response | None]:
        return answer_to

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        answer = super().finalize_response(request, response, *args, **kwargs)
        answer["Cache-Control"] = "no-store"
        if self._done_once is not None and not request._request.failed:  # type: ignore[attr-defined]
            end_once(self._done_once, answer, is_kept=not self.answers_secret)
        return answer

    @property
    def required_right(self) -> Right:
        """What this method asks for."""
        return self.right if self._is_read else self.right_to_change or self.right

    @property
    def _is_read(self) -> bool:
        return self.request.method in ("GET", "HEAD")

    def location(self, name: str, *args: object) -> str:
        """The whole address of another route, at the one of the two addresses that the caller uses."""
        urlconf: Any = getattr(self.request._request, "urlconf", None)
        return self.request.build_absolute_uri(reverse(name, args=args, urlconf=urlconf))

    def reachable(self, rows: "QuerySet[AnyRow]") -> "QuerySet[AnyRow]":
        """Those of the rows whose project gives the right; for addresses that name a row, and no project."""
        return in_projects_with(rows, self.membership, self.required_right)

    @property
    def acts_for_a_person(self) -> bool:
        """Whether a program calls by a token of somebody who could have done it themselves: no service account."""
        return self.membership.token is not None and self.membership.role != Role.SERVICE

    @property
    def person(self) -> User:
        """Who calls."""
        return cast(User, self.request.user)

    @property
    def membership(self) -> ActiveMembership:
        """What the caller is in the organisation that the request entered."""
        return cast(ActiveMembership, self.request._request.membership)  # type: ignore[attr-defined]
