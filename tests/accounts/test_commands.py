"""What the shell's commands about people refuse."""

import pytest
from django.core.management import CommandError, call_command, execute_from_command_line


@pytest.mark.parametrize("options", [[], ["--noinput"], ["--username", "root", "--email", "root@example.org"]])
def test_a_superuser_cannot_be_made_and_the_first_owner_is_the_way(options: list[str]) -> None:
    with pytest.raises(CommandError, match=r"no superusers.*add_member"):
        call_command("createsuperuser", *options)


def test_the_command_line_says_it_in_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        execute_from_command_line(["manage.py", "createsuperuser", "--noinput"])
    assert ending.value.code == 1
    [sentence] = capsys.readouterr().err.splitlines()
    assert "add_member" in sentence
