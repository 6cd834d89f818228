"""The modules of our JavaScript, and which of them import which, read from the files."""

import os
import re
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
STATIC = ROOT / "static"
MODULES = sorted((STATIC / "js").rglob("*.js"))

_COMMENT_OR_TEXT = re.compile(r"""/\*.*?\*/|(?<![:"'`\\])//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
# `import ... from "x"`, `export ... from "x"`, `import "x"` and `import("x")`.
_IMPORT = re.compile(r"""\b(?:import|export)\b(?:[^"'`;()]*?\bfrom)?\s*(\(?)\s*["']([^"'\n]+)["']""")
_COMPUTED = re.compile(r"""\bimport\s*\(\s*(?!["'])""")
_TYPE = re.compile(r"""\bimport\(["']([^"']+)["']\)\.""")


def code_of(module: Path) -> str:
    """Without comments; texts stay, because an import names its module in one."""
    return _COMMENT_OR_TEXT.sub(lambda found: "" if found[0].startswith("/") else found[0], module.read_text())


def imports_of(module: Path) -> list[tuple[str, bool]]:
    """What the module imports, as it is written, and whether only when it comes to that place."""
    return [(name, bool(late)) for late, name in _IMPORT.findall(code_of(module))]


def types_of(module: Path) -> list[str]:
    """The modules whose types its comments name."""
    return _TYPE.findall(module.read_text())


def has_computed_import(module: Path) -> bool:
    return _COMPUTED.search(code_of(module)) is not None


def target(module: Path, name: str) -> Path:
    """The file that the name means in this module."""
    return Path(os.path.normpath(module.parent / name))
