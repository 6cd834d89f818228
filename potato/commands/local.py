"""What the command `potato` does without a site: check a configuration, convert runs, review one's own runs."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from potato.checks.reading import NAMES, report_kind
from potato.commands.own_site import own_site
from potato.commands.terminal import DONE, FAILED, Failure, coloured, put_json, say
from potato.configuration import check_configuration
from potato.runs.converters.detection import AUTOMATIC, NotATrace, choose
from potato.runs.converters.native import run_as_native
from potato.runs.model import Converted, ReadingOptions, StatedTask, TooLarge, Unreadable
from potato.runs.packages import reports_among, run_files
from potato.runs.run_files import HEAD_BYTES, source_at
from potato.wording import counted

_IMPORT_IT = "`potato import` brings it in, beside the runs that it names."


def check(flags: argparse.Namespace) -> int:
    """Everything that is wrong with a configuration, as the site would say it."""
    text = read_text(flags.config)
    if kind := report_kind(text.encode()[:HEAD_BYTES], flags.config.name):
        raise Failure(f"{flags.config} is {NAMES[kind]} and no configuration. {_IMPORT_IT}")
    checked = check_configuration(text, where="command")
    if flags.json:
        problems = [
            {
                "line": problem.line,
                "column": problem.column,
                "severity": problem.severity,
                "code": problem.code,
                "path": list(problem.path),
                "message": problem.message,
            }
            for problem in checked.problems
        ]
        put_json({"is_publishable": checked.configuration is not None, "problems": problems})
    else:
        for problem in checked.problems:
            print(coloured(f"{flags.config}, {problem}", "red" if problem.severity == "error" else "yellow"))
        if checked.configuration is not None:
            schemes = counted(len(checked.configuration.annotation_schemes), "scheme")
            print(f"{flags.config} can be published: {schemes}.")
    return DONE if checked.configuration is not None else FAILED


def convert(flags: argparse.Namespace) -> int:
    """Runs of any format that is read, written as Potato's own: a line each. A file is there whole or as it was; one
    that is also read is replaced once it has been."""
    if flags.json and flags.output is None:
        raise Failure("--json needs -o: without it the runs themselves go to stdout.")
    named = {path.resolve() for path in flags.files}
    earlier = set() if flags.output is None else {flags.output.resolve()} - named
    files = [path for path in files_in(flags.files) if path.resolve() not in earlier]
    part = None if flags.output is None else flags.output.with_name(f".{flags.output.name}.part")
    output = sys.stdout if part is None else part.open("w", encoding="utf-8")
    runs, unread = 0, []
    try:
        for path in files:
            for entry in entries_of(path, flags.format):
                if isinstance(entry, Converted):
                    native = run_as_native(entry.run)
                    native.setdefault("id", entry.run.external_id or path.stem)
                    output.write(json.dumps(native) + "\n")
                    runs += 1
                else:
                    unread.append({"file": str(path), "entry": entry.place, "sentence": entry.sentence})
                    say(f"{path}, entry {entry.place}: {entry.sentence}", colour="yellow")
        if part is not None:
            output.close()
            if runs:
                part.replace(flags.output)
    finally:
        if part is not None:
            output.close()
            part.unlink(missing_ok=True)
    if flags.json:
        put_json({"runs": runs, "files": len(files), "unread": unread})
    say(f"{counted(runs, 'run')} of {counted(len(files), 'file')} written, {len(unread)} not read.")
    return DONE if runs and not (flags.strict and unread) else FAILED


def entries_of(path: Path, format: str) -> Iterator[Converted | Unreadable]:
    try:
        source = source_at(path)
        chosen = choose(source, named=format or AUTOMATIC, explicit=bool(format))
        for entry in chosen.converter.read(source, ReadingOptions()):
            if not isinstance(entry, StatedTask):
                yield entry
    except (NotATrace, TooLarge) as refusal:
        yield Unreadable(1, "not_a_trace", report_sentence(path) or str(refusal))
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror}.") from None


def report_sentence(path: Path) -> str:
    """What a file is that holds what tests or checkers say of runs, and where it belongs; "" for every other file."""
    with path.open("rb") as opened:
        kind = report_kind(opened.read(HEAD_BYTES), path.name)
    if kind is None:
        return ""
    return f"{path.name} is {NAMES[kind]} and no run. {_IMPORT_IT}"


def files_in(paths: list[Path]) -> Iterator[Path]:
    """The files that may be runs, and of folders also the reports, which are named as such and not read."""
    for path in paths:
        if path.is_dir():
            root = path.resolve()
            inside = [file for file in root.rglob("*") if file.is_file() and file.resolve().is_relative_to(root)]
            reports = reports_among(file.relative_to(root).as_posix() for file in inside)
            yield from sorted({*run_files(path), *(root / name for name in reports)})
        elif path.is_file():
            yield path
        else:
            raise Failure(f"There is no file {path}.")


def review(flags: argparse.Namespace) -> NoReturn:
    """Start the site on this machine with one project of these runs, and open it in the browser."""
    missing = [str(path) for path in flags.files if not path.exists()]
    if missing:
        raise Failure(f"There is no file {', '.join(missing)}.")
    site = own_site(lambda sentence: say(f"potato: {sentence}"))
    command = [str(site.python), str(site.manage), "run", "--review", *(str(path.resolve()) for path in flags.files)]
    command += ["--template", flags.template] + ([] if flags.browser else ["--no-browser"])
    # In the place of this program: what ends it, Ctrl-C above all, is the site's, which puts its servers away.
    os.chdir(site.folder)
    sys.stdout.flush()
    os.execv(command[0], command)  # noqa: S606 - as a list, through no shell


def read_text(path: Path) -> str:
    """Of a file in UTF-8. Raises Failure."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise Failure(f"{path} is not UTF-8 text: byte {error.start} cannot be decoded.") from None
