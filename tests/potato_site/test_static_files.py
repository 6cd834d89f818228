"""What collectstatic leaves is whole: every module finds the neighbours that it imports, under their hashed names."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.potato_site.modules import MODULES, STATIC, imports_of, target

ROOT = Path(__file__).resolve().parents[2]
IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*["'](\.{1,2}/[^"']+)["']""")
HASHED = re.compile(r"\.[0-9a-f]{12}\.js\Z")


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("static")
    environment = {**os.environ, "POTATO_MODE": "development", "STATIC_ROOT": str(folder)}
    subprocess.run(
        [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"],
        cwd=ROOT,
        env=environment,
        check=True,
        timeout=120,
    )
    return folder


def test_every_import_of_a_hashed_module_is_a_hashed_file_that_exists(collected: Path) -> None:
    modules = [path for path in (collected / "js").rglob("*.js") if HASHED.search(path.name)]
    imports = [(module, name) for module in modules for name in IMPORT.findall(module.read_text(encoding="utf-8"))]
    assert imports, "no module imports another: this test looks in the wrong place"
    for module, name in imports:
        target = (module.parent / name).resolve()
        assert target.is_file(), f"{module.name} imports {name}"
        assert HASHED.search(target.name), f"{module.name} imports {name} without its hash"


def test_every_module_is_in_the_manifest_with_all_that_it_imports(collected: Path) -> None:
    manifest = json.loads((collected / "staticfiles.json").read_text(encoding="utf-8"))["paths"]
    for module in MODULES:
        name = str(module.relative_to(STATIC))
        served = collected / manifest[name]
        wanted = {manifest[str(target(module, one).relative_to(STATIC))] for one, _ in imports_of(module)}
        found = {target(served, one) for one in IMPORT.findall(served.read_text(encoding="utf-8"))}
        assert found == {collected / one for one in wanted}, name
