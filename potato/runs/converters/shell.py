"""Which files a shell command may change, as far as its words tell. Runs nothing, and knows no file system.

A command is taken to change files unless it is known to only look, test, build or publish: to doubt what a file holds
costs a reader less than a wrong text without a word. What a program under test writes is not in its command.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from posixpath import basename, normpath
from typing import Literal

from potato.runs.converters.fields import word_set

_LONGEST = 20_000
_HEREDOC = re.compile(
    r"<<-?[ \t]*(['\"]?)(\w+)\1([^\n]{0,2000}\n)(.*?)(?:^[ \t]*\2[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_MARKS = "();<>|&\n"
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SOMEWHERE = re.compile(r"^(?:~/|(?:\./)*\.\./)+")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_STATIC_WORD = re.compile(r"[^*?\[{$`~]+")
_MOST_BRACES = 3
_LONGEST_WORD = 1_000
_NOWHERE = re.compile(r"/dev/|/tmp/|/var/tmp/|&?\d*$|&?-$")
_WRITING_CODE = re.compile(
    r"open\([^)]{0,300}['\"][wax]b?\+?['\"]|write_text|write_bytes|writeFile|appendFile|unlink|rename|replace\(|shutil"
    r"|os\.remove|File\.write|subprocess|os\.system|inplace|WriteStream|copyFile|cpSync|rmSync|['\"]r\+|truncate\("
    r"|writeText|Bun\.write|file_put_contents"
)
_BEFORE = word_set("sudo time env nice nohup command exec builtin then do else if while ! {")
_XARGS_WITH_VALUE = word_set("-I -n -P -L -d -s -E -a --max-args --max-procs --replace --delimiter")
_PRINTS_INTO = re.compile(r"\bprintf?\b[^;}]{0,300}>")
_WRITES_OF_SED = re.compile(r"(?:^|[/;\d$])\s?w\s\S")
_SHELLS = word_set("bash sh zsh dash ksh fish")
_DEEPEST = 3
_LOOKS = word_set(
    "ls cat head tail less more pwd cd pushd popd wc tree grep egrep fgrep rg ag fd file stat which echo printf"
    " true false test [ [[ sort uniq cut jq yq diff cmp du df ps kill pkill killall sleep date whoami hostname"
    " uname printenv export set unset type man basename dirname realpath readlink md5sum sha1sum sha256sum shasum"
    " column tr rev nl od xxd hexdump strings id groups uptime free top lsof netstat ss ping dig nslookup host"
    " curl http ssh gh glab docker kubectl psql mysql sqlite3 redis-cli open xdg-open wait jobs fi done esac for"
    " case } : exit return read touch mkdir chmod chown seq yes expr bc history alias pytest mypy pyright tsc jest"
    " vitest mocha shellcheck golangci-lint flake8 pylint tox nox staticcheck hadolint yamllint markdownlint trap"
    " ulimit claude code"
)
_GIT_LOOKS = word_set(
    "status diff log show blame branch rev-parse ls-files ls-tree ls-remote remote fetch add commit push tag"
    " config describe shortlog reflog grep cat-file rev-list for-each-ref worktree notes init merge-base"
    " symbolic-ref check-ignore hash-object update-ref name-rev bisect var help version whatchanged range-diff"
    " diff-tree"
)
_PATHS_OF_GIT = frozenset({"rm", "mv", "restore", "checkout"})
_ON_NAMED = word_set("rm mv cp ln tee dd truncate install rmdir unlink rsync")
_FORMATTERS = word_set(
    "gofmt goimports gofumpt black isort prettier eslint ruff rustfmt clang-format dprint biome autopep8 yapf"
    " shfmt stylelint rubocop standard xo terraform ktlint swiftformat djlint djade"
)
_IN_PLACE = word_set("-w -i --write --fix --in-place -a -A --autocorrect --fix-only format fmt --apply --inplace")
_ALWAYS_FORMAT = word_set("black isort rustfmt autopep8 yapf swiftformat dprint djade")
_ONLY_CHECK = word_set("--check --diff -l --list-different -d --check-only --dry-run")
_RUNNERS = word_set("make mise just npm yarn pnpm bun task gmake ninja rake gradle ./gradlew mvn composer")
_PACKAGES = word_set("install i add remove uninstall update upgrade ci sync lock tidy get require mod init")
_PACKAGERS = word_set("npm yarn pnpm bun pip pip3 uv poetry cargo go bundle gem composer")
_HARMLESS_TARGET = re.compile(
    r"(test|check|build|lint|typecheck|type-check|types|vet|bench|coverage|start|dev|serve|ci|audit|ls|list|view|why"
    r"|outdated|info|version|help|clean|compile|verify|package|docs|tasks|watch|e2e|unit|integration|run|exec|x|doc"
    r"|clippy|env|publish|login|whoami|link|config|show|freeze|tree|metadata)([:_.-].*)?",
    re.IGNORECASE,
)
_CHANGING_TARGET = re.compile(r"fix|fmt|format|gen|update|upgrade|migrat|write|bump|sync", re.IGNORECASE)
_MANIFESTS = word_set(
    "package.json package-lock.json yarn.lock pnpm-lock.yaml bun.lockb bun.lock go.mod go.sum Cargo.toml"
    " Cargo.lock pyproject.toml poetry.lock uv.lock requirements.txt Gemfile Gemfile.lock composer.json"
    " composer.lock"
)
_INTERPRETERS = word_set("python python2 python3 node ruby perl php deno bash sh zsh ipython tsx ts-node")
_HARMLESS_MODULES = word_set(
    "pytest unittest mypy json.tool py_compile compileall http.server pip venv timeit doctest pyright flake8"
)


@dataclass(frozen=True, slots=True)
class Effect:
    """What a simple command may change: the files that `words` name, the project's manifests, or any file."""

    on: Literal["named", "manifests", "any"]
    words: tuple[str, ...] = ()
    is_written: bool = False
    """The words are files into which output was directed: they were written for certain."""

    def may_touch(self, path: str) -> bool:
        """Whether a file of this path may be meant. Any file but those that the words name as what is run."""
        if self.on == "manifests":
            return basename(path) in _MANIFESTS
        if self.on == "any":
            return not any(_is_same(word, path) for word in self.words)
        return any(_may_mean(word, path) for word in self.words)

    def is_outside(self) -> bool:
        """Whether the words name nothing but what is no part of a project."""
        return all(_NOWHERE.match(word) for word in self.words)


