"""What `github_review`, `sarif` and `code_repair` make of comments: requests, findings and patches that others take."""

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from markdown_it import MarkdownIt

from potato.formats.github_review import suggestion_block
from potato.runs.changes.model import FileChange
from potato.runs.changes.texts import diff_texts
from potato.runs.changes.writing import unified_patch
from potato.runs.model import AgentRun, FileOutcome
from tests.hostile import HOSTILE
from tests.potato.formats.files import exported, folder, json_lines, refused, without_django
from tests.potato.formats.test_formats import record, run
from tests.review.documented_record import RECORD
from tests.review.evidence import numbered

SCHEMAS = Path(__file__).parent / "schemas"
FENCES = [
    "plain",
    "```\ncode\n```",
    "````\n",
    "a `b` ``c``",
    "",
    "x\n\n\ny\n",
    "~~~",
    "    indented",
    "- list\n  ```\n",
]


def comment(line: int, text: str = "Wrong", *, end: int | None = None, **more: Any) -> dict[str, Any]:
    return {"file": "src/parser.py", "line_start": line, "line_end": end or line, "comment": text, **more}


def commented(*comments: dict[str, Any], verdict: Any = None, **more: Any) -> dict[str, Any]:
    parts: dict[str, Any] = {"inline_comments": list(comments)}
    return record(annotations=parts | ({} if verdict is None else {"verdict": verdict}), **more)


def reviews(source: Path) -> list[dict[str, Any]]:
    """The reviews, each as GitHub's own description demands its request."""
    schema = json.loads((SCHEMAS / "github-create-review.json").read_text())
    schema["additionalProperties"] = schema["properties"]["comments"]["items"]["additionalProperties"] = False
    found = [row["review"] for row in json_lines(exported(source, "github_review", ".jsonl"))]
    for review in found:
        jsonschema.validate(review, schema)
        # What the description says in words: only an approval needs no text.
        assert review["event"] == "APPROVE" or review["body"].strip()
        for one in review["comments"]:
            assert one.get("start_line", 0) < one["line"]
            assert one["body"].strip()
        json.dumps(review, ensure_ascii=False).encode("utf-8")
        assert "\\u0000" not in json.dumps(review)
    return found


# --- github_review ---


def test_the_documented_record_is_a_review_that_github_takes(tmp_path: Path) -> None:
    (review,) = reviews(folder(tmp_path / "output", [record()], run()))
    assert review["event"] == "REQUEST_CHANGES"
    assert review["body"].startswith(RECORD["annotations"]["verdict"]["summary"])
    assert [{key: one[key] for key in one if key != "body"} for one in review["comments"]] == [
        {"path": "src/parser.py", "line": 42, "side": "RIGHT"},
        {"path": "src/parser.py", "line": 15, "side": "RIGHT"},
        {"path": "tests/test_parser.py", "start_line": 28, "start_side": "RIGHT", "line": 30, "side": "RIGHT"},
    ]
    assert review["comments"][0]["body"] == (
        "**bug, critical**: This will throw IndexError when tokens list is empty\n\n"
        "```suggestion\nif tokens:\n    return tokens[0]\nreturn None\n```"
    )


def test_a_comment_outside_the_diff_stands_in_the_body_so_that_the_review_is_not_refused(tmp_path: Path) -> None:
    given = commented(
        comment(15, "in", side="old"),
        comment(30, "between", suggestion="x = 1"),
        comment(15, "over two hunks", end=42),
        {"file": "gone.py", "line_start": 3, "comment": "of no file"},
        comment(1, "of an excerpt", numbering="excerpt"),
        verdict={"decision": "approve", "summary": ""},
    )
    (review,) = reviews(folder(tmp_path / "output", [given], run()))
    assert [(one["body"], one["side"]) for one in review["comments"]] == [("in", "LEFT")]
    assert review["event"] == "APPROVE"
    assert review["body"] == (
        "src/parser.py, line 30:\n\nbetween\n\nSuggested instead:\n\n```\nx = 1\n```\n\n"
        "src/parser.py, lines 15 to 42:\n\nover two hunks\n\n"
        "gone.py, line 3:\n\nof no file\n\n"
        "src/parser.py, line 1 of the excerpt:\n\nof an excerpt"
    )


