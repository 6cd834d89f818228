"""The index finds each file that a command may mean, and no other: the same as a look at every file."""

import random
from typing import Literal

from potato.runs.converters.path_index import PathIndex
from potato.runs.converters.shell import Effect, command_effects

KINDS: tuple[Literal["named", "manifests", "any"], ...] = ("named", "named", "named", "manifests", "any")
PARTS = ("a.py", "b.py", "src", "lib", "package.json", "x y.py", "a*.py", "..", ".", "", "~", "-A")
WORDS = (*PARTS, "*.py", "src/*", "./...", "lib/...", "{a,b}.py", "$HOME", "`ls`", "s[r]c", "../", "~/src", "a.py/")


def drawn(dice: random.Random, parts: tuple[str, ...]) -> str:
    return "/".join(dice.choice(parts) for _ in range(dice.randint(1, 4)))


def test_the_index_finds_what_a_look_at_each_file_finds() -> None:
    dice = random.Random(18)  # noqa: S311  (not for secrets)
    found = 0
    for _ in range(3000):
        index = PathIndex()
        paths = list(dict.fromkeys(drawn(dice, PARTS) for _ in range(dice.randint(1, 12))))
        for path in paths:
            index.add(path)
        kind = dice.choice(KINDS)
        effect = Effect(kind, tuple(drawn(dice, WORDS) for _ in range(dice.randint(0, 3))))
        expected = [path for path in paths if effect.may_touch(path)]
        assert index.meant_by(effect) == expected, (effect, paths)
        found += len(expected) if kind == "named" else 0
    assert found > 1000


def test_of_commands_that_name_files_those_alone_are_looked_at() -> None:
    index = PathIndex()
    for number in range(100):
        index.add(f"src/part{number}/file.py")
    (effect,) = command_effects("sed -i s/a/b/ src/part7/file.py")
    assert index.meant_by(effect) == ["src/part7/file.py"]
    (effect,) = command_effects("black src/part8")
    assert index.meant_by(effect) == ["src/part8/file.py"]
