"""The API of webhooks."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
