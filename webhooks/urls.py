"""Routes of the organisation's webhooks, under webhooks/."""

from django.urls import path

from webhooks import views

urlpatterns = [
    path("", views.webhooks, name="webhooks"),
    path("new/", views.new_webhook, name="new-webhook"),
    path("<uuid:endpoint_id>/", views.webhook, name="webhook"),
    path("<uuid:endpoint_id>/deliveries/", views.deliveries, name="webhook-deliveries"),
    path("<uuid:endpoint_id>/secret/", views.replace_secret, name="webhook-secret"),
    path("<uuid:endpoint_id>/test/", views.test_webhook, name="webhook-test"),
    path("<uuid:endpoint_id>/pause/", views.pause_webhook, name="webhook-pause"),
    path("<uuid:endpoint_id>/on/", views.switch_on_webhook, name="webhook-on"),
    path("<uuid:endpoint_id>/remove/", views.remove_webhook, name="webhook-remove"),
    path("<uuid:endpoint_id>/deliveries/<uuid:delivery_id>/again/", views.send_again, name="webhook-again"),
]
