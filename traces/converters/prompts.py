"""Tells the words of a person from what Claude Code writes into a session in the person's name.

Field notes
- A slash command comes as <command-name>, <command-message> and <command-args>; what it or a `!` command printed as
  <local-command-stdout>, <bash-input>, <bash-stdout>; a warning before it begins with "Caveat: The messages below".
- Hooks and the editor add <user-prompt-submit-hook>, <system-reminder>, <ide_opened_file>, <ide_selection>.
- A person who stops the agent leaves "[Request interrupted by user]", sometimes with "for tool use", and sometimes
  what they said then in the same text.
"""

import re
from collections import Counter

INTERRUPTED = "[Request interrupted by user"
_KINDS = (
    ("command", ("<command-name>", "<command-message>", "<command-args>", "<command-contents>", "<bash-input>")),
    ("command output", ("<local-command-", "<bash-stdout>", "<bash-stderr>", "Caveat: The messages below were gen")),
    ("hook text", ("<user-prompt-submit-hook>", "<system-reminder>", "<session-start-hook>", "<task-notification>")),
    ("editor context", ("<ide_opened_file>", "<ide_selection>", "<ide_diagnostics>")),
    ("interrupted request", (INTERRUPTED,)),
)
_COMMAND_NAME = re.compile(r"<command-name>/?([^<]{1,200})</command-name>")
_COMMAND_ARGUMENTS = re.compile(r"<command-args>([^<]+)</command-args>")


def words_of_person(texts: list[str], dropped: Counter[str]) -> str:
    """What the person said in a message's texts, or ""; what was not said by a person is counted by kind."""
    said = []
    for text in texts:
        kind = _kind(text)
        if kind:
            dropped[kind] += 1
        words = text if not kind else _after_interruption(text)
        if words.strip():
            said.append(words)
    return "\n\n".join(said)


def command_with_arguments(texts: list[str]) -> str:
    """A slash command that says what to do, "/fix the login", or "" where it has no arguments."""
    for text in texts:
        command, arguments = _COMMAND_NAME.search(text), _COMMAND_ARGUMENTS.search(text)
        if command and arguments and arguments[1].strip():
            return f"/{command[1].strip()} {arguments[1].strip()}"
    return ""


def _after_interruption(text: str) -> str:
    if not text.lstrip().startswith(INTERRUPTED):
        return ""
    return text.partition("]")[2].lstrip().removeprefix("---").lstrip()


def _kind(text: str) -> str:
    beginning = text.lstrip()[:64]
    return next((kind for kind, beginnings in _KINDS if beginning.startswith(beginnings)), "")
