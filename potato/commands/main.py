"""The command `potato`: everything of a site for a shell, and what needs no site at all."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

from potato.commands import local, local_secrets
from potato.commands.completion import SHELLS, completion
from potato.commands.terminal import DONE, FAILED, INTERRUPTED, UNANSWERED, Failure, say
from potato.entry_points import ExtensionError
from potato.statistics.extras import MissingExtra

TEMPLATES = ("code-review", "first-error", "per-step", "web-agents", "both")
TOOLS = ("auto", "potato_2", "label_studio", "github", "langfuse", "docent")
ROLES = ("manager", "annotator", "viewer", "adjudicator")
EXIT_CODES = (
    "Exit codes: 0 done; 1 refused or failed; 2 flags that cannot be understood; 3 the site gave no answer; 130 Ctrl-C."
)


def parser() -> argparse.ArgumentParser:
    """All commands with their flags."""
    main = argparse.ArgumentParser(
        prog="potato",
        description="Review what coding agents do: a site's projects from a shell, and files without a site.",
        epilog=EXIT_CODES,
    )
    main.add_argument("--version", action="version", version=f"potato {metadata.version('potato-review')}")
    commands = main.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(
        name: str, help: str, *, asks: bool = True, project: bool = False, answers: bool = True
    ) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.", epilog=EXIT_CODES)
        if asks:
            command.add_argument("--site", metavar="ADDRESS", help="the site; POTATO_URL or that of `potato login`")
        if project:
            command.add_argument("project", metavar="PROJECT", help="its name in addresses")
        if answers:
            command.add_argument("--json", action="store_true", help="JSON for programs")
        return command

    login = add("login", "keep an API token for a site", answers=False)
    login.add_argument("address", nargs="?", metavar="ADDRESS", help="such as https://potato.example.org")
    login.add_argument("--token-from-stdin", action="store_true", help="read the token from stdin, and ask nothing")
    add("logout", "forget the token that was kept", asks=False, answers=False)
    add("whoami", "who the token acts as, and what it is for")
    add("projects", "the published projects, and how far they are")

    check = add("check", "all that is wrong with a configuration, without a site", asks=False)
    check.add_argument("config", type=Path, metavar="CONFIG.yaml")

    load = add("load", "publish a configuration as a project, and import its data files")
    load.add_argument("config", type=Path, metavar="CONFIG.yaml")
    load.add_argument("--project", required=True, metavar="PROJECT", help="its name in addresses; made if missing")
    load.add_argument("--name", help="the new project's name (default: task_name)")
    load.add_argument("--note", default="", help="what the version is for")
    load.add_argument("--confirm", action="store_true", help="publish also what takes something from annotations")

    bring = add("import", "import runs from files, folders, patterns or stdin", project=True)
    bring.add_argument("files", nargs="*", metavar="FILE|FOLDER|PATTERN|-")
    bring.add_argument("--format", default="", help="the files' format (default: found by the content)")
    bring.add_argument("--no-wait", dest="wait", action="store_false", help="do not wait until they are read")
    bring.add_argument("--follow", metavar="FOLDER", help="go on importing what comes into a folder, until Ctrl-C")
    bring.add_argument("--once", action="store_true", help="with --follow: end when nothing new is there")
    bring.add_argument("--every", type=_seconds, default=2.0, metavar="SECONDS", help="between two looks (2)")

    annotations = add("import-annotations", "import annotations that were made in another tool", project=True)
    annotations.add_argument("path", type=Path, metavar="FILE|FOLDER")
    annotations.add_argument("--from", dest="tool", default="auto", choices=TOOLS, help="which tool (found by itself)")
    annotations.add_argument("--trace", default="", metavar="ID", help="the trace that all of it is about")
    annotations.add_argument(
        "--id-key", default="", metavar="KEY", help="the key of Label Studio's data with the trace"
    )
    annotations.add_argument(
        "--name", action="append", default=[], metavar="THEIRS=SCHEME", help="a question; repeatable"
    )
    annotations.add_argument("--value", action="append", default=[], metavar="THEIRS=OURS", help="a value; repeatable")
    annotations.add_argument("--source-version", default="1", metavar="VERSION", help="of the sources (1)")
    annotations.add_argument("--strict", action="store_true", help="exit 1 for anything that has no place")
    attached = add("repositories", "code around the changes: attach repositories, list, remove", project=True)
    attached.add_argument(
        "--attach", nargs=2, metavar=("NAME", "FILE"), help="a git bundle or an archive, to the name that runs have"
    )
    attached.add_argument("--commit", default="", help="of an archive that does not say it")
    attached.add_argument("--clone-url", default="", metavar="ADDRESS", help="where people clone it from")
    attached.add_argument("--remove", metavar="ID", help="take an attached file away")

    checks = add("checks", "reports of tests and checkers; all that is known of one run", project=True)
    checks.add_argument("--trace", metavar="ID", help="test by test and finding by finding, of the run with this id")

    watch = add("watch", "tell how far a project is, until it has all its annotations", project=True)
    watch.add_argument("--every", type=_seconds, default=10.0, metavar="SECONDS", help="between two looks (10)")

    people = add("people", "who works on a project; put somebody on it, take them off, invite", project=True)
    people.add_argument("--put", nargs=2, metavar=("NAME", "ROLE"), help=f"a member; ROLE is {', '.join(ROLES)}")
    people.add_argument("--remove", metavar="NAME", help="take a member off the project")
    people.add_argument("--invite", nargs="+", metavar="ADDRESS", help="invite by mail address; prints the links")
    people.add_argument("--role", choices=ROLES, default="annotator", help="of those who are invited (annotator)")

    export = add("export", "make an export, download it, and compare its SHA-256", project=True)
    export.add_argument("-f", "--format", required=True, metavar="FORMAT", help="as in docs/export-formats.md")
    export.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")
    export.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="of the format; repeatable")

    agreement = add("agreement", "how far annotators agree, computed by the site", project=True)
    agreement.add_argument("--tolerance", type=int, default=3, metavar="LINES", help="between comments that match (3)")
    agreement.add_argument("--samples", type=int, default=1000, metavar="N", help="resamplings for intervals (1000)")
    agreement.add_argument("--seed", type=int, default=0, metavar="N", help="of the resampling (0)")

    suggestions = add("suggestions", "what models suggest of a project's traces, as lines; or send it", project=True)
    suggestions.add_argument("--add", nargs="+", type=Path, metavar="FILE", help="send the records of these files")

    agents = add("mcp", "a server of the Model Context Protocol for AI agents, over stdin and stdout", answers=False)
    agents.add_argument(
        "--folder", type=Path, default=Path(), metavar="FOLDER", help="import files from below it alone (.)"
    )

    convert = add("convert", "runs of any format that is read, as Potato's own, without a site", asks=False)
    convert.add_argument("files", nargs="+", type=Path, metavar="FILE|FOLDER")
    convert.add_argument("-o", "--output", type=Path, metavar="FILE", help="(default: stdout)")
    convert.add_argument("--format", default="", help="the files' format (default: found by the content)")
    convert.add_argument("--strict", action="store_true", help="exit 1 for anything that could not be read")

    secrets = add(
        "check-secrets", "keys and personal data in runs, without a site: which, where and how many", asks=False
    )
    secrets.add_argument("files", nargs="+", type=Path, metavar="FILE|FOLDER")
    secrets.add_argument("--format", default="", help="the files' format (default: found by the content)")
    secrets.add_argument("--only", choices=("keys", "personal_data"), help="look for one of the two alone")
    secrets.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write the runs with placeholders, a line each"
    )

    review = add(
        "review",
        "review your own runs: a site on this machine with one project, in the browser",
        asks=False,
        answers=False,
    )
    review.add_argument("files", nargs="+", type=Path, metavar="FILE|FOLDER")
    review.add_argument("--template", choices=TEMPLATES, default="both", help="what is asked of them (both)")
    review.add_argument("--no-browser", dest="browser", action="store_false", help="print the address alone")

    complete = add("completion", "the completion of this command for a shell", asks=False, answers=False)
    complete.add_argument("shell", choices=SHELLS)
    return main


def _seconds(text: str) -> float:
    seconds = float(text)
    if seconds <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return seconds


def _print_completion(flags: argparse.Namespace) -> int:
    print(completion(flags.shell, parser()), end="")
    return DONE


_LOCAL: dict[str, Callable[[argparse.Namespace], int]] = {
    "check": local.check,
    "convert": local.convert,
    "check-secrets": local_secrets.check_secrets,
    "review": local.review,
    "completion": _print_completion,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; answers its exit code."""
    flags = parser().parse_args(arguments)
    try:
        if flags.command in _LOCAL:
            return _LOCAL[flags.command](flags)
        return _run_on_site(flags)
    except (Failure, MissingExtra, ExtensionError) as refusal:
        say(f"potato: {refusal}", colour="red")
        return FAILED
    except BrokenPipeError:
        # Whoever reads has enough; what is left must not be written at the end either.
        sys.stdout = None
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED


def _run_on_site(flags: argparse.Namespace) -> int:
    from potato.client import NoAnswer, PotatoError, Refused  # What is offline needs nothing of it.
    from potato.commands import remote

    try:
        return remote.COMMANDS[flags.command](flags)
    except Refused as refused:
        said = [f"potato: {refused.detail}"]
        said += [f"  {gap['path']}: {gap['sentence']}" for gap in refused.facts.get("gaps") or ()]
        said += [
            f"  line {problem['line']}, column {problem['column']}: {problem['message']}"
            for problem in refused.facts.get("problems") or ()
        ]
        say("\n".join(said), colour="red")
        return FAILED
    except NoAnswer as unanswered:
        say(f"potato: {unanswered}", colour="red")
        return UNANSWERED
    except PotatoError as error:
        say(f"potato: {error}", colour="red")
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