def test_general_comments_stand_in_the_body_that_on_the_change_first(tmp_path: Path) -> None:
    on_file = {"subject_type": "file", "file": "src/parser.py", "comment": "Too long"}
    on_change = {"subject_type": "change", "category": "bug", "comment": "Two things at once"}
    given = [commented(comment(42), on_file, on_change, verdict={"decision": "approve", "summary": "Good."})]
    source = folder(tmp_path / "output", given, run())
    (review,) = reviews(source)
    assert [one["line"] for one in review["comments"]] == [42]
    assert review["body"] == "Good.\n\n**bug**: Two things at once\n\nsrc/parser.py:\n\nToo long"
    rows = json_lines(exported(source, "code_review_comments", ".jsonl"))
    assert [(row.get("file"), row.get("subject_type"), row.get("side")) for row in rows] == [
        ("src/parser.py", None, "new"),
        ("src/parser.py", "file", None),
        (None, "change", None),
    ]
    assert [row["diff_hunk"] is None for row in rows] == [False, True, True]
    (log,) = json.loads(exported(source, "sarif", ".sarif"))["runs"]
    places = [result["locations"][0]["physicalLocation"] for result in log["results"]]
    assert [(place["artifactLocation"]["uri"], "region" in place) for place in places] == [
        ("src/parser.py", True),
        ("src/parser.py", False),
        ("", False),
    ]
    assert log["results"][2]["properties"]["subject_type"] == "change"


@pytest.mark.parametrize("text", ["Plain.", "```python\nnever closed", "<details>", "<!-- never closed", *HOSTILE])
def test_suggestions_are_suggestion_blocks_whatever_stands_in_them_and_before_them(text: str, tmp_path: Path) -> None:
    given = [comment(42, text, suggestion=suggestion) for suggestion in [*FENCES, *HOSTILE]]
    (review,) = reviews(folder(tmp_path / "output", [commented(*given)], run()))
    for one, sent in zip([*FENCES, *HOSTILE], review["comments"], strict=True):
        blocks = [
            token
            for token in MarkdownIt().parse(sent["body"])
            if token.type == "fence" and token.info == "suggestion" and token.level == 0
        ]
        assert len(blocks) == 1, sent["body"]
        expected = one.removesuffix("\n") + "\n" if one else ""
        shown = expected.replace("\0", "\ufffd").replace("\r\n", "\n").replace("\r", "\n")
        assert blocks[0].content.encode("utf-8") == shown.encode("utf-16", "surrogatepass").decode(
            "utf-16", "replace"
        ).encode("utf-8")


def test_the_fence_of_a_block_is_longer_than_every_fence_in_it() -> None:
    assert suggestion_block("````\n") == "`````suggestion\n````\n`````"
    assert suggestion_block("") == "```suggestion\n```"


def test_on_old_lines_a_suggestion_is_plain_code(tmp_path: Path) -> None:
    (review,) = reviews(folder(tmp_path / "output", [commented(comment(42, side="old", suggestion="x"))], run()))
    assert review["comments"][0]["body"] == "Wrong\n\nSuggested instead:\n\n```\nx\n```"


def test_each_verdict_is_an_event(tmp_path: Path) -> None:
    given = [
        commented(verdict={"decision": "approve"}, annotator="a"),
        commented(verdict={"decision": "comment_only"}, annotator="b"),
        commented(verdict={"decision": "merge"}, annotator="c"),
        commented(comment(42), annotator="d"),
        record(annotations={"file_ratings": {"src/parser.py": {"correctness": 1}}}, annotator="e"),
    ]
    found = reviews(folder(tmp_path / "output", given, run()))
    assert [(review["event"], review.get("body")) for review in found] == [
        ("APPROVE", None),
        ("COMMENT", "Comments: 0."),
        ("COMMENT", "Verdict: merge"),
        ("COMMENT", "Comments: 1."),
    ]


# --- sarif ---


def sarif(source: Path) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(exported(source, "sarif", ".sarif"))
    schema = json.loads((SCHEMAS / "sarif-2.1.0.json").read_text())
    checker = jsonschema.validators.validator_for(schema).FORMAT_CHECKER
    jsonschema.validate(log, schema, format_checker=checker)
    return log


