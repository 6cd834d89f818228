"""The API of webhooks: endpoints, their deliveries, and sending one again."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import read
from accounts.api.views import ApiView
from accounts.models import Project
from potato.api.webhooks import (
    Attempt,
    Deliveries,
    Delivery,
    Webhook,
    WebhookChange,
    WebhookRequest,
    Webhooks,
)
from tenancy.permissions import demand_scope
from tenancy.roles import Right, TokenScope
from webhooks import actions
from webhooks.actions import WebhookRefused
from webhooks.models import Delivery as DeliveryRow
from webhooks.models import Endpoint

DELIVERIES_ON_A_PAGE = 100
BEFORE = OpenApiParameter("before", str, description="The id of a delivery: those that are older.")


class EndpointsView(ApiView):
    right = Right.MANAGE_WEBHOOKS
    read_with = change_with = frozenset({TokenScope.ADMIN})

    def endpoints(self) -> "QuerySet[Endpoint]":
        rows = Endpoint.objects.manageable_by(self.membership, is_change=not self._is_read)
        return rows.select_related("project")

    def endpoint(self) -> Endpoint:
        return get_object_or_404(self.endpoints(), pk=self.kwargs["endpoint_id"])

    def sending(self, delivery: DeliveryRow) -> Response:
        """A delivery that is on its way; Location is the list that says what came of it."""
        where = self.location("api-webhook-deliveries", delivery.endpoint_id)
        return Response(shown_delivery(delivery), status=202, headers={"Location": where})


class WebhooksView(EndpointsView):
    answers_secret = True

    @extend_schema(responses=Webhooks)
    def get(self, request: Request) -> Response:
        """The webhooks that the caller may manage, the oldest first."""
        return Response(Webhooks(results=[shown(row) for row in self.endpoints()]))

    @extend_schema(request=WebhookRequest, responses={201: Webhook})
    def post(self, request: Request) -> Response:
        """Make a webhook. The answer has its signing secret, this once."""
        body = read(WebhookRequest, request)
        project = None
        if not self.membership.wields(Right.MANAGE_ALL_WEBHOOKS, is_change=True):
            of_all = body.project is None and Right.MANAGE_ALL_WEBHOOKS in self.membership.everywhere
            right = Right.MANAGE_ALL_WEBHOOKS if of_all else Right.MANAGE_WEBHOOKS
            demand_scope(self.membership, right, is_change=True)
        if body.project is not None:
            manageable = Project.objects.with_right(self.membership, Right.MANAGE_WEBHOOKS)
            project = manageable.filter(slug=body.project).first()
            if project is None:
                raise WebhookRefused(f"There is no project {body.project[:80]!r} that you may see.")
        elif Right.MANAGE_ALL_WEBHOOKS not in self.membership.everywhere:
            raise WebhookRefused("Name a project: a webhook of all projects is for admins.")
        row = actions.make_endpoint(url=body.url, events=body.events, project=project, description=body.description)
        return Response(shown(row, with_secret=True), status=201)


class WebhookView(EndpointsView):
    @extend_schema(responses=Webhook)
    def get(self, request: Request, endpoint_id: UUID) -> Response:
        """One webhook."""
        return Response(shown(self.endpoint()))

    @extend_schema(request=WebhookChange, responses=Webhook)
    def patch(self, request: Request, endpoint_id: UUID) -> Response:
        """Change a webhook, pause it, or switch it on."""
        row, body = self.endpoint(), read(WebhookChange, request)
        if body.state not in (None, "on", "paused"):
            raise WebhookRefused("state must be on or paused.")
        row = actions.change_endpoint(
            endpoint=row,
            url=row.url if body.url is None else body.url,
            events=row.events if body.events is None else body.events,
            description=row.description if body.description is None else body.description,
        )
        if body.state == "on":
            row = actions.switch_on(endpoint=row)
        elif body.state == "paused":
            row = actions.pause(endpoint=row, by=self.membership.annotator_name)
        return Response(shown(row))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, endpoint_id: UUID) -> Response:
        """Remove a webhook and its deliveries."""
        actions.remove_endpoint(endpoint=self.endpoint())
        return Response(status=204)


class WebhookSecretView(EndpointsView):
    answers_secret = True

    @extend_schema(request=None, responses=Webhook)
    def post(self, request: Request, endpoint_id: UUID) -> Response:
        """A new signing secret, in this answer alone. The old one signs as well for 24 hours."""
        return Response(shown(actions.replace_secret(endpoint=self.endpoint()), with_secret=True))


class WebhookTestView(EndpointsView):
    @extend_schema(request=None, responses={202: Delivery})
    def post(self, request: Request, endpoint_id: UUID) -> Response:
        """Send a test event; its delivery says what came of it."""
        made = actions.send_test(endpoint=self.endpoint(), by=self.membership.annotator_name)
        return self.sending(made)


class WebhookDeliveriesView(EndpointsView):
    @extend_schema(parameters=[BEFORE], responses=Deliveries)
    def get(self, request: Request, endpoint_id: UUID) -> Response:
        """The deliveries of a webhook, the newest first."""
        rows = DeliveryRow.objects.filter(endpoint=self.endpoint())
        if (before := request.query_params.get("before")) is not None:
            try:
                rows = rows.filter(pk__lt=UUID(before))
            except ValueError:
                raise WebhookRefused("before is no id of a delivery.") from None
        page: list[DeliveryRow] = list(rows.order_by("-pk")[: DELIVERIES_ON_A_PAGE + 1])
        following = page[DELIVERIES_ON_A_PAGE - 1].pk if len(page) > DELIVERIES_ON_A_PAGE else None
        return Response(
            Deliveries(results=[shown_delivery(row) for row in page[:DELIVERIES_ON_A_PAGE]], next=following)
        )


class WebhookRedeliveryView(EndpointsView):
    @extend_schema(request=None, responses={202: Delivery})
    def post(self, request: Request, endpoint_id: UUID, delivery_id: UUID) -> Response:
        """Send a delivery again, with the id that it had."""
        row = get_object_or_404(DeliveryRow, endpoint=self.endpoint(), pk=delivery_id)
        return self.sending(actions.redeliver(delivery=row))


def shown(row: Endpoint, *, with_secret: bool = False) -> Webhook:
    return Webhook(
        id=row.pk,
        url=row.url,
        project=row.project.slug if row.project else None,
        events=row.events,
        description=row.description,
        state=row.state,
        state_because=row.state_because,
        failures=row.failures,
        created_at=row.created_at,
        secret=row.secret if with_secret else None,
    )


def shown_delivery(row: DeliveryRow) -> Delivery:
    attempts: list[Any] = row.attempts
    return Delivery(
        id=row.pk,
        message=row.message,
        type=row.type,
        state=row.state,
        body=row.body,
        attempts=[Attempt.model_validate(attempt) for attempt in attempts],
        next_attempt_at=row.next_attempt_at,
        created_at=row.created_at,
    )


_ONE = "webhooks/<uuid:endpoint_id>/"
urlpatterns = [
    path("webhooks/", WebhooksView.as_view(), name="api-webhooks"),
    path(_ONE, WebhookView.as_view(), name="api-webhook"),
    path(f"{_ONE}secret/", WebhookSecretView.as_view(), name="api-webhook-secret"),
    path(f"{_ONE}test/", WebhookTestView.as_view(), name="api-webhook-test"),
    path(f"{_ONE}deliveries/", WebhookDeliveriesView.as_view(), name="api-webhook-deliveries"),
    path(
        f"{_ONE}deliveries/<uuid:delivery_id>/redeliver/",
        WebhookRedeliveryView.as_view(),
        name="api-webhook-redelivery",
    ),
]
