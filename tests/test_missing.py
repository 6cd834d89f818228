"""Where something that tests need is not there they are skipped by name, and fail in CI."""

from collections.abc import Callable

import pytest

from tests.missing import missing
from tests.shared_data import shared_file, shared_files


@pytest.mark.parametrize(
    "needs",
    [
        lambda: missing("no browser"),
        lambda: shared_file("no-such-folder/session.jsonl"),
        lambda: shared_files("no-such-folder/*"),
    ],
)
def test_what_is_missing_skips_a_test_here_and_fails_it_in_ci(
    needs: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no "):
        needs()
    monkeypatch.setenv("CI", "true")
    # Both: an exception that skips would skip this test, which nobody would see.
    with pytest.raises((pytest.fail.Exception, pytest.skip.Exception)) as ended:
        needs()
    assert ended.type is pytest.fail.Exception
    assert ended.match(r"no .* With CI=true nothing is skipped")