def test_comments_are_results_that_the_schema_takes(tmp_path: Path) -> None:
    log = sarif(folder(tmp_path / "output", [record(), record(annotator="second"), record("other")], run()))
    first, second = log["runs"]
    assert [one["automationDetails"]["id"] for one in log["runs"]] == ["trace_042", "other"]
    assert len(first["results"]) == 6
    assert [rule["id"] for rule in first["tool"]["driver"]["rules"]] == ["bug", "style", "praise"]
    assert first["tool"]["driver"]["rules"][0]["shortDescription"] == {"text": "Bug"}
    assert [(one["ruleId"], one["level"]) for one in first["results"][:3]] == [
        ("bug", "error"),
        ("style", "note"),
        ("praise", "note"),
    ]
    place = first["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "src/parser.py"
    assert place["region"] == {"startLine": 42, "endLine": 42, "snippet": {"text": "line 42 changed"}}
    assert first["results"][3]["properties"]["annotator"] == "second"
    # What is not of the trace's files is still a finding, without the text of its lines.
    assert "snippet" not in second["results"][0]["locations"][0]["physicalLocation"]["region"]


def test_lines_of_the_old_file_and_of_excerpts_are_no_regions(tmp_path: Path) -> None:
    given = commented(comment(42, side="old", suggestion="x"), comment(3, numbering="excerpt"), comment(15))
    log = sarif(folder(tmp_path / "output", [given], run()))
    old, excerpt, new = log["runs"][0]["results"]
    for result in (old, excerpt):
        assert "region" not in result["locations"][0]["physicalLocation"]
        assert "fixes" not in result
    assert (old["properties"]["side"], old["properties"]["line_start"]) == ("old", 42)
    assert excerpt["properties"]["numbering"] == "excerpt"
    assert new["locations"][0]["physicalLocation"]["region"]["startLine"] == 15
    assert new["ruleId"] == "comment"


def test_every_path_is_an_address_and_every_text_a_message(tmp_path: Path) -> None:
    names = ["a b.py", "c:d.py", "ü#?.py", "x\udcff", "%41"]
    given = [{"file": name, "line_start": 1, "comment": text} for name in names for text in [*HOSTILE, ""]]
    log = sarif(folder(tmp_path / "output", [commented(*given)], run()))
    found = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in log["runs"][0]["results"]
    }
    assert found == {"a%20b.py", "c%3Ad.py", "%C3%BC%23%3F.py", "x%FF", "%2541"}


def test_suggestions_are_fixes(tmp_path: Path) -> None:
    given = commented(comment(15, end=16, suggestion="one\ntwo\n"), comment(42, suggestion=""))
    changed, gone = (
        result["fixes"][0]["artifactChanges"][0]["replacements"][0]
        for result in sarif(folder(tmp_path / "output", [given], run()))["runs"][0]["results"]
    )
    assert changed == {"deletedRegion": {"startLine": 15, "endLine": 16}, "insertedContent": {"text": "one\ntwo"}}
    assert gone == {"deletedRegion": {"startLine": 42, "startColumn": 1, "endLine": 43, "endColumn": 1}}


# --- code_repair ---


def applied(patch: str, path: str, content: bytes, scratch: Path) -> bytes:
    """The file after `git apply`, in a folder of its own."""
    file = scratch / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"],
        cwd=scratch,
        input=patch.encode("utf-8"),
        capture_output=True,
        env={"PATH": "/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(scratch.parent), "HOME": str(scratch)},
        check=False,
    )
    assert done.returncode == 0, (done.stderr, patch)
    return file.read_bytes()


def test_a_suggestion_is_a_patch_of_what_the_agent_wrote(tmp_path: Path) -> None:
    (row,) = json_lines(exported(folder(tmp_path / "output", [record()], run()), "code_repair", ".jsonl"))
    assert (row["file"], row["line_start"], row["category"], row["severity"]) == (
        "src/parser.py",
        42,
        "bug",
        "critical",
    )
    assert row["before"] == "line 42 changed\n"
    assert row["after"] == "if tokens:\n    return tokens[0]\nreturn None\n"
    assert row["diff_hunk"].startswith("@@ -39,7 +39,7 @@")
    content = numbered(60, (15, 42))
    mended = applied(row["patch"], "src/parser.py", content.encode(), tmp_path / "checkout")
    assert mended.decode() == content.replace(row["before"], row["after"])


BASES = {
    "line feeds": numbered(12),
    "no end": numbered(12).removesuffix("\n"),
    "carriage returns": numbered(12).replace("\n", "\r\n"),
    "one line": "only\n",
    "bare": "only",
    "same lines": "same\n" * 30,
}