def last_parts(effect: Effect) -> frozenset[str] | None:
    """Every file that the effect may touch has one of these names, or is in a folder of such a name. None: any may be
    touched, whatever its name."""
    if effect.on == "manifests":
        return _MANIFESTS
    if effect.on == "any":
        return None
    parts: set[str] = set()
    for word in effect.words:
        word = _SOMEWHERE.sub("", word)
        folder = word.removeprefix("./").removesuffix("...").rstrip("/")
        named = {basename(normpath(word)), basename(folder)}
        is_static = len(word) <= _LONGEST_WORD and _STATIC_WORD.fullmatch(word)
        if not is_static or not named.isdisjoint(("", ".", "..", "-A")):
            return None
        parts |= named
    return frozenset(parts)


def command_effects(command: str, depth: int = 0) -> tuple[Effect, ...]:
    """What each simple command of the line may change; those that change nothing are left out."""
    if depth > _DEEPEST:
        return (Effect("any"),)
    bodies = [match[4] for match in _HEREDOC.finditer(command[:_LONGEST])]
    bare = _HEREDOC.sub(lambda match: f" {match[3]}", command[:_LONGEST]).replace("\\\n", " ")
    try:
        words = list(_lexer(bare))
    except ValueError:
        return (Effect("any"),)
    effects: list[Effect] = []
    for simple, targets in _simple_commands(words):
        if named := tuple(target for target in targets if not _NOWHERE.match(target)):
            effects.append(Effect("named", named, is_written=True))
        if code := _shell_code(simple, bodies):
            effects += command_effects(code, depth + 1)
        elif effect := _effect(simple, bodies):
            effects.append(effect)
    return tuple(dict.fromkeys(effects))


def simple_commands(command: str, depth: int = 0) -> list[list[str]]:
    """The words of each simple command of the line in their order, without what runs it (`sudo`, `env`, `timeout`) and
    with those that a shell is told to run; [] where the line cannot be read."""
    bodies = [match[4] for match in _HEREDOC.finditer(command[:_LONGEST])]
    bare = _HEREDOC.sub(lambda match: f" {match[3]}", command[:_LONGEST]).replace("\\\n", " ")
    try:
        words = list(_lexer(bare))
    except ValueError:
        return []
    commands: list[list[str]] = []
    for simple, _ in _simple_commands(words):
        code = _shell_code(simple, bodies) if depth < _DEEPEST else ""
        if code:
            commands += simple_commands(code, depth + 1)
        elif plain := _without_wrappers(simple):
            commands.append(plain)
    return commands


