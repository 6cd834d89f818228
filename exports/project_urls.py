"""Routes of a project's exports and schedules, under p/<project>/exports/."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
