"""A site beside which somebody installed packages of their own, as commands, pages and files know it."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from accounts.models import Organisation
from potato_site.devservices.services import OURS
from tests.environments import ROOT
from tests.tenancy.programs import address_of
from tests.tenants import Tenants

PACKAGES = Path(__file__).parent / "packages"
PATIENCE_SECONDS = 60
DELIVER = """
import sys, uuid, django
django.setup()
from jobs import outbox
from tenancy.actor import Actor
organisation = uuid.UUID(sys.argv[1])
outbox.deliver(Actor(organisation, (organisation,)))
"""


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which pip has put each package of `packages/`."""
    made = tmp_path_factory.mktemp("packages")
    target = made / "site-packages"
    # Copied, for building leaves files beside what is built.
    copies = [shutil.copytree(package, made / package.name) for package in sorted(PACKAGES.iterdir())]
    install = ["install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([sys.executable, "-m", "pip", *install, "--target", target, *copies], check=True)
    return target


@dataclass
class Site:
    """The checkout, with the packages on its path, and the tests' database."""

    packages: Path
    folder: Path
    checkout: Path = ROOT
    address: str = ""
    more: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        settings = {"PYTHONPATH": str(self.packages), "DATABASE_URL": address_of(), "MEDIA_ROOT": str(self.folder)}
        # Without it the addresses count as given, and no command looks for servers of its own.
        inherited = {name: value for name, value in os.environ.items() if name != OURS}
        return {**inherited, **settings, **self.more}

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=self.checkout,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str) -> str:
        """What the command prints, which succeeds."""
        process = self.start(*arguments)
        printed, _ = process.communicate(timeout=120)
        assert process.returncode == 0, printed
        return printed

    def manage(self, *arguments: str) -> str:
        return self.run("manage.py", *arguments)

    def deliver_events(self, organisation: Organisation) -> None:
        """Tell the apps what happened, as the worker does: what was submitted is counted."""
        self.run("-c", DELIVER, str(organisation.pk))

    def answers(self) -> bool:
        try:
            with urlopen(f"{self.address}/healthz", timeout=20) as answer:  # noqa: S310  (our own site)
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False


@pytest.fixture
def extended(committed_tenants: Tenants, installed: Path, tmp_path: Path) -> Site:
    """The commands of the site that has the packages."""
    return Site(installed, tmp_path, more={"DJANGO_SETTINGS_MODULE": "potato_site.settings"})


@pytest.fixture
def served(extended: Site) -> Iterator[Site]:
    """The same, and its pages."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    extended.address = f"http://localhost:{port}"
    options = ["--bind", f"localhost:{port}", "--worker-class", "potato_site.serving.Worker", "--threads", "4"]
    web = extended.start("-m", "gunicorn", "potato_site.wsgi", *options, "--no-control-socket")
    try:
        until = time.monotonic() + PATIENCE_SECONDS
        while not extended.answers():
            assert web.poll() is None, "the site has ended"
            assert time.monotonic() < until, "the site does not answer"
            time.sleep(0.1)
        yield extended
    finally:
        web.terminate()
        print(web.communicate()[0])  # pytest shows it where the story failed