def _shell_code(words: list[str], bodies: list[str]) -> str:
    """What a shell is told to run: behind -c, or in a here document; "" for any other command."""
    words = _without_wrappers(words)
    if not words or basename(words[0]) not in _SHELLS:
        return ""
    for at, word in enumerate(words[1:], 1):
        if re.fullmatch(r"-[a-z]*c", word):
            return "".join(words[at + 1 : at + 2])
        if not word.startswith("-"):
            return ""
    return "\n".join(bodies)


def _lexer(text: str) -> Iterator[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_MARKS)
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    return iter(lexer)


def _simple_commands(words: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Each simple command's words, and the files into which it is directed."""
    simple: list[str] = []
    targets: list[str] = []
    into: list[str] | None = None
    for word in words:
        if set(word) <= set(_MARKS):
            if ">" in word:
                into = targets
                if simple and simple[-1].isdigit():
                    simple.pop()
            elif "<" in word:
                into = []
            else:
                yield simple, targets
                simple, targets, into = [], [], None
        elif into is not None:
            into.append(word)
            into = None
        else:
            simple.append(word)
    yield simple, targets


def _effect(words: list[str], bodies: list[str]) -> Effect | None:
    words = _without_wrappers(words)
    if not words:
        return None
    program, rest = basename(words[0]), words[1:]
    plain = [word for word in rest if not word.startswith("-")]
    if program == "xargs":
        # It names the files that another command prints.
        while rest and rest[0].startswith("-"):
            rest = rest[2 if rest[0] in _XARGS_WITH_VALUE else 1 :]
        code = _shell_code(rest, [])
        return Effect("any") if (command_effects(code, 1) if code else _effect(rest, bodies)) else None
    if program == "git":
        return _of_git(rest)
    if program in _ON_NAMED:
        return Effect("named", tuple(word.removeprefix("of=") for word in plain))
    if program in ("awk", "gawk"):
        return Effect("any") if "inplace" in rest or any(map(_PRINTS_INTO.search, rest)) else None
    if program in ("sort", "curl") and (targets := _outputs(rest)):
        return Effect("named", targets, is_written=True)
    if program == "curl" and any(re.fullmatch(r"-[sSLfkJ]*O[sSLfkJ]*|--remote-name", word) for word in rest):
        return Effect("named", tuple(basename(word) for word in plain if basename(word)), is_written=True)
    if program == "yq" and any(re.match(r"-[a-zA-Z]*i|--inplace", word) for word in rest):
        return Effect("named", tuple(plain))
    if program == "gh":
        return Effect("any") if plain[:2] == ["pr", "checkout"] else None
    if program in ("sed", "gsed") and any(map(_WRITES_OF_SED.search, plain)):
        return Effect("any")
    if program == "find":
        return Effect("any") if {"-delete", "-exec", "-execdir"} & set(rest) else None
    if program in ("sed", "perl") and any(re.match(r"-[a-zA-Z0-9]*i|--in-place", word) for word in rest):
        return Effect("named", tuple(plain))
    if program == "sed" or program in _LOOKS:
        return None
    if program == "patch":
        return Effect("any")
    if program in ("npx", "bunx", "pnpx", "uvx") and plain:
        return _effect(rest[rest.index(plain[0]) :], bodies)
    if program in ("uv", "poetry", "pipenv", "bundle", "dotenv") and plain[:1] in (["run"], ["exec"]):
        return _effect(rest[rest.index(plain[0]) + 1 :], bodies)
    if program in _FORMATTERS:
        return _of_formatter(program, rest, plain)
    if program in _INTERPRETERS:
        return _of_interpreter(rest, plain, bodies)
    if program in _PACKAGERS and plain[:1] and plain[0] in _PACKAGES:
        return Effect("manifests")
    if program in _RUNNERS or program in ("go", "cargo", "uv", "pip", "pip3", "poetry", "bundle", "dotnet", "swift"):
        return _of_runner(program, rest, plain)
    # A program that was built to try it out, as agents do in the folder for temporary files.
    return None if _NOWHERE.match(words[0]) else Effect("any", (words[0],))


def _outputs(rest: list[str]) -> tuple[str, ...]:
    """The files behind -o or --output."""
    targets = [after for word, after in pairwise(rest) if re.fullmatch(r"-[a-zA-Z]*o|--output", word)]
    targets += [word.partition("=")[2] for word in rest if word.startswith("--output=")]
    return tuple(target for target in targets if not _NOWHERE.match(target))


def _of_runner(program: str, rest: list[str], plain: list[str]) -> Effect | None:
    """Of make, npm run, go and their like the target's name tells."""
    targets = [word for word in plain if "=" not in word]
    if program in ("make", "gmake", "ninja", "just", "rake"):
        named = targets
    elif targets[:1] in (["run"], ["exec"], ["x"]) and program not in ("go", "cargo", "dotnet", "swift"):
        named = targets[1:2]
    else:
        named = targets[:1]
    changing = any(_CHANGING_TARGET.search(word) for word in named) or any("--fix" in word for word in rest)
    return Effect("any") if changing or not all(map(_HARMLESS_TARGET.fullmatch, named)) else None


def _without_wrappers(words: list[str]) -> list[str]:
    while words:
        if words[0] in _BEFORE or _ASSIGNMENT.match(words[0]):
            words = words[1:]
        elif words[0] == "timeout":
            words = _behind_timeout(words[1:])
        else:
            break
    return words


def _behind_timeout(words: list[str]) -> list[str]:
    """The command behind the options and the duration of `timeout`, with its own options."""
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in ("-s", "-k", "--signal", "--kill-after") else 1 :]
    return words[1:]


