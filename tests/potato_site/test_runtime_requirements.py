"""What an operator installs is enough: an environment with the runtime's requirements alone runs everything of ours.

Every other test runs where the requirements of development are installed too, in which an import that nobody declared
is found.
"""

import ast
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from potato_site.supervisor import HOST
from tests.environments import ROOT, checkout_without_tests, environment_with
from tests.tenancy.programs import Ending, address_of, end_of

REQUIREMENTS = ROOT / "requirements/runtime.txt"
# A plugin of the tests' runner: to import it is to start servers.
STARTS_SERVERS = "potato_site.devservices.for_tests"
# For those who ask a site from elsewhere: no part of the site. tests/potato/test_wheel.py has its extra alone.
OF_THE_CLIENT = ("potato.client", "potato.commands.remote", "potato.commands.mcp_server")

IMPORT = """
import importlib, json, sys, traceback
import django
django.setup()
failed = {}
for name in json.load(sys.stdin):
    try:
        importlib.import_module(name)
    except BaseException:
        failed[name] = traceback.format_exc()
print(json.dumps(failed))
"""
FIND = """
import importlib.util, json, sys
print(json.dumps([name for name in json.load(sys.stdin) if importlib.util.find_spec(name) is None]))
"""
CELERY = """
from potato_site.celery import app
app.loader.import_default_modules()
print(*sorted(name for name in app.tasks if not name.startswith("celery.")))
"""


@dataclass(frozen=True)
class Installed:
    """A checkout without its tests, and a Python that has the runtime's requirements."""

    python: Path
    checkout: Path

    def start(self, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [str(self.python), *arguments],
            cwd=self.checkout,
            env={"PATH": os.defpath, "DJANGO_SETTINGS_MODULE": "potato_site.settings", **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def answer(self, program: str, question: object, **environment: str) -> str:
        process = self.start("-c", program, **environment)
        output, _ = process.communicate(json.dumps(question), timeout=120)
        assert process.returncode == 0, output
        return output.splitlines()[-1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    python = environment_with("runtime", "--require-hashes", "-r", str(REQUIREMENTS))
    checkout = checkout_without_tests(tmp_path_factory.mktemp("installed") / "checkout")
    # What `pip install -e .` leaves in a checkout, by which the entry points are found.
    subprocess.run(
        [sys.executable, "-c", "import setuptools; setuptools.setup()", "--quiet", "egg_info"], cwd=checkout, check=True
    )
    return Installed(python, checkout)


def modules(checkout: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(checkout.rglob("*.py")):
        parts = path.relative_to(checkout).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name != STARTS_SERVERS and not name.startswith(OF_THE_CLIENT):
            yield name, path


@pytest.fixture
def production(db: None, tmp_path: Path) -> dict[str, str]:
    return {
        "POTATO_MODE": "production",
        "SECRET_KEY": "".join(chr(33 + index * 7 % 90) for index in range(80)),
        "DATABASE_URL": address_of(),
        "BROKER_URL": os.environ["BROKER_URL"],
        "ALLOWED_HOSTS": HOST,
        "SECURE_SSL_REDIRECT": "false",
        "STATIC_ROOT": str(tmp_path / "static"),
    }


@pytest.mark.timeout(600)
def test_every_module_is_imported_with_the_requirements_of_the_runtime_alone(
    installed: Installed, production: dict[str, str]
) -> None:
    names = [name for name, _ in modules(installed.checkout)]
    assert len(names) > 300
    failed = json.loads(installed.answer(IMPORT, names, **production))
    assert failed == {}, "\n".join(failed.values())


@pytest.mark.timeout(600)
def test_every_import_that_waits_inside_a_function_finds_what_it_wants(installed: Installed) -> None:
    wanted: dict[str, str] = {}
    for name, path in modules(installed.checkout):
        for found in _imported(ast.parse(path.read_bytes())):
            wanted.setdefault(found.partition(".")[0], name)
    missing = json.loads(installed.answer(FIND, sorted(wanted)))
    assert {name: wanted[name] for name in missing} == {}


def _imported(tree: ast.AST) -> Iterator[str]:
    """What the code imports, but for what only the type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module
        else:
            yield from _imported(node)


def ended(process: "subprocess.Popen[str]") -> Ending:
    ending = end_of(process)
    assert ending.code == 0, ending.output
    return ending


@pytest.mark.timeout(600)
def test_the_site_starts_and_answers_with_the_requirements_of_the_runtime_alone(
    installed: Installed, production: dict[str, str]
) -> None:
    ended(installed.start("manage.py", "check", "--fail-level", "ERROR", **production))
    ended(installed.start("manage.py", "collectstatic", "--no-input", "--verbosity", "0", **production))
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    gunicorn = ("-m", "gunicorn", "potato_site.wsgi", "--bind", f"{HOST}:{port}", "--no-control-socket")
    site = installed.start(*gunicorn, **production)
    try:
        for page in ("/healthz", "/readyz", "/accounts/login/"):
            assert status_of(f"http://{HOST}:{port}{page}", site) == 200
    finally:
        site.send_signal(signal.SIGTERM)
        print(end_of(site).output)  # pytest shows it where it failed


def status_of(address: str, site: "subprocess.Popen[str]") -> int:
    """The answer's, as soon as the site answers at all."""
    while site.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=30) as response:  # noqa: S310  (our own address)
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            continue
    raise AssertionError("the site has ended")


@pytest.mark.timeout(600)
def test_the_worker_knows_its_tasks_with_the_requirements_of_the_runtime_alone(
    installed: Installed, production: dict[str, str]
) -> None:
    tasks = ended(installed.start("-c", CELERY, **production)).output.split()
    assert {"jobs.tasks.sweep"} <= set(tasks)
