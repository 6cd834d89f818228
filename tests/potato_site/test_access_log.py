"""gunicorn's own log of requests, as `ACCESS_LOG` switches it on."""

from datetime import timedelta
from types import SimpleNamespace

from django.conf import settings
from gunicorn.config import Config

from accounts.invitation_links import InvitationToken, without_secrets
from potato_site.access_log import AccessLog
from tenancy.models import new_id


def test_no_part_of_a_line_holds_the_secret_of_a_link() -> None:
    token = InvitationToken.new(new_id())
    path, query = f"/join/{token}/", f"next=/join/{token}/"
    environ = {
        "REQUEST_METHOD": "GET",
        "RAW_URI": f"{path}?{query}",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_REFERER": f"https://potato.example{path}",
    }
    request = SimpleNamespace(headers=[("REFERER", environ["HTTP_REFERER"])])
    response = SimpleNamespace(status="302 Found", headers=[("Location", path)], sent=17)
    atoms = AccessLog(Config()).atoms(response, request, environ, timedelta(milliseconds=3))
    assert token.secret not in str(atoms)
    assert (
        atoms["r"]
        == f"GET /join/{token.organisation_id.hex}.[secret]/?{query.replace(token.secret, '[secret]')} HTTP/1.1"
    )
    assert atoms["s"] == "302"


def test_the_containers_log_with_it() -> None:
    entrypoint = (settings.BASE_DIR / "docker/entrypoint.sh").read_text()
    assert f"--logger-class {AccessLog.__module__}.{AccessLog.__name__}" in entrypoint


def test_nothing_that_an_address_gives_as_a_secret_is_logged() -> None:
    api = f"pt_{'a' * 32}_{'b' * 12}_{'c' * 48}"
    environ = {
        "REQUEST_METHOD": "GET",
        "RAW_URI": f"/api/v1/projects/?token={api}&page=2&X-Amz-Signature=hunter2",
        "PATH_INFO": "/api/v1/projects/",
        "QUERY_STRING": f"token={api}&page=2&X-Amz-Signature=hunter2",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_REFERER": "https://potato.example/x?access_token=hunter3&page=3",
    }
    request = SimpleNamespace(headers=[("REFERER", environ["HTTP_REFERER"]), ("AUTHORIZATION", f"Bearer {api}")])
    response = SimpleNamespace(status="200 OK", headers=[], sent=17)
    output = str(AccessLog(Config()).atoms(response, request, environ, timedelta(milliseconds=3)))
    assert "c" * 48 not in output
    assert "hunter" not in output
    assert "page=2" in output
    assert "page=3" in output


def test_secrets_that_follow_one_another_are_all_left_out() -> None:
    ids = ["0" * 31 + digit for digit in "123"]
    assert without_secrets(None, "", f"/join/{'.'.join(ids)}/") == f"/join/{ids[0]}.[secret].[secret]/"
    line = f"{ids[0]}.{'s' * 32} pt_{ids[1]}_{'b' * 12}_{'c' * 48} secret_key=hunter2 /password/set/{'a' * 36}/hunter3/"
    hidden = without_secrets(None, "", line)
    for secret in ("s" * 32, "c" * 48, "hunter"):
        assert secret not in hidden


def test_the_sites_own_log_says_none_of_it_either() -> None:
    line = '{"request": "GET /x/?q=1&password=hunter2&next=/", "event": "api_key=hunter3"}'
    assert without_secrets(None, "", line) == (
        '{"request": "GET /x/?q=1&password=[secret]&next=/", "event": "api_key=[secret]"}'
    )
