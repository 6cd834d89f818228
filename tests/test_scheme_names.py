"""Nothing but a way of judging itself names a scheme type: site and library find it by its hooks."""

import re
from pathlib import Path

from django.conf import settings

from potato.schemes.registry import SchemeConfiguration, scheme_types

ROOT = Path(settings.BASE_DIR)
SEARCHED = (
    "accounts",
    "adjudication",
    "agreement",
    "assignments",
    "dashboard",
    "exports",
    "gold",
    "jobs",
    "potato",
    "potato_site",
    "tenancy",
    "traces",
    "webhooks",
)
PAGES = ("templates", "static/js", "static/css")
ALLOWED = (
    # Formats that are of one way of judging by their nature.
    *(
        f"potato/formats/{name}.py"
        for name in (
            "code_review",
            "comments",
            "github_review",
            "outcomes",
            "parquet",
            "prm",
            "ratings",
            "review_comments",
            "swebench",
            "training",
            "verdicts",
        )
    ),
    # Tools whose files have reviews and process rewards under names of their own.
    "potato/records/other_tools/github.py",
    "potato/records/other_tools/potato_2.py",
    # The documented functions of the analysis scripts, whose figures are of process rewards.
    "potato/analysis.py",
    "potato/statistics/rewards/",
    # The demo has projects of both ways, and what its people say in them.
    "potato_site/demo/",
    "potato_site/management/commands/load_demo.py",
    # Frozen history.
    "dashboard/migrations/0002_statistics_of_process_rewards.py",
)
OWN = ("potato/schemes/", "templates/review/", "templates/rewards/", "static/js/review/", "static/js/rewards/")
MODULES = re.compile(r"\bpotato\.schemes\.(?:review|rewards)\b|^\s*(?:from|import) (?:review|rewards)\b", re.MULTILINE)


def sources() -> list[Path]:
    code = (path for folder in SEARCHED for path in (ROOT / folder).rglob("*.py"))
    pages = (
        path for folder in PAGES for path in (ROOT / folder).rglob("*.*") if path.suffix in (".html", ".js", ".css")
    )
    return sorted({*code, *pages})


def test_only_a_way_of_judging_names_its_scheme_types() -> None:
    kinds = scheme_types().values()
    names = re.compile(rf"\b(?:{'|'.join(kind.annotation_type for kind in kinds)})\b")
    classes = re.compile(rf"\b(?:{'|'.join(kind.__name__ for kind in kinds)})\b")
    naming: dict[str, list[str]] = {}
    for path in sources():
        place = path.relative_to(ROOT).as_posix()
        if place.startswith((*ALLOWED, *OWN)):
            continue
        text = path.read_text(encoding="utf-8")
        found = names.findall(text)
        if path.suffix == ".py":
            found += [*classes.findall(text), *MODULES.findall(text)]
        if found:
            naming[place] = found
    assert naming == {}


def test_templates_of_the_task_page_read_no_settings_of_one_type() -> None:
    """Of a scheme they know what all schemes have; the rest is for the type's own templates."""
    shared = set(SchemeConfiguration.model_fields)
    for path in sources():
        place = path.relative_to(ROOT).as_posix()
        if path.suffix == ".html" and not place.startswith(OWN):
            assert set(re.findall(r"\bscheme\.(\w+)", path.read_text(encoding="utf-8"))) <= shared, place


def test_every_exception_is_still_one() -> None:
    words = [kind.annotation_type for kind in scheme_types().values()]
    for place in ALLOWED:
        path = ROOT / place
        texts = [one.read_text(encoding="utf-8") for one in (path.rglob("*.py") if path.is_dir() else [path])]
        assert any(word in text for text in texts for word in words) or any(MODULES.search(text) for text in texts), (
            place
        )
