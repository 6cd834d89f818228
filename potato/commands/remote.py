"""What the command `potato` asks of a site. Each function is one command, and answers its exit code."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import glob
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from potato.api.checks import TraceChecks
from potato.api.imports import Import
from potato.client import (
    Client,
    InvalidRequest,
    JobFailed,
    NoAnswer,
    NotAcceptable,
    NotFound,
    NothingToSend,
    Project,
    Refused,
    bars,
)
from potato.client.credentials import Login, forget, keep, saved_login
from potato.commands.local import read_text
from potato.commands.terminal import DONE, FAILED, Failure, put_json, put_table, say
from potato.configuration import check_configuration
from potato.records.archives import RecordsError, parsed_object
from potato.wording import counted


@contextmanager
def _opened_client(flags: argparse.Namespace) -> Iterator[Client]:
    with Client(flags.site, progress=bars()) as client:
        yield client


# --- Who asks ---


def login(flags: argparse.Namespace) -> int:
    """Try a token, and keep it."""
    address = flags.address or flags.site or _prompted("Address of the site: ")
    token = sys.stdin.readline().strip() if flags.token_from_stdin else getpass.getpass("API token: ").strip()
    if not token:
        raise Failure("No token was given. An admin makes one on the page of a member or a service account.")
    with Client(address, token) as client:
        caller = client.whoami()
    where = keep(Login(address.rstrip("/"), token))
    say(f"You are {caller.name} of {caller.organisation.name}. The token is kept in {where}.")
    return DONE


def _prompted(question: str) -> str:
    if not sys.stdin.isatty():
        raise Failure("Say which site: potato login https://potato.example.org")
    return input(question).strip()


def logout(flags: argparse.Namespace) -> int:
    """Forget the token."""
    address = forget()
    say(f"The token for {address} is forgotten here; revoke it on the site to end it." if address else "None was kept.")
    return DONE


def whoami(flags: argparse.Namespace) -> int:
    """Who the token acts as."""
    with _opened_client(flags) as client:
        caller = client.whoami()
    if flags.json:
        put_json(caller)
        return DONE
    print(f"{caller.name}, {caller.role} of {caller.organisation.name} at {saved_login(flags.site).address}")
    if caller.token is not None:
        until = f"until {caller.token.expires_at:%Y-%m-%d}" if caller.token.expires_at else "without an end"
        print(f"token {caller.token.name}, {until}, for: {', '.join(caller.token.scopes)}")
    return DONE


def projects(flags: argparse.Namespace) -> int:
    """The published projects, and how far they are."""
    with _opened_client(flags) as client:
        found = client.projects()
    if flags.json:
        put_json(found)
    else:
        put_table(
            ("project", "name", "done", "target"),
            [(one.slug, one.name, one.progress.done, one.progress.target) for one in found],
        )
    return DONE


# --- What comes in ---


def load(flags: argparse.Namespace) -> int:
    """Publish a configuration as a project, which is made where it is missing, and import its data files."""
    text = read_text(flags.config)
    checked = check_configuration(text, where="command")
    if checked.configuration is None:
        for problem in checked.errors:
            say(f"{flags.config}, {problem}", colour="red")
        raise Failure(f"{flags.config} has {counted(len(checked.errors), 'error')}; nothing was changed.")
    root = flags.config.resolve().parent
    folder = root / checked.configuration.task_dir
    files = [folder / name for name in checked.configuration.data_files or ()]
    outside = [str(path) for path in files if not path.resolve().is_relative_to(root) or not path.exists()]
    if outside:
        raise Failure(f"data_files: {', '.join(outside)} is not in the folder of {flags.config}; nothing was changed.")
    with _opened_client(flags) as client:
        project = client.project(flags.project)
        try:
            project.state()
        except NotFound:
            client.make_project(flags.project, flags.name or checked.configuration.task_name)
        try:
            version = project.publish(text, note=flags.note, confirmed=flags.confirm)
        except Refused as refused:
            losses = [loss["sentence"] for loss in refused.facts.get("losses") or ()]
            if not losses:
                raise
            raise Failure("\n".join([f"{refused.detail} Say --confirm if that is meant:", *losses])) from None
        imports = project.import_files(*files, format="") if files else []
    if flags.json:
        shown = [one.model_dump(mode="json") for one in imports]
        put_json({"project": flags.project, "version": version.number, "imports": shown})
    else:
        print(f"{flags.project}: version {version.number} is published.")
        for one in imports:
            print(_sentence(one))
    return DONE


def import_files(flags: argparse.Namespace) -> int:
    """Send files, folders or what comes from stdin, and wait until they are read."""
    with _opened_client(flags) as client:
        project = client.project(flags.project)
        if flags.follow:
            return _follow(project, flags)
        with _from_stdin(flags) as paths:
            imports = project.import_files(*paths, format=flags.format, wait=flags.wait)
    for one in imports:
        if flags.json:
            put_json(one)
        else:
            print(_sentence(one))
    came = sum(one.imported + one.known + one.stated for one in imports)
    return DONE if came or not flags.wait else FAILED


@contextmanager
def _from_stdin(flags: argparse.Namespace) -> Iterator[list[Path]]:
    """The paths that were named: patterns are expanded where the shell has not done it, and - is what stdin has."""
    if not flags.files:
        raise Failure("Name files, folders or patterns to import, - for stdin, or --follow FOLDER.")
    with tempfile.TemporaryDirectory() as folder:
        paths: list[Path] = []
        for named in flags.files:
            if named == "-":
                path = Path(folder) / "stdin.jsonl"
                path.write_bytes(sys.stdin.buffer.read())
                paths.append(path)
            elif not Path(named).exists() and glob.has_magic(named):
                paths += map(Path, sorted(glob.glob(named, recursive=True)))
            else:
                paths.append(Path(named))
        yield paths


def import_annotations(flags: argparse.Namespace) -> int:
    """Send what another tool wrote, wait until it is read, and name what has no place."""
    names, values = _pairs(flags.name), _pairs(flags.value)
    with _opened_client(flags) as client:
        one = client.project(flags.project).import_annotations(
            flags.path,
            tool=flags.tool,
            trace=flags.trace,
            id_key=flags.id_key,
            names=names,
            values=values,
            version=flags.source_version,
        )
    if flags.json:
        put_json(one)
    else:
        left_out = f"{counted(one.left_out, 'part')} left out"
        print(f"{one.name}: {one.taken} new, {one.known} known, {one.refused} refused, {left_out}")
        for problem in one.problems:
            say(f"{problem.place}: {problem.sentence}", colour="yellow")
    return FAILED if flags.strict and (one.refused or one.left_out) else DONE


def _pairs(texts: list[str]) -> dict[str, str]:
    """What THEIRS=OURS says, each."""
    pairs = {}
    for text in texts:
        theirs, _, ours = text.rpartition("=")
        if not theirs.strip() or not ours.strip():
            raise Failure(f"{text!r} must be THEIRS=OURS, as in reward=verdict.")
        pairs[theirs.strip()] = ours.strip()
    return pairs


def _follow(project: Project, flags: argparse.Namespace) -> int:
    """Import what comes into a folder, again and again: each file once nobody has written to it between two looks."""
    folder = Path(flags.follow)
    if flags.files or not folder.is_dir():
        raise Failure("--follow takes one folder, and no files beside it.")
    sent: dict[Path, tuple[int, int]] = {}
    seen: dict[Path, tuple[int, int]] = {}
    say(f"Following {folder} every {flags.every:g} s. Ctrl-C ends it.")
    while True:
        found = {path: _state(path) for path in sorted(folder.rglob("*")) if path.is_file() and path.name[0] != "."}
        still = [path for path, state in found.items() if state == seen.get(path) and sent.get(path) != state]
        for path in still:
            try:
                (one,) = project.import_files(path, format=flags.format)
            except NoAnswer as unanswered:
                say(f"{path}: {unanswered} It is sent again.", colour="yellow")
                continue
            except (JobFailed, NothingToSend, InvalidRequest, NotAcceptable) as failed:
                # It is this file's fault: it is sent again when somebody has changed it.
                say(f"{path}: {failed}", colour="red")
                sent[path] = found[path]
                continue
            sent[path] = found[path]
            if flags.json:
                put_json(one)
            else:
                print(_sentence(one), flush=True)
        if flags.once and not still and found == seen:
            return DONE
        seen = found
        time.sleep(flags.every)


def _state(path: Path) -> tuple[int, int]:
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_size


def _sentence(one: Import) -> str:
    if one.state in ("queued", "running"):
        return f"{one.name}: on its way, import {one.id}"
    parts = [f"{counted(one.imported, 'trace')} imported", f"{one.known} known"]
    if one.stated:
        parts.append(f"{counted(one.stated, 'text')} of tasks")
    if one.errors:
        parts.append(f"{one.errors} not read")
    return f"{one.name}: {', '.join(parts)}"


# --- What goes on ---


def watch(flags: argparse.Namespace) -> int:
    """Tell how far a project is whenever that changes, until it has all its annotations."""
    with _opened_client(flags) as client:
        before = None
        while True:
            found = next((one for one in client.projects() if one.slug == flags.project), None)
            if found is None:
                raise Failure(f"There is no published project {flags.project} that you may see.")
            if found.progress != before:
                before = found.progress
                if flags.json:
                    put_json(found)
                else:
                    print(f"{time.strftime('%H:%M:%S')}  {before.done:,} of {before.target:,} annotations", flush=True)
            if before.done >= before.target:
                return DONE
            time.sleep(flags.every)


def people(flags: argparse.Namespace) -> int:
    """Who works on a project; put somebody on it, take them off, invite."""
    with _opened_client(flags) as client:
        project = client.project(flags.project)
        if flags.put is not None:
            project.put_person(flags.put[0], flags.put[1])
        if flags.remove is not None:
            project.remove_person(flags.remove)
        if flags.invite:
            invitations = project.invite(flags.invite, role=flags.role)
            if flags.json:
                put_json(invitations)
            else:
                put_table(("address", "link"), [(one.email, one.link) for one in invitations])
            return DONE
        found = project.people()
    if flags.json:
        put_json(found)
    else:
        put_table(
            ("name", "role", "done", "this week", "held", "agreement", "state"),
            [
                (
                    one.name,
                    one.role,
                    one.done,
                    one.done_this_week,
                    one.held,
                    one.agreement,
                    "paused" if one.paused_at else "",
                )
                for one in found.people
            ],
        )
    return DONE


def repositories(flags: argparse.Namespace) -> int:
    """The repositories that are attached to a project; attach one, remove one."""
    with _opened_client(flags) as client:
        project = client.project(flags.project)
        if flags.attach is not None:
            name, file = flags.attach
            project.attach_repository(name, file, commit=flags.commit, clone_url=flags.clone_url)
        if flags.remove is not None:
            project.remove_repository(_id(flags.remove))
        found = list(project.repositories())
    if flags.json:
        put_json(found)
    else:
        put_table(
            ("name", "file", "commits", "id"), [(one.name, one.file_name, one.commits, str(one.id)) for one in found]
        )
    return DONE


def checks(flags: argparse.Namespace) -> int:
    """The reports of a project in short; or what is known of one run, test by test and finding by finding."""
    with _opened_client(flags) as client:
        project = client.project(flags.project)
        if flags.trace is None:
            return _reports(flags, project)
        named = [one for one in project.traces(q=flags.trace) if one.external_id == flags.trace]
        if not named:
            raise Failure(f"{flags.project} has no run {flags.trace!r}.")
        found = project.checks(named[-1].id)
    if flags.json:
        put_json(found)
    else:
        put_table(("check", "outcome", "what", "said"), list(_outcome_rows(found)))
    return DONE


def _reports(flags: argparse.Namespace, project: Project) -> int:
    found = list(project.reports())
    if flags.json:
        put_json(found)
    else:
        put_table(
            ("run", "check", "outcome", "failed", "passed", "findings", "file"),
            [
                (
                    one.run or "(waits)",
                    one.name,
                    one.outcome,
                    one.failed + one.errors,
                    one.passed,
                    one.findings,
                    one.file,
                )
                for one in found
            ],
        )
    return DONE


def _outcome_rows(found: TraceChecks) -> Iterator[tuple[str, str, str, str]]:
    for run in found.test_runs:
        yield f"step {run.step}", run.outcome, run.runner, run.command
    for report in found.reports:
        for test in report.tests:
            yield report.name, test["outcome"], test["name"], test.get("message", "").partition("\n")[0]
        for finding in report.findings:
            line = f":{finding['line']}" if "line" in finding else ""
            yield report.name, finding["level"], f"{finding['path']}{line}", finding["message"].partition("\n")[0]


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Failure(f"{text!r} is no id of an attached file: they stand in the list.") from None


# --- What goes out ---


def export(flags: argparse.Namespace) -> int:
    """Ask for an export, wait, download the file and compare its SHA-256."""
    options = {}
    for given in flags.option:
        name, equals, value = given.partition("=")
        if not equals:
            raise Failure(f"--option {given}: write it as NAME=VALUE.")
        options[name.replace("-", "_")] = value
    if flags.output.is_dir():
        raise Failure(f"{flags.output} is a folder. Name a file with -o.")
    with _opened_client(flags) as client:
        ready = client.project(flags.project).export(flags.format, flags.output, options=options)
    if flags.json:
        put_json(ready)
    else:
        rows, size = counted(ready.rows, "row"), counted(ready.bytes, "byte")
        print(f"{flags.output}: {rows} of {ready.format}, {size}, sha256 {ready.sha256}")
    return DONE


def agreement(flags: argparse.Namespace) -> int:
    """Have it computed how far people agree."""
    with _opened_client(flags) as client:
        report = client.project(flags.project).agreement(
            tolerance=flags.tolerance, samples=flags.samples, seed=flags.seed
        )
    if flags.json:
        put_json(report)
        return DONE
    print(
        f"{counted(report.annotations, 'annotation')}, {counted(report.shared_traces, 'trace')} judged by two or more"
    )
    rows = []
    for one in report.summary:
        figure = one.estimate
        rows.append((one.title, one.scheme, one.measure, figure.value, figure.low, figure.high, figure.pairs))
    put_table(("what", "scheme", "measure", "value", "low", "high", "pairs"), rows)
    return DONE


def suggestions(flags: argparse.Namespace) -> int:
    """Write what models suggest, a record a line, or send the records of files."""
    with _opened_client(flags) as client:
        project = client.project(flags.project)
        if not flags.add:
            for row in project.suggestions():
                print(row.model_dump_json())
            return DONE
        taken = project.add_suggestions(_records(flags.add))
    if flags.json:
        put_json(taken.model_dump(mode="json"))
    else:
        print(f"{counted(taken.taken, 'suggestion')} taken, {taken.known:,} known, {len(taken.refused):,} refused")
        for one in taken.refused:
            say(f"  record {one.place}{f', {one.field}' if one.field else ''}: {one.sentence}", colour="red")
    return FAILED if taken.refused else DONE


def _records(files: list[Path]) -> Iterator[dict[str, Any]]:
    for file in files:
        try:
            lines = file.read_bytes().splitlines()
        except OSError as error:
            raise Failure(f"{file} cannot be read: {error.strerror}.") from None
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield parsed_object(line, f"{file.name} line {number}")
                except RecordsError as refusal:
                    raise Failure(refusal.sentence) from None


def mcp(flags: argparse.Namespace) -> int:
    """Serve an agent until it ends the connection."""
    from potato.commands.mcp_server import serve  # Its extra is needed by this command alone.

    asyncio.run(serve(flags.site, flags.folder))
    return DONE


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "login": login,
    "logout": logout,
    "whoami": whoami,
    "projects": projects,
    "load": load,
    "import": import_files,
    "import-annotations": import_annotations,
    "watch": watch,
    "people": people,
    "repositories": repositories,
    "checks": checks,
    "export": export,
    "agreement": agreement,
    "suggestions": suggestions,
    "mcp": mcp,
}
"""Each command by its name."""
