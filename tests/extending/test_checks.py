"""A package that cannot be used is named, with the reason and what to do, before anybody needs what it brings."""

from dataclasses import replace
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import ClassVar

import pytest

from potato.configuration import SchemeType
from potato.schemes.registry import Target, scheme_types
from potato.schemes.review.configuration import VerdictScheme
from potato_site.extension_checks import what_packages_bring_can_be_used
from tests.extending.conftest import Site


class Homeless(SchemeType):
    """A type whose package forgot its app."""

    annotation_type = "homeless"
    target: ClassVar[Target] = "change_set"
    block = "verdict"
    configuration = VerdictScheme
    template = "homeless/choose.html"
    module = "homeless/choose.js"


class Unscripted(Homeless):
    """One that brought its template and no module."""

    annotation_type = "unscripted"
    template = "review/verdict.html"


def problems(monkeypatch: pytest.MonkeyPatch, group: str, **entries: str) -> list[tuple[str | None, str]]:
    """What the check says with these entry points of that group beside those that are installed."""

    def with_more(*, group: str, given: str = group) -> EntryPoints:
        more = [EntryPoint(name, value, group) for name, value in entries.items() if group == given]
        return EntryPoints([*entry_points(group=group), *more])

    for module in ("potato_site.extension_checks", "potato.entry_points"):
        monkeypatch.setattr(f"{module}.entry_points", with_more)
    scheme_types.cache_clear()
    try:
        return [(problem.id, problem.msg) for problem in what_packages_bring_can_be_used(None)]
    finally:
        scheme_types.cache_clear()


def test_what_is_installed_can_be_used() -> None:
    assert what_packages_bring_can_be_used(None) == []


@pytest.mark.parametrize("group", ["potato.scheme_types", "potato.export_formats", "potato.trace_converters"])
def test_a_package_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch, group: str) -> None:
    said = f"mine of {group}, which no_such_package:Mine brings, cannot be loaded: No module named 'no_such_package'."
    assert problems(monkeypatch, group, mine="no_such_package:Mine") == [("potato.E008", said)]


def test_two_packages_with_one_name_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "potato-review and json:JSONDecoder both bring native of potato.trace_converters. Uninstall one of them."
    assert problems(monkeypatch, "potato.trace_converters", native="json:JSONDecoder") == [("potato.E007", said)]


def test_a_type_whose_template_no_app_has_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "No installed app has homeless/choose.html, which homeless names."
    assert problems(monkeypatch, "potato.scheme_types", homeless=f"{__name__}:Homeless") == [("potato.E010", said)]


def test_a_type_whose_module_no_app_has_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "No installed app has homeless/choose.js, which unscripted names."
    assert problems(monkeypatch, "potato.scheme_types", unscripted=f"{__name__}:Unscripted") == [("potato.E010", said)]


def test_a_type_that_breaks_the_rules_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    ((identity, said),) = problems(monkeypatch, "potato.scheme_types", mood=f"{__name__}:Homeless")
    assert identity == "potato.E009"
    assert "has another annotation_type: homeless" in said


def test_the_commands_name_a_broken_package_and_do_nothing(extended: Site) -> None:
    """Installed for real, it may fail wherever its name is looked up; the answer is the check's, and no traceback."""
    groups = ("potato.scheme_types", "potato.export_formats", "potato.trace_converters")
    broken = extended.folder / "site-packages/broken-1.0.dist-info"
    broken.mkdir(parents=True)
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (broken / "entry_points.txt").write_text("".join(f"[{group}]\nmine = no_such_package:Mine\n" for group in groups))
    process = replace(extended, packages=broken.parent).start("manage.py", "import_traces", "acme/parser", "manage.py")
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    for group in groups:
        assert f"mine of {group}, which broken brings, cannot be loaded: No module named 'no_such_package'." in said
    assert "Traceback" not in said