def _of_git(rest: list[str]) -> Effect | None:
    while rest[:1] in (["-C"], ["-c"]):
        rest = rest[2:]
    rest = [word for word in rest if word != "--no-pager"]
    while rest[:1] in (["--git-dir"], ["--work-tree"]):
        rest = rest[2:]
    while rest[:1] and rest[0].startswith(("--git-dir=", "--work-tree=")):
        rest = rest[1:]
    if not rest or rest[0] in _GIT_LOOKS or rest[0].startswith("--"):
        return None
    verb, words = rest[0], rest[1:]
    if verb in ("checkout", "switch") and {"-b", "-B", "-c", "-C", "--orphan"} & set(words):
        # A branch that begins here changes nothing, one that begins elsewhere does.
        named = [word for word in words if not word.startswith("-")]
        return Effect("any") if named[1:] not in ([], ["HEAD"]) else None
    if verb == "reset":
        return Effect("any") if {"--hard", "--merge", "--keep"} & set(words) else None
    if verb == "stash" and words[:1] in (["list"], ["show"], ["drop"], ["clear"]):
        return None
    if verb == "rm" and "--cached" in words:
        return None
    plain = [word for word in words if not word.startswith("-")]
    if verb in _PATHS_OF_GIT and ("--" in words or verb in ("rm", "mv", "restore")):
        return Effect("named", tuple(plain))
    return Effect("any")


def _of_formatter(program: str, rest: list[str], plain: list[str]) -> Effect | None:
    writes = program in _ALWAYS_FORMAT or not _IN_PLACE.isdisjoint(rest)
    if not writes or not _ONLY_CHECK.isdisjoint(rest):
        return None
    paths = tuple(word for word in plain if word not in ("format", "fmt", "check", "lint"))
    return Effect("named", paths) if paths else Effect("any")


def _of_interpreter(rest: list[str], plain: list[str], bodies: list[str]) -> Effect | None:
    if {"-c", "-e", "-p", "-lc"} & set(rest):
        return _of_code(" ".join(rest))
    if "-m" in rest:
        module = rest[rest.index("-m") + 1 : rest.index("-m") + 2]
        return None if module and module[0] in _HARMLESS_MODULES else Effect("any")
    if not plain:
        return _of_code("\n".join(bodies)) if bodies else None
    return Effect("any", (plain[0],))


def _of_code(code: str) -> Effect | None:
    return Effect("any") if _WRITING_CODE.search(code) else None


def _is_same(word: str, path: str) -> bool:
    word = normpath(word) if word else ""
    return bool(word) and (path == word or path.endswith(f"/{word}") or word.endswith(f"/{path}"))


def _may_mean(word: str, path: str) -> bool:
    # Where the command ran is not known: "../" and "~/" may lead anywhere.
    word = _SOMEWHERE.sub("", word) or "."
    if word.count("{") > _MOST_BRACES or len(word) > _LONGEST_WORD:
        return True
    if "," in word and (match := _BRACES.search(word)):
        before, after = word[: match.start()], word[match.end() :]
        return any(_may_mean(f"{before}{choice}{after}", path) for choice in match[1].split(","))
    if word in (".", "./", "./...", "*", "..", "-A", "~"):
        return True
    if _is_same(word, path):
        return True
    folder = word.removeprefix("./").removesuffix("...").rstrip("/")
    if folder and (path.startswith(f"{folder}/") or f"/{folder}/" in path):
        return True
    if "`" in word:
        return True
    return any(mark in word for mark in "*?[{$") and (
        fnmatchcase(path, f"*{word.removeprefix('./')}") or fnmatchcase(basename(path), basename(word)) or "$" in word
    )
