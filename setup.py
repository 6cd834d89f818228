"""Puts the site into the wheel as one file, `potato/site.zip`, which `potato review` unpacks into a folder of its own.

As packages, its apps would stand beside a researcher's own under names like `exports`. All else is in pyproject.toml.
"""

import zipfile
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
# What installing the checkout itself asks for.
FILES = ("LICENSE", "MANIFEST.in", "README.md", "manage.py", "pyproject.toml", "setup.py")
FOLDERS = tuple(
    line.removeprefix("graft ")
    for line in (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines()
    if line.startswith("graft ")
)
# Two wheels of the same sources have the same bytes.
MADE = (2020, 1, 1, 0, 0, 0)


class BuildWithSite(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            write_site(Path(self.build_lib) / "potato" / "site.zip")


def write_site(target: Path) -> None:
    paths = [ROOT / name for name in FILES]
    for folder in FOLDERS:
        paths += (path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as site:
        for path in sorted(paths):
            entry = zipfile.ZipInfo(path.relative_to(ROOT).as_posix(), MADE)
            entry.external_attr = 0o644 << 16
            site.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    setup(cmdclass={"build_py": BuildWithSite})