# Of the one line of a hunk nobody knows whether another one follows.
@pytest.mark.parametrize(
    ("name", "known"),
    [(name, known) for name in BASES for known in ("whole", "hunks") if (name, known) != ("one line", "hunks")],
)
def test_every_suggestion_in_the_file_applies_and_changes_those_lines_alone(
    name: str, known: str, tmp_path: Path
) -> None:
    new = BASES[name]
    lines = new.splitlines(keepends=True)
    old = "".join(line for at, line in enumerate(lines) if at not in (0, 6, len(lines) - 1)) + "gone\n"
    outcome = FileOutcome("dir/a b.py", "modified", old_text=old, new_text=new)
    change = FileChange("dir/a b.py", "dir/a b.py", "modified", "patch", hunks=diff_texts(old, new))
    given = (
        AgentRun("trace_042", "Fix", events=(outcome,), event_steps=(None,))
        if known == "whole"
        else AgentRun("trace_042", "Fix", patch=unified_patch([change]))
    )
    numbers = random.Random(name)  # noqa: S311 - the same places each time
    starts = [numbers.randint(1, len(lines)) for _ in range(25)]
    places = [(start, numbers.randint(start, len(lines))) for start in starts] + [(1, 1), (len(lines), len(lines))]
    texts = ["", "x", "x\ny", "\n", "same", "é ☃"]
    comments = [
        {"file": "dir/a b.py", "line_start": a, "line_end": b, "comment": "c", "suggestion": numbers.choice(texts)}
        for a, b in places
    ]
    rows = json_lines(exported(folder(tmp_path / "output", [commented(*comments)], given), "code_repair", ".jsonl"))
    assert rows
    for at, row in enumerate(rows):
        mended = applied(row["patch"], row["file"], new.encode(), tmp_path / f"checkout{at}").decode()
        first, last = row["line_start"], row["line_end"]
        assert row["before"] == "".join(lines[first - 1 : last])
        assert mended == "".join([*lines[: first - 1], row["after"], *lines[last:]])
    if known == "whole":
        assert len(rows) >= len(comments) - sum(one["suggestion"] == "same" for one in comments)


def test_the_last_line_of_a_file_that_a_patch_made_is_known_to_be_the_last(tmp_path: Path) -> None:
    change = FileChange("new.py", "", "added", "patch", hunks=diff_texts("", "one\ntwo\n"))
    made = AgentRun("trace_042", "Fix", patch=unified_patch([change]))
    given = commented({"file": "new.py", "line_start": 2, "comment": "c", "suggestion": "2"})
    (row,) = json_lines(exported(folder(tmp_path / "output", [given], made), "code_repair", ".jsonl"))
    assert applied(row["patch"], "new.py", b"one\ntwo\n", tmp_path / "checkout") == b"one\n2\n"


def test_what_cannot_be_applied_is_left_out_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = numbered(60, (15, 42))
    given = commented(
        comment(42, side="old", suggestion="x"),
        comment(42, suggestion="line 42 changed"),
        comment(99, suggestion="x"),
        comment(3, numbering="excerpt", suggestion="x"),
        {**comment(1, suggestion="x"), "file": "../outside.py"},
        {**comment(1, suggestion="x"), "file": "bytes.py"},
        comment(42, "no suggestion"),
        comment(42, suggestion="lone \udcff"),
    )
    events = (
        FileOutcome("src/parser.py", "modified", old_text=numbered(60), new_text=content),
        FileOutcome("../outside.py", "added", new_text="a\n"),
        FileOutcome("bytes.py", "added", new_text="a\udcff\n"),
    )
    made = AgentRun("trace_042", "Fix", events=events, event_steps=(None,) * 3)
    said = refused(capsys, folder(tmp_path / "output", [given], made), "code_repair", suffix=".jsonl")
    assert "no comment has a suggestion that applies" in said
    for reason in ("1 on old lines", "1 without change", "2 on unknown lines", "1 outside checkout", "2 not utf8"):
        assert reason in said


@pytest.mark.parametrize(
    ("format", "suffix"), [("github_review", ".jsonl"), ("sarif", ".sarif"), ("code_repair", ".jsonl")]
)
def test_each_writes_the_same_without_django_and_nothing_is_no_file(
    format: str, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = folder(tmp_path / "output", [record()], run())
    done = without_django("-i", str(source), "-f", format, "-o", f"out{suffix}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"out{suffix}").read_bytes() == exported(source, format, suffix)
    empty = folder(tmp_path / "empty", [record(annotations={"file_ratings": {}})], run())
    (tmp_path / f"written-{format}{suffix}").unlink()
    assert "The export selects nothing" in refused(capsys, empty, format, suffix=suffix)
