"""The format `patch`: a unified diff, a mail of `git format-patch`, or a mailbox of such mails.

Field notes
- A plain diff is one run, whose id is the file's name; its task is unknown. Text before the diff belongs to nobody.
- A mail by itself is a run: id = commit or Message-Id (else the file's name and the mail's number), task = subject
  without "[PATCH n/m]" and the commit's message. A mail without a diff is an error by name.
- Mails of one series, "[PATCH 1/3]" to "[PATCH 3/3]" one after another in a mailbox, are one run, whose steps are their
  commits. Its task is the cover letter's, "[PATCH 0/3]", else their subjects; its id that of the last one. Which of
  them are missing is said. One patch of a series that comes alone is a mail by itself.
- Who made a patch is unknown: the sender of a mail need not be the agent.
- Patches have no encoding: bytes stay as they are.
"""

import codecs
from collections.abc import Iterator

from potato.runs.converters.commits import Commit, commit_steps
from potato.runs.converters.mail import DIFF, PatchMail, begins_mail, read_mails, split_at_diff
from potato.runs.converters.outline import detect_outline
from potato.runs.model import (
    AgentRun,
    ConversionReport,
    Converted,
    ReadingOptions,
    ReadPosition,
    RunFile,
    TooLarge,
    Unreadable,
)
from potato.runs.run_files import in_words

_SUFFIXES = (".patch", ".diff", ".mbox", ".eml")


class Patch:
    """Unified diffs and patches by mail."""

    name = "patch"
    label = "Unified diff, git format-patch, mbox"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        if detect_outline(head, filename).layout != "text":
            return 0.0, "it is JSON, or empty"
        text = head.removeprefix(codecs.BOM_UTF8).lstrip()
        if begins_mail(text):
            if DIFF.search(text) or filename.lower().endswith(_SUFFIXES):
                return 1.0, "it begins with a mail that carries a patch"
            return 0.3, "it begins with a mail, but no diff was seen in it"
        if DIFF.search(text):
            return 0.9, "it has a line that begins a diff"
        return 0.0, "no line begins a diff"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        head = lines.head()
        report = ConversionReport()
        if head.startswith(codecs.BOM_UTF8):
            report.repairs["byte order mark"] += 1
        if begins_mail(head.removeprefix(codecs.BOM_UTF8).lstrip()):
            yield from _mails(lines, options, report)
            return
        try:
            data = lines.whole()
        except TooLarge as error:
            yield Unreadable(1, "too_large", str(error))
            return
        _, diff = split_at_diff(data.removeprefix(codecs.BOM_UTF8))
        if diff:
            yield Converted(AgentRun(external_id=lines.name, task="", patch=diff), report, 1)
        else:
            yield Unreadable(1, "no_diff", f"{lines.name} holds no diff: no line begins with diff --git, ---, or @@.")


def _mails(source: RunFile, options: ReadingOptions, report: ConversionReport) -> Iterator[Converted | Unreadable]:
    series: _Series | None = None
    first = source.begin.before + 1
    for place, (mail, end) in enumerate(read_mails(source, options.bounds), first):
        after = ReadPosition(end, place)
        if series is not None and (mail is None or not series.goes_on_with(mail, options)):
            yield from series.converted(source.name)
            series = None
        if mail is None:
            most = in_words(options.bounds.document_bytes)
            yield Unreadable(place, "too_large", f"Mail {place} has more than {most}, which a mail may have.", after)
            continue
        if series is not None:
            series.add(mail, place, after)
            continue
        series = _Series(report if place == 1 else ConversionReport())
        series.add(mail, place, after)
    if series is not None:
        yield from series.converted(source.name)


class _Series:
    """Mails of one series, or a mail by itself."""

    def __init__(self, report: ConversionReport) -> None:
        self._report = report
        self._mails: list[tuple[PatchMail, int, ReadPosition]] = []
        self._size = 0

    def add(self, mail: PatchMail, place: int, after: ReadPosition) -> None:
        self._mails.append((mail, place, after))
        self._size += len(mail.diff) + len(mail.task)

    def goes_on_with(self, mail: PatchMail, options: ReadingOptions) -> bool:
        """Whether the mail is a later one of this series, which may still grow."""
        last = self._mails[-1][0]
        is_later = bool(mail.series) and mail.series == last.series and mail.number > last.number
        return is_later and self._size + len(mail.diff) <= options.bounds.run_bytes

    def converted(self, filename: str) -> Iterator[Converted | Unreadable]:
        patches = [mail for mail, _, _ in self._mails if mail.diff]
        if len(patches) < 2:
            for mail, place, after in self._mails:
                yield _alone(mail, place, after, filename, self._report)
                self._report = ConversionReport()
            return
        cover = self._mails[0][0] if not self._mails[0][0].number else None
        for mail, _, _ in self._mails:
            if not mail.diff and mail is not cover:
                self._report.dropped["mail of the series without a diff"] += 1
        place, after = self._mails[0][1], self._mails[-1][2]
        read = commit_steps(Commit(mail.identity, mail.task, mail.sent_at, mail.diff) for mail in patches)
        numbers = {mail.number for mail, _, _ in self._mails}
        missing = [str(number) for number in range(1, patches[0].total + 1) if number not in numbers]
        gap = f"Of the series of {patches[0].total} patches, these are not in the file: {', '.join(missing[:20])}."
        run = AgentRun(
            external_id=patches[-1].identity or f"{filename}#{place}",
            task=cover.task if cover else "\n".join(mail.task.partition("\n")[0] for mail in patches),
            steps=read.steps,
            events=read.events,
            event_steps=read.event_steps,
            patch=read.patch,
            started_at=patches[0].sent_at,
            gaps=(gap,) if missing else (),
        )
        yield Converted(run, self._report, place, after)


def _alone(
    mail: PatchMail, place: int, after: ReadPosition, filename: str, report: ConversionReport
) -> Converted | Unreadable:
    if not mail.diff:
        called = f" ({mail.task.partition(chr(10))[0][:80]})" if mail.task else ""
        sentence = f"Mail {place}{called} carries no diff, so there is nothing to judge."
        return Unreadable(place, "no_diff", sentence, after)
    run = AgentRun(
        external_id=mail.identity or f"{filename}#{place}", task=mail.task, patch=mail.diff, started_at=mail.sent_at
    )
    return Converted(run, report, place, after)
