"""The organisation in the address: where links lead, and what odd addresses get."""

import json

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.test import Client, RequestFactory
from django.urls import clear_script_prefix, get_script_prefix, reverse

from tests.tenants import Tenants


def test_links_made_inside_an_organisation_stay_inside(tenants: Tenants, trial_site: Client) -> None:
    trial_site.force_login(tenants.alice)
    assert trial_site.get("/o/acme/links/").json() == {
        "own": "/o/acme/",
        "admin": "/o/acme/admin/jobs/job/",
        "login": "/accounts/login/",
        "home": "/",
        "other": "/o/birch/",
    }


def as_the_server_asks(client: Client, path: str, *, mounted_at: str) -> str:
    """The body of the answer to a WSGI server, which says where the site is mounted; the test client does not."""
    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    request = RequestFactory().get(path, headers={"Cookie": cookies}, SCRIPT_NAME=mounted_at)
    try:
        answer = WSGIHandler()(request.environ, lambda status, headers, *rest: lambda body: None)
        return b"".join(answer).decode()
    finally:
        clear_script_prefix()


@pytest.mark.django_db(transaction=True)
def test_a_site_that_is_mounted_below_a_path_keeps_that_path_once(
    committed_tenants: Tenants, trial_site: Client
) -> None:
    trial_site.force_login(committed_tenants.alice)
    for _ in range(2):
        assert json.loads(as_the_server_asks(trial_site, "/o/acme/links/", mounted_at="/reviews")) == {
            "own": "/reviews/o/acme/",
            "admin": "/reviews/o/acme/admin/jobs/job/",
            "login": "/reviews/accounts/login/",
            "home": "/reviews/",
            "other": "/reviews/o/birch/",
        }
    assert json.loads(as_the_server_asks(trial_site, "/o/acme/links/", mounted_at=""))["own"] == "/o/acme/"


def test_the_whole_admin_stays_inside_its_organisation(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.alice)
    html = client.get("/o/acme/admin/accounts/project/").content.decode()
    links = [part.split('"')[0] for part in html.split('href="')[1:]]
    admin = [link for link in links if "/admin/" in link]
    assert admin
    assert all(link.startswith("/o/acme/admin/") for link in admin if not link.startswith("/static/"))
    assert not [link for link in links if link.count("/o/") > 1]


def test_two_organisations_in_turn_do_not_mix(tenants: Tenants, trial_site: Client) -> None:
    trial_site.force_login(tenants.mallory)
    for slug in ("acme", "birch", "acme", "birch"):
        links = trial_site.get(f"/o/{slug}/links/").json()
        assert links["own"] == f"/o/{slug}/"
        assert links["login"] == "/accounts/login/"
        assert trial_site.get("/whoami/").status_code == 200
        assert get_script_prefix() == "/"


@pytest.mark.parametrize(
    "path", ["/o/acme/store/?then=raise", "/o/acme/nowhere/", "/o/nobody/", "/o/acme/lazily-broken/"]
)
def test_the_prefix_is_restored_after_every_kind_of_end(tenants: Tenants, trial_site: Client, path: str) -> None:
    trial_site.force_login(tenants.alice)
    trial_site.get(path)
    assert get_script_prefix() == "/"
    assert reverse("home") == "/"
    trial_site.raise_request_exception = True
    if "raise" in path:
        with pytest.raises(ZeroDivisionError):
            trial_site.get(path)
        assert get_script_prefix() == "/"


def test_nobody_signed_in_is_sent_to_the_one_login_and_back(tenants: Tenants, client: Client) -> None:
    response = client.get("/o/acme/?page=2")
    assert response.status_code == 302
    assert response.headers["Location"] == "/accounts/login/?next=/o/acme/%3Fpage%3D2"


def test_the_organisation_without_a_slash_leads_to_its_first_page(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.charlie)
    # Of strangers and unknown slugs, too: the redirect says nothing.
    for slug in ("acme", "birch", "nowhere"):
        response = client.get(f"/o/{slug}")
        assert (response.status_code, response.headers["Location"]) == (301, f"/o/{slug}/")
    response = client.get("/o/birch/admin?q=1")
    assert (response.status_code, response.headers["Location"]) == (301, "/o/birch/admin/?q=1")


ODD = [
    "/o/acme/o/birch/",
    "/o/acme/o/acme/",
    "/o/ACME/",
    "/o/Acme/",
    "/O/acme/",
    "//o/acme/",
    "/o//acme/",
    "/o/",
    "/o",
    "/o/-acme/",
    "/o/acme./",
    "/o/acme%00/",
    "/o/acme%0A/",
    "/o/acme/%0A",
    "/o/acme%20/",
    "/o/%61cme%25/",
    "/o/acme;birch/",
    "/o/acme%5Cadmin/",
    "/o/./acme/",
    "/o/x/../acme/",
    "/o/x/%2e%2e/acme/",
    f"/o/{'a' * 64}/",
    f"/o/{'a' * 5000}/",
    "/o/acme/accounts/login/",
    "/o/acme/healthz",
    "/acme/",
]


@pytest.mark.parametrize("path", ODD)
def test_odd_addresses_are_not_found(tenants: Tenants, client: Client, path: str) -> None:
    client.force_login(tenants.alice)
    assert client.generic("GET", path).status_code == 404


def test_an_escaped_slash_is_a_slash_and_opens_nothing_more(tenants: Tenants, client: Client) -> None:
    """The server hands on decoded paths, so that there is nothing left to tell the two apart."""
    paths = ["/o%2Facme/admin/", "/o/acme%2Fadmin/", "/o/acme%2fadmin%2f"]
    for person, status in ((tenants.alice, 200), (tenants.bob, 403), (tenants.charlie, 404)):
        client.force_login(person)
        assert [client.get(path).status_code for path in paths] == [status] * 3
    client.force_login(tenants.alice)
    for path in ("/o/acme%2F..%2Fbirch/", "/o/acme/..%2Fbirch/", "/o/acme%2Fo%2Fbirch/", "/o/birch%2F..%2Facme/"):
        assert client.get(path).status_code == 404


def test_ids_that_no_row_can_have_are_not_found_either(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.alice)
    for odd in ("%00", "1", "x" * 500, "..", "_3B", "%F0%9F%A5%94", "0" * 32):
        response = client.get(f"/o/acme/admin/jobs/job/{odd}/change/")
        assert response.status_code in (302, 404), odd


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "NONSENSE"])
def test_every_method_asks_for_the_membership(tenants: Tenants, client: Client, method: str) -> None:
    paths = ("/o/acme/", "/o/acme/admin/", "/o/acme/admin/jobs/job/")
    assert {client.generic(method, path).status_code for path in paths} <= {302, 405}
    client.force_login(tenants.charlie)
    assert [client.generic(method, path).status_code for path in paths] == [404, 404, 404]
    client.force_login(tenants.bob)
    assert [client.generic(method, path).status_code for path in paths[1:]] == [403, 403]


def test_the_head_of_a_page_has_no_body(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.alice)
    response = client.head("/o/acme/admin/accounts/project/")
    assert (response.status_code, response.content) == (200, b"")
