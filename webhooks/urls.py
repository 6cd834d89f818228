"""Routes of the organisation's webhooks, under webhooks/."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
