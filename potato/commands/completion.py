"""What a shell needs to complete the command `potato`, written from its own flags."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

SHELLS = ("bash", "zsh", "fish")
_BASH = """\
_potato() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" command="${{COMP_WORDS[1]}}" words
  if [ "$COMP_CWORD" -eq 1 ]; then words="{commands}"
  else case "$command" in
{cases}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ "${{#COMPREPLY[@]}}" -eq 0 ] && COMPREPLY=($(compgen -f -- "$word"))
}}
complete -o filenames -F _potato potato
"""


def completion(shell: str, parser: argparse.ArgumentParser) -> str:
    """The script to load in that shell: `source <(potato completion bash)`."""
    commands = dict(_commands(parser))
    if shell == "fish":
        return "".join(_fish(commands))
    cases = "\n".join(f'    {name}) words="{" ".join(flags)}";;' for name, (_, flags) in commands.items())
    text = _BASH.format(commands=" ".join(commands), cases=cases)
    return text if shell == "bash" else f"autoload -U +X bashcompinit && bashcompinit\n{text}"


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, tuple[str, list[str]]]]:
    """Each command with what it does and its flags."""
    (actions,) = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    helps = {action.dest: action.help or "" for action in actions._choices_actions}
    for name, command in actions.choices.items():
        words = [word for action in command._actions for word in action.option_strings if word.startswith("--")]
        words += [str(choice) for action in command._actions if action.choices for choice in action.choices]
        yield name, (helps.get(name, ""), words)


def _fish(commands: dict[str, tuple[str, list[str]]]) -> Iterator[str]:
    for name, (help, words) in commands.items():
        described = help.replace("'", r"\'")
        yield f"complete -c potato -n __fish_use_subcommand -a {name} -d '{described}'\n"
        for word in words:
            kind = f"-l {word.removeprefix('--')}" if word.startswith("--") else f"-a {word}"
            yield f"complete -c potato -n '__fish_seen_subcommand_from {name}' {kind}\n"
