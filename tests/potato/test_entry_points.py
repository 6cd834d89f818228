"""Two packages that bring one name: whatever is looked up says so, and neither answers for the other."""

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, EntryPoints, entry_points

import pytest

from potato.commands.export import main
from potato.configuration.converters import installed_converters
from potato.entry_points import EXPORT_FORMATS, SCHEME_TYPES, TRACE_CONVERTERS, ExtensionError, installed
from potato.formats.registry import formats
from potato.runs.converters.registry import trace_converters
from potato.schemes.registry import scheme_types

LOOKUPS: dict[str, tuple[str, Callable[[], object]]] = {
    SCHEME_TYPES: ("process_reward", scheme_types),
    EXPORT_FORMATS: ("prm", formats),
    TRACE_CONVERTERS: ("native", trace_converters),
}


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    """Each looks once a process."""
    caches = (scheme_types, formats, trace_converters, installed_converters)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


def bring(monkeypatch: pytest.MonkeyPatch, given: str, name: str) -> None:
    """A second package brings this name."""
    second = EntryPoint(name, "second_package:Thing", given)

    def with_second(*, group: str) -> EntryPoints:
        return EntryPoints([*entry_points(group=group), *([second] if group == given else [])])

    monkeypatch.setattr("potato.entry_points.entry_points", with_second)


@pytest.mark.parametrize("group", LOOKUPS)
def test_a_name_that_two_packages_bring_is_refused(monkeypatch: pytest.MonkeyPatch, group: str) -> None:
    name, look = LOOKUPS[group]
    bring(monkeypatch, group, name)
    sentence = f"potato-review and second_package:Thing both bring {name} of {group}. Uninstall one of them."
    with pytest.raises(ExtensionError) as refused:
        look()
    assert str(refused.value) == sentence


def test_the_command_says_so_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bring(monkeypatch, EXPORT_FORMATS, "prm")
    with pytest.raises(SystemExit) as ended:
        main(["-i", ".", "-f", "prm", "-o", "rows.jsonl"])
    assert ended.value.code == 1
    assert "both bring prm of potato.export_formats. Uninstall one of them." in capsys.readouterr().err


def test_names_are_sorted() -> None:
    for group in LOOKUPS:
        assert list(installed(group)) == sorted(installed(group))
