"""Routes of a project's agreement, under p/<project>/agreement/."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
