"""The image and the compose file, read as what they are: every name in them leads somewhere."""

import re
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
COMPOSE: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}
INSTRUCTION = re.compile(r"^([A-Z]+)\s+(.*?)$", re.M)


def dockerfile() -> list[tuple[str, str]]:
    text = re.sub(r"^#.*\n", "", (DOCKER / "Dockerfile").read_text(), flags=re.M).replace("\\\n", " ")
    return INSTRUCTION.findall(text)


def test_the_image_is_built_in_two_stages_and_runs_as_an_unprivileged_user() -> None:
    instructions = dockerfile()
    stages = [index for index, (name, _) in enumerate(instructions) if name == "FROM"]
    assert len(stages) == 2
    last_stage = instructions[stages[1] :]
    assert ("USER", "potato") in last_stage
    assert not any("pip install" in argument for _, argument in last_stage)


def test_what_the_image_copies_from_the_checkout_is_there() -> None:
    for name, argument in dockerfile():
        if name == "COPY" and "--from" not in argument:
            assert (ROOT / argument.split()[0]).exists(), argument


def test_the_image_starts_the_entrypoint_in_production() -> None:
    instructions = dict(dockerfile())
    assert instructions["ENTRYPOINT"] == '["/bin/sh", "/srv/potato/docker/entrypoint.sh"]'
    assert "POTATO_MODE=production" in instructions["ENV"]
    assert "DEBUG" not in instructions["ENV"]


def test_no_secret_goes_into_the_image() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {"docker/secrets", "docker/.env", ".local", ".git"} <= set(ignored)
    assert not any(
        "SECRET" in argument and "=" in argument for name, argument in dockerfile() if name in ("ENV", "ARG")
    )


@pytest.mark.parametrize("name", OURS)
def test_every_container_of_ours_has_a_role_that_the_entrypoint_knows(name: str) -> None:
    (role,) = OURS[name]["command"]
    entrypoint = (DOCKER / "entrypoint.sh").read_text()
    commands = {path.stem for path in ROOT.glob("*/management/commands/*.py")}
    assert f"\n  {role})\n" in entrypoint or role in commands


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_waits_only_for_services_that_can_answer(name: str) -> None:
    for other, condition in SERVICES[name].get("depends_on", {}).items():
        if condition["condition"] == "service_healthy":
            assert "healthcheck" in SERVICES[other]
        else:
            assert condition["condition"] == "service_completed_successfully"
            assert "restart" not in SERVICES[other]


@pytest.mark.parametrize("name", SERVICES)
def test_every_secret_is_declared_made_and_read_from_its_file(name: str) -> None:
    made = (DOCKER / "make-secrets.sh").read_text()
    secrets = SERVICES[name].get("secrets", [])
    for secret in secrets:
        assert secret in COMPOSE["secrets"]
        assert f"keep {secret} " in made
    for variable, value in SERVICES[name].get("environment", {}).items():
        if variable.endswith("_FILE"):
            assert Path(value).name in secrets, variable


@pytest.mark.parametrize("name", ["web", "worker", "beat"])
def test_the_running_site_never_holds_the_owners_or_the_administrators_address(name: str) -> None:
    assert "DATABASE_OWNER_URL_FILE" not in SERVICES[name]["environment"]
    assert "DATABASE_ADMIN_URL_FILE" not in SERVICES[name]["environment"]
    assert set(SERVICES[name]["secrets"]) == {"secret_key", "database_url"}


@pytest.mark.parametrize("name", OURS)
def test_every_variable_of_a_container_is_one_that_the_settings_read(name: str) -> None:
    sources = (ROOT / "potato_site" / "settings.py").read_text()
    sources += (ROOT / "tenancy" / "management" / "commands" / "provision_database.py").read_text()
    for variable in OURS[name]["environment"]:
        assert f'"{variable.removesuffix("_FILE")}"' in sources, variable


def test_the_broker_keeps_its_messages_and_the_cache_is_another_server() -> None:
    broker, cache = SERVICES["broker"], SERVICES["cache"]
    assert broker["command"][1:3] == ["--appendonly", "yes"]
    assert "noeviction" in broker["command"]
    assert broker["volumes"]
    assert "allkeys-lru" in cache["command"]


def test_nothing_listens_to_the_world_by_itself() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert set(published) == {"proxy"}, "the proxy is the only way in"
    for port in published["proxy"]:
        assert str(port).startswith("${PUBLISH:-127.0.0.1}:")


def test_memory_that_serves_as_a_disk_has_a_size() -> None:
    for service in SERVICES.values():
        for place in service.get("tmpfs", []):
            assert re.search(r":size=[0-9]+m\b", place)


def test_the_scripts_are_readable_by_the_shell() -> None:
    for name in ("entrypoint.sh", "make-secrets.sh"):
        path = DOCKER / name
        assert path.read_text().startswith("#!/bin/sh\n")
        assert stat.S_IMODE(path.stat().st_mode) & stat.S_IXUSR


def test_the_site_and_its_worker_share_the_folder_of_uploads() -> None:
    for name in ("web", "worker"):
        service = SERVICES[name]
        (mount,) = service["volumes"]
        volume, _, folder = mount.partition(":")
        assert volume in COMPOSE["volumes"]
        assert service["environment"]["MEDIA_ROOT"] == folder
        assert f"{folder}\n" in (DOCKER / "Dockerfile").read_text()
