"""`potato review` where the library was installed by pip: from the wheel alone to one's own run in the browser."""

import os
import re
import shutil
import signal
import socket
import subprocess
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest
from django.apps import apps

from potato.commands import own_site as module
from potato.commands.own_site import DATA, own_site
from potato.commands.terminal import Failure
from potato_site.devservices.locations import find_locations
from tests.environments import checkout_without_tests, environment_with
from tests.potato.test_wheel import REQUIREMENTS, build, researcher
from tests.potato_site.developers import CHECKOUT
from tests.potato_site.test_run import SECONDS, folder, output_until, stop_servers

__all__ = ["folder"]
RUN = '{"id": "mine", "task_description": "Try it", "steps": [{"message": "I look."}]}\n'


@pytest.mark.timeout(900)
def test_from_the_wheel_alone_to_ones_own_run(folder: Path) -> None:
    wheel = build(checkout_without_tests(folder / "sources"), folder / "wheels")
    home = folder / "home"
    home.mkdir(mode=0o755)
    person = researcher(wheel, environment_with("library", "-r", REQUIREMENTS), home)
    assert {name.split("-")[0].removesuffix(".dist") for name in person.brought} == {"potato", "potato_review"}
    (home / "run.jsonl").write_text(RUN)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    # pip reads what it is configured to in the home folder; the site goes elsewhere.
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    environment |= {"XDG_DATA_HOME": str(home / "data"), "PORT": port}
    environment |= {name: value for name, value in os.environ.items() if name.lower().startswith(("pip_", "http"))}
    site = home / "data/potato-review/site"
    process = subprocess.Popen(
        [str(person.python), "-m", "potato", "review", "run.jsonl", "--no-browser"],
        cwd=home,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output = output_until(process, "READY")
        assert "making the site ready" in output
        assert "run.jsonl: 1 imported, 0 known, 0 errors" in output, output
        [address] = re.findall("READY (http://.*)", output) or [output]
        with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310 - our own address
            assert "Sign in" in answer.read().decode()
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=SECONDS)
        # A second time nothing is installed.
        again = [str(person.python), "-c", "from potato.commands.own_site import own_site; own_site(print)"]
        assert subprocess.check_output(again, cwd=home, env=environment) == b""
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=SECONDS)
        stop_servers(site)
        shutil.rmtree(find_locations("development", checkout=site).base, ignore_errors=True)


def test_the_wheel_carries_every_app_of_the_site() -> None:
    carried = {line.removeprefix("graft ") for line in (CHECKOUT / "MANIFEST.in").read_text().splitlines()}
    own = {
        app.name.split(".")[0] for app in apps.get_app_configs() if Path(app.path).is_relative_to(CHECKOUT / app.name)
    }
    assert "assignments" in own
    assert own - carried == set()


def test_a_newer_site_takes_the_place_of_the_older_and_its_data_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    carried = tmp_path / "site.zip"
    monkeypatch.setattr("potato.__file__", str(tmp_path / "lib/potato/__init__.py"))
    monkeypatch.setattr(module, "CARRIED", carried)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    installed: list[Path] = []

    def install(site: module.OwnSite) -> None:
        installed.append(site.folder)
        venv.create(site.folder / ".venv", symlinks=True)

    monkeypatch.setattr(module, "_install", install)

    def made(**files: str) -> Path:
        with zipfile.ZipFile(carried, "w") as packed:
            for name, text in files.items():
                packed.writestr(f"{name}.py", text)
        return own_site(lambda sentence: None).folder

    folder = made(manage="1", old="1")
    (folder / DATA).mkdir()
    (folder / DATA / "logs").write_text("kept")
    assert made(manage="1", old="1") == folder
    assert installed == [folder]
    made(manage="2")
    assert installed == [folder] * 2
    assert (folder / "manage.py").read_text() == "2"
    assert not (folder / "old.py").exists()
    assert (folder / DATA / "logs").read_text() == "kept"
    # What was interrupted is done again.
    (folder / ".ready").unlink()
    made(manage="2")
    assert installed == [folder] * 3


def test_a_library_without_a_site_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("potato.__file__", str(tmp_path / "lib/potato/__init__.py"))
    monkeypatch.setattr(module, "CARRIED", tmp_path / "site.zip")
    with pytest.raises(Failure, match="Take a checkout of Potato"):
        own_site(print)
