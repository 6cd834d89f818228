"""JUnit XML, as pytest, Maven, Gradle, Jest, go-junit-report and most runners of tests write it.

Field notes
- `testsuites` holds `testsuite`s, which may hold further ones; or one `testsuite` is the document. `testcase` has name,
  classname, time, and of pytest (`xunit1`), Jest and others file and line.
- A case without a child has passed. Children: failure, error, skipped; of Surefire rerunFailure, rerunError,
  flakyFailure and flakyError, of which the flaky ones passed in the end. `status="notrun"` or `"skipped"` are those of
  GoogleTest.
- `properties` of a suite may name the run: `trace_id`, `instance_id`, `task_id`, and `model`.
- system-out and system-err may have megabytes, and are not read.
- The document is read as a stream by expat. One that declares a document type is refused as a whole, so that no entity
  of its own can be named; so is one that is nested without end.
"""

from collections import Counter
from xml.parsers import expat

from potato.checks.model import (
    BOUNDS,
    Counts,
    Report,
    ReportBounds,
    Test,
    TestOutcome,
    UnreadableReport,
    kept_tests,
    short,
)
from potato.checks.values import line_number, path_of, seconds

_ROOTS = (b"<testsuites", b"<testsuite")
_VERDICTS: dict[str, TestOutcome] = {"failure": "failed", "error": "error", "skipped": "skipped"}
_NOT_RUN = frozenset({"notrun", "skipped", "disabled"})
_IDS = ("trace_id", "instance_id", "task_id", "id")
_MODELS = ("model", "agent_model", "model_name_or_path")
_BLOCK = 2**16


def is_junit(head: bytes) -> bool:
    """Whether a file that begins so is such a report."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return text.startswith(b"<") and any(root in head[:8192] for root in _ROOTS)


def read_junit(data: bytes, bounds: ReportBounds = BOUNDS) -> Report:
    """The report. Raises UnreadableReport."""
    return _Reader(bounds).read(data)


class _Reader:
    def __init__(self, bounds: ReportBounds) -> None:
        self._bounds = bounds
        self._depth = 0
        self._suites: list[str] = []
        self._first_suite = ""
        self._tests: list[Test] = []
        self._counted: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._named: dict[str, str] = {}
        self._case: dict[str, str] | None = None
        self._outcome: TestOutcome = "passed"
        self._message = ""
        self._text: list[str] | None = None
        self._text_length = 0

    def read(self, data: bytes) -> Report:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = _refuse_declarations
        parser.EntityDeclHandler = _refuse_declarations
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._say
        try:
            for at in range(0, len(data), _BLOCK):
                parser.Parse(data[at : at + _BLOCK], False)
            parser.Parse(b"", True)
        except (expat.ExpatError, ValueError, LookupError) as error:
            raise UnreadableReport("bad_xml", f"It is no XML that can be read: {error}. Write it again.") from None
        counts = Counts(*(self._counted[outcome] for outcome in ("passed", "failed", "error", "skipped")))
        if not counts:
            raise UnreadableReport("no_tests", "The JUnit report has no test case: nothing to show.")
        return Report(
            "junit",
            self._first_suite or "tests",
            ids=tuple(self._named[key] for key in _IDS if self._named.get(key)),
            model=next((self._named[key] for key in _MODELS if self._named.get(key)), ""),
            outcome=counts.outcome,
            counts=counts,
            tests=kept_tests(self._tests, self._left_out, self._bounds),
            left_out=self._left_out,
        )

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > self._bounds.depth:
            raise UnreadableReport("too_deep", f"The XML is nested deeper than {self._bounds.depth}.")
        tag = name.rpartition(":")[2]
        if tag == "testsuite":
            suite = short(attributes.get("name", ""), self._bounds.path)
            self._first_suite = self._first_suite or suite
            self._suites.append(suite)
        elif tag == "testcase":
            self._case, self._message = attributes, ""
            status = attributes.get("status", attributes.get("result", "")).lower()
            self._outcome = "skipped" if status in _NOT_RUN else "passed"
        elif tag == "property" and self._case is None:
            key = attributes.get("name", "")
            if key in (*_IDS, *_MODELS):
                self._named.setdefault(key, short(attributes.get("value", "").strip(), 300))
        elif self._case is not None and tag in _VERDICTS:
            # The gravest of several stands.
            if self._outcome in ("passed", "skipped"):
                self._outcome = _VERDICTS[tag]
                self._message = attributes.get("message", "")
            self._text, self._text_length = [], 0

    def _say(self, text: str) -> None:
        if self._text is not None and self._text_length < self._bounds.text:
            self._text.append(text)
            self._text_length += len(text)

    def _end(self, name: str) -> None:
        self._depth -= 1
        tag = name.rpartition(":")[2]
        if tag == "testsuite" and self._suites:
            self._suites.pop()
        elif tag in _VERDICTS and self._text is not None:
            said = "".join(self._text).strip()
            if said and said not in self._message:
                self._message = f"{self._message}\n{said}".strip()
            self._text = None
        elif tag == "testcase" and self._case is not None:
            self._add(self._case)
            self._case = None

    def _add(self, case: dict[str, str]) -> None:
        self._counted[self._outcome] += 1
        # Those that failed are kept first: a suite may have a hundred thousand that passed.
        if len(self._tests) >= 2 * self._bounds.tests and self._outcome in ("passed", "skipped"):
            self._left_out["test over the bound"] += 1
            return
        if len(self._tests) >= 4 * self._bounds.tests:
            self._left_out["test over the bound"] += 1
            return
        self._tests.append(
            Test(
                name=short(case.get("name", "").strip() or "unnamed", self._bounds.path),
                outcome=self._outcome,
                group=short(case.get("classname", "") or next(filter(None, reversed(self._suites)), ""), 300),
                message=short(self._message, self._bounds.text),
                file=path_of(case.get("file", "")),
                line=line_number(case.get("line", "")),
                seconds=seconds(case.get("time", "")),
            )
        )


def _refuse_declarations(*_: object) -> None:
    raise UnreadableReport(
        "document_type", "It declares a document type or entities of its own, which reports of tests never need."
    )
