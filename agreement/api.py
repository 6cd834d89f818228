"""The API of agreement."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
