"""Parts of files on this machine's disk: what was written takes its name there, and nothing else does."""

import os
from pathlib import Path

import pytest
from django.core.files import File

from exports.storage import DurableFileSystemStorage, unnamed_file

CONTENT = b"a part of an export" * 100_000


def saved(storage: DurableFileSystemStorage, scratch: Path, name: str = "export/00000") -> str:
    with unnamed_file(scratch, 2**16) as file:
        file.write(CONTENT)
        file.seek(0)
        return storage.save(name, File(file, name))


def test_a_part_has_its_content_and_rights_and_leaves_nothing_in_the_scratch_folder(tmp_path: Path) -> None:
    storage = DurableFileSystemStorage(location=str(tmp_path / "kept"), file_permissions_mode=0o600)
    path = Path(storage.path(saved(storage, tmp_path / "scratch")))
    assert path.read_bytes() == CONTENT
    assert (path.stat().st_mode & 0o777, path.stat().st_nlink) == (0o600, 1)
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_part_takes_another_name_where_its_own_is_taken(tmp_path: Path) -> None:
    storage = DurableFileSystemStorage(location=str(tmp_path / "kept"))
    first, second = saved(storage, tmp_path / "scratch"), saved(storage, tmp_path / "scratch")
    assert first != second
    assert Path(storage.path(second)).read_bytes() == CONTENT


def test_a_part_is_copied_where_its_file_cannot_take_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refused)
    storage = DurableFileSystemStorage(location=str(tmp_path / "kept"))
    assert Path(storage.path(saved(storage, tmp_path / "scratch"))).read_bytes() == CONTENT


def test_a_file_with_a_name_of_its_own_is_copied(tmp_path: Path) -> None:
    """Its owner may go on writing to it."""
    own = tmp_path / "own"
    own.write_bytes(CONTENT)
    storage = DurableFileSystemStorage(location=str(tmp_path / "kept"))
    with own.open("rb") as file:
        path = Path(storage.path(storage.save("copy", File(file, "copy"))))
    own.write_bytes(b"other")
    assert path.read_bytes() == CONTENT
