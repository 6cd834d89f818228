"""Test 22 of the reliability notes: what is small on the way and large in memory is refused, and takes no 100 MB.

(Pictures: tests/traces/test_pictures.py. A body of 1 GB: tests/traces/test_uploads.py. YAML:
tests/potato/configuration/test_yaml.py. JSON that is deep: tests/assignments/test_api_refusals.py.)
"""

import io
import json
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

MIB = 2**20
MEASURED = """
import sys
from pathlib import Path
from potato.runs.converters.detection import AUTOMATIC
from potato.runs.converters.reading import read_file
from potato.runs.packages import BROKEN, is_package, sources_in
from potato.runs.model import Converted, ReadingOptions, Unreadable
from potato.runs.run_files import source_at

def memory(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))

source = source_at(Path(sys.argv[1]))
before = memory("VmRSS:")
open("/proc/self/clear_refs", "w").write("5")
members = sources_in(source.name, source.opened) if is_package(source.head()) else [source]
for member in members:
    try:
        read = [member] if isinstance(member, Unreadable) else read_file(member, ReadingOptions(), named=AUTOMATIC)
        for entry in read:
            if isinstance(entry, Converted):
                print("converted")
            elif isinstance(entry, Unreadable):
                print(entry.code, entry.sentence[:200])
    except BROKEN as error:
        print("bad_zip", error)
print((memory("VmHWM:") - before) // 1024)
"""
BEGUN = b'{"id": "x", "steps": [{"message": "'
RUN = b'{"id": "y", "steps": [{"message": "m"}]}\n'


def zipped(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in members.items():
            package.writestr(name, content)
    return file.getvalue()


def nested(levels: int) -> bytes:
    inner = bytes(10 * MIB)
    for level in range(levels):
        inner = zipped({f"{level}-{number}.zip": inner for number in range(4)})
    return inner


def entries(count: int) -> bytes:
    """The list at the end of a ZIP with so many empty files, all of them the same one."""
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", *[0] * 6, 0, 0, 0, 6, *[0] * 4, 0, 0) + b"a.json"
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", *[0] * 5, 0, 0, 0, 6, 0) + b"a.json"
    return local + entry * count


def with_end(told: int, count: int, comment: bytes = b"") -> bytes:
    """That, with an end that tells another number."""
    whole = entries(count)
    size = count * 52
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, told, told, size, len(whole) - size, len(comment))
    return whole + end + comment


def with_large_end(count: int) -> bytes:
    whole = entries(count)
    size = count * 52
    large = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, len(whole) - size)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(whole), 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return whole + large + locator + end


def understated() -> bytes:
    """A member of 40 MiB that says it has 10 bytes."""
    made = bytearray(zipped({"a.json": b" " * (40 * MIB)}))
    size = struct.pack("<L", 40 * MIB)
    while (at := made.find(size)) >= 0:
        made[at : at + 4] = struct.pack("<L", 10)
    return bytes(made)


BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "zeros in a member": (lambda: zipped({"a.json": bytes(300 * MIB)}), "not_a_trace"),
    "a long text in a member": (lambda: zipped({"a.json": BEGUN + b"a" * (300 * MIB)}), "too_large"),
    "a long text in a line": (lambda: zipped({"a.jsonl": RUN + BEGUN + b"a" * (300 * MIB)}), "too_large"),
    "ZIPs within ZIPs": (lambda: nested(5), "nothing"),
    "400,000 files": (lambda: with_end(0xFFFF, 400_000), "too_large"),
    "400,000 files that are told to be 5": (lambda: with_end(5, 400_000), "too_large"),
    "400,000 files before a comment": (lambda: with_end(5, 400_000, b"a comment"), "too_large"),
    "400,000 files of a large ZIP": (lambda: with_large_end(400_000), "too_large"),
    "an end within the end": (lambda: with_end(5, 400_000, b"PK\x05\x06" + bytes(4)), "bad_zip"),
    "a member that understates itself": (understated, "bad_zip"),
    "deep JSON": (lambda: b"[" * 100_000 + b"]" * 100_000, "not_a_trace"),
    "deep JSON in a line": (lambda: b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n", ""),
    "a long number": (lambda: b'{"id": ' + b"9" * 5_000_000 + b"}", ""),
    "spaces for a slow pattern": (lambda: b"--- a/x\n+++ b/x\n@@ -1 " + b" " * 1_000_000 + b"@@\n", "converted"),
    "many keys": (lambda: json.dumps({str(number): 0 for number in range(200_000)}).encode(), ""),
}


@pytest.mark.parametrize("name", BOMBS)
def test_22_a_bomb_takes_no_100_mb_and_is_refused_in_words(name: str, tmp_path: Path) -> None:
    make, code = BOMBS[name]
    path = tmp_path / "bomb"
    path.write_bytes(make())
    done = subprocess.run([sys.executable, "-c", MEASURED, path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    *said, memory = done.stdout.splitlines()
    assert said, "it is refused in words"
    assert said[-1].startswith(code)
    assert int(memory) <= 100


def test_a_zip_of_as_many_files_as_it_may_have_is_read(tmp_path: Path) -> None:
    path = tmp_path / "many.zip"
    path.write_bytes(with_end(50_000, 50_000))
    done = subprocess.run([sys.executable, "-c", MEASURED, path], capture_output=True, text=True, timeout=120)
    assert "too_large" not in done.stdout
