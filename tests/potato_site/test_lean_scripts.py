"""The scripts as they are served, shortened, still declare each name before it is read."""

import subprocess
from pathlib import Path

from django.conf import settings
from django.core.files.storage import FileSystemStorage

from potato_site.static_storage import LeanScripts
from tests.missing import missing

TSC = Path(settings.BASE_DIR) / "node_modules/.bin/tsc"
USED_TOO_EARLY = ("TS2448", "TS2449", "TS2454", "TS2474")
OPTIONS = "--allowJs --checkJs --noEmit --strict false --target esnext --module esnext --moduleResolution bundler"


def test_no_served_script_reads_a_name_before_its_declaration(tmp_path: Path) -> None:
    if not TSC.exists():
        missing("no TypeScript: npm ci, as make lint does")
    source = Path(settings.BASE_DIR) / "static"
    storage = LeanScripts(FileSystemStorage(str(source)))
    written = []
    for script in sorted((source / "js").rglob("*.js")):
        made = tmp_path / script.relative_to(source)
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_bytes(storage.open(str(script.relative_to(source))).read())
        written.append(str(made))
    assert written
    output = subprocess.run([TSC, *OPTIONS.split(), *written], capture_output=True, text=True, check=False).stdout
    assert [line for line in output.splitlines() if any(code in line for code in USED_TOO_EARLY)] == []
