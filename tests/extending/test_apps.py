"""Packages name the app that brings their templates and static files; one that cannot be imported is named."""

from importlib.metadata import EntryPoint, EntryPoints

import pytest
from django.core.exceptions import ImproperlyConfigured

from potato_site import extensions


def install(monkeypatch: pytest.MonkeyPatch, *apps: str) -> None:
    found = EntryPoints(EntryPoint(f"app-{at}", app, extensions.ENTRY_POINT_GROUP) for at, app in enumerate(apps))
    monkeypatch.setattr(extensions, "entry_points", lambda *, group: found.select(group=group))


def test_without_such_packages_nothing_is_added() -> None:
    assert extensions.installed_apps() == []


def test_apps_are_added_once_each_in_the_order_of_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "html.apps.Html", "ast", "html.apps.Html")
    assert extensions.installed_apps() == ["ast", "html.apps.Html"]


def test_an_app_that_is_not_there_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "no_such_package.apps.Gone")
    says = r"The package app-0 names the app no_such_package\.apps\.Gone .* there is no no_such_package to import"
    with pytest.raises(ImproperlyConfigured, match=says):
        extensions.installed_apps()
