"""Guesses at passwords are slowed down, and stop neither the person whose account it is nor anybody else."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings
from redis import ConnectionError as RedisGone

from accounts import attempts, hashing
from accounts.hashing import Busy, Turn
from accounts.models import User
from tests.tenants import PASSWORD, Tenants

LOGIN = "/accounts/login/"
HERE, ELSEWHERE = "198.51.100.7", "203.0.113.9"


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Counts of other tests."""
    for kept in (cache, attempts._own_memory):
        kept.clear()
    yield
    for kept in (cache, attempts._own_memory):
        kept.clear()


def tried(login: str, password: str, *, network: str = HERE, client: Client | None = None) -> Any:
    return (client or Client()).post(LOGIN, {"login": login, "password": password}, REMOTE_ADDR=network)


def guess(login: str, times: int, network: str = HERE) -> list[int]:
    return [tried(login, f"guess {number}", network=network).status_code for number in range(times)]


def test_a_class_signs_in_within_a_minute_from_one_address(tenants: Tenants) -> None:
    people = [User.objects.create_user(f"pupil{number}", email=f"p{number}@example.org") for number in range(41)]
    User.objects.filter(pk__in=[person.pk for person in people]).update(password=tenants.bob.password)
    answers = [tried(person.username, PASSWORD).status_code for person in people]
    assert answers == [302] * 41
    assert tried("bob", PASSWORD).status_code == 302


def test_a_class_signs_in_although_each_mistypes_once(tenants: Tenants) -> None:
    for number in range(41):
        person = User.objects.create_user(f"pupil{number}", email=f"p{number}@example.org")
        User.objects.filter(pk=person.pk).update(password=tenants.bob.password)
        assert tried(person.username, "mistyped it").status_code == 200
        assert tried(person.username, PASSWORD).status_code == 302


def test_who_guesses_is_slowed_down_and_told_how_long(tenants: Tenants) -> None:
    assert guess("bob", 8) == [200] * 6 + [429] * 2
    refused = tried("bob", PASSWORD)
    assert (refused.status_code, refused["Retry-After"]) == (429, "60")
    assert "Wait 60 seconds" in refused.content.decode()
    assert 'name="password"' in refused.content.decode(), "the form is there to try again"


def test_slowed_down_is_not_locked_out(tenants: Tenants) -> None:
    with time_machine.travel("2026-03-01T10:00:00Z", tick=False) as clock:
        assert guess("bob", 8)[-1] == 429
        clock.shift(61)
        assert tried("bob", PASSWORD).status_code == 302


def test_a_stranger_elsewhere_locks_nobody_out(tenants: Tenants) -> None:
    guess("bob", 10, ELSEWHERE)
    assert tried("bob", PASSWORD).status_code == 302


@time_machine.travel("2026-03-01T10:00:00Z", tick=False)
def test_many_strangers_everywhere_do_not_stop_who_signed_in_from_this_network_before(tenants: Tenants) -> None:
    assert tried("bob", PASSWORD).status_code == 302
    answers = [tried("bob", "guess", network=f"203.0.113.{number}").status_code for number in range(60)]
    said = "an account is not guessed at from everywhere without an end"
    assert answers == [200] * 51 + [429] * 9, said
    assert tried("bob", PASSWORD, network="192.0.2.1").status_code == 429
    assert tried("bob", PASSWORD).status_code == 302


def test_a_browser_that_signed_in_before_gets_in_beside_a_guessing_neighbour(tenants: Tenants) -> None:
    own = Client()
    assert tried("bob", PASSWORD, client=own).status_code == 302
    own.cookies.pop("session")
    guess("bob", 10)
    assert tried("bob", PASSWORD).status_code == 429
    assert tried("bob", PASSWORD, client=own).status_code == 302


def test_the_browsers_cookie_is_for_its_person_alone_opens_nothing_and_is_bounded(tenants: Tenants) -> None:
    own = Client()
    tried("bob", PASSWORD, client=own)
    own.cookies.pop("session")
    assert own.get("/").status_code == 302
    guess("alice", 10)
    assert tried("alice", PASSWORD, client=own).status_code == 429
    answers = [tried("bob", "guess", client=own).status_code for _ in range(14)]
    assert answers == [200] * 11 + [429] * 3
    forged = Client()
    forged.cookies["device"] = own.cookies["device"].value[:-1] + "x"
    guess("bob", 10)
    assert tried("bob", PASSWORD, client=forged).status_code == 429


def test_a_network_that_guesses_at_names_is_slowed_down_and_who_was_refused_meanwhile_made_no_try(
    tenants: Tenants,
) -> None:
    with time_machine.travel("2026-03-01T10:00:00Z", tick=False) as clock:
        answers = [tried(f"name{number}", "guess").status_code for number in range(103)]
        assert answers == [200] * 101 + [429] * 2
        assert guess("bob", 8) == [429] * 8
        assert tried("bob", PASSWORD, network=ELSEWHERE).status_code == 302
        clock.shift(301)
        assert guess("bob", 6) == [200] * 6, "none of the refused ones counts as his"


def test_who_waited_and_was_right_waits_no_more(tenants: Tenants) -> None:
    with time_machine.travel("2026-03-01T10:00:00Z", tick=False) as clock:
        assert guess("bob", 8)[-1] == 429
        clock.shift(61)
        assert [tried("bob", PASSWORD).status_code for _ in range(2)] == [302, 302]


def test_a_browser_is_known_by_who_signed_in_and_counts_for_each_of_them(tenants: Tenants) -> None:
    own = Client()
    assert tried("bob", "wrong", client=own).status_code == 200
    assert "device" not in own.cookies, "a wrong password makes no browser known"
    for login in ("bob", "alice"):
        assert tried(login, PASSWORD, client=own).status_code == 302
        own.cookies.pop("session")
    assert [tried("bob", "guess", client=own).status_code for _ in range(12)] == [200] * 11 + [429]
    assert tried("alice", PASSWORD, client=own).status_code == 302


def test_a_right_password_counts_against_nobody(tenants: Tenants) -> None:
    for _ in range(12):
        assert tried("bob", PASSWORD).status_code == 302
    assert guess("bob", 6) == [200] * 6


def test_a_network_of_ipv6_is_one_place(tenants: Tenants) -> None:
    answers = [tried("bob", "guess", network=f"2001:db8:1:2::{number}").status_code for number in range(1, 9)]
    assert answers[-1] == 429


def test_no_answer_tells_whether_there_is_such_an_account(tenants: Tenants) -> None:
    def answers(login: str, network: str) -> list[tuple[int, str]]:
        found = [tried(login, "guess", network=network) for _ in range(8)]
        return [(one.status_code, _without_tokens(one.content.decode(), login)) for one in found]

    assert answers("bob", HERE) == answers("zoe", ELSEWHERE)
    assert answers("bob@example.org", "192.0.2.1") == answers("zoe@example.org", "192.0.2.2")


def _without_tokens(page: str, login: str) -> str:
    lines = [line for line in page.replace(login, "LOGIN").splitlines() if "csrfmiddlewaretoken" not in line]
    return "\n".join(lines)


class Gone:
    """A cache whose server is away."""

    def __getattr__(self, name: str) -> Any:
        def fail(*args: Any, **kwargs: Any) -> Any:
            raise RedisGone("connection refused")

        return fail


def test_while_the_cache_is_away_people_sign_in_and_guesses_stay_bounded(
    tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "cache", Gone())
    assert tried("bob", PASSWORD).status_code == 302
    assert guess("alice", 8)[-2:] == [429, 429]


# --- Hashes -----------------------------------------------------------------------------------------------------


@pytest.fixture
def counted(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hashes that are made, as production makes them."""
    settings.PASSWORD_HASHERS = ["accounts.hashing.PasswordHasher"]
    made: list[str] = []
    for name in ("encode", "verify"):
        before = getattr(hashing.PasswordHasher, name)

        def count(self: Any, password: str, other: str, _before: Any = before) -> Any:
            made.append(password)
            return _before(self, password, other)

        monkeypatch.setattr(hashing.PasswordHasher, name, count)
    return made


def test_one_hash_tells_however_many_accounts_claim_an_address(tenants: Tenants, counted: list[str]) -> None:
    people = [
        User.objects.create_user(f"same{number}", email="same@example.org", password=f"password of {number}")
        for number in range(3)
    ]
    lone = User.objects.create_user("lone", email="lone@example.org", password="password of lone")
    for login in ("nobody@example.org", "lone@example.org", "same@example.org", "nobody", "lone", "same1"):
        counted.clear()
        assert tried(login, "wrong").status_code == 200
        assert counted == ["wrong"], login
    for number, person in enumerate(people):
        client = Client()
        counted.clear()
        assert tried("same@example.org", f"password of {number}", client=client).status_code == 302
        assert client.session["_auth_user_id"] == str(person.pk)
        assert counted == [f"password of {number}"]
    assert tried("lone", "password of lone").status_code == 302
    assert len({person.password for person in people}) == 3
    assert lone.shared_salt() is None


def test_an_account_of_before_opens_and_is_made_like_the_others(tenants: Tenants, counted: list[str]) -> None:
    first = User.objects.create_user("first", email="same@example.org", password="password of first")
    second = User.objects.create_user("second", email="same@example.org")
    old = "argon2$argon2id$v=19$m=102400,t=2,p=8$"
    settings_of_before = _made_before("password of second")
    assert settings_of_before.startswith(old)
    User.objects.filter(pk=second.pk).update(password=settings_of_before)
    assert tried("same@example.org", "password of second").status_code == 302
    second.refresh_from_db()
    assert second.password.split("$")[:5] == first.password.split("$")[:5], "the same cost and salt"
    assert tried("same@example.org", "password of second").status_code == 302


def _made_before(password: str) -> str:
    from django.contrib.auth.hashers import Argon2PasswordHasher

    return str(Argon2PasswordHasher().encode(password, "a salt of before 1234567"))


def test_a_hash_takes_46_mib_and_one_pass() -> None:
    """Twice the memory is four times the time, and what two processes of a small machine do not have."""
    assert (
        hashing.PasswordHasher()
        .encode(PASSWORD, "a salt of today 1234567")
        .startswith("argon2$argon2id$v=19$m=47104,t=1,p=1$")
    )


def test_whose_turn_takes_too_long_gives_its_place_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "WAIT_SECONDS", 0.05)
    turn, enough, holds = Turn(), threading.Event(), threading.Event()

    def hold() -> None:
        with turn.taken():
            holds.set()
            enough.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    assert holds.wait(30)
    for _ in range(hashing.WAITING + 1):
        with pytest.raises(Busy), turn.taken():
            pass
    assert turn._places._value == hashing.WAITING, "nobody waits any more"
    enough.set()
    thread.join()


def test_a_process_hashes_one_password_at_a_time_and_lets_few_wait() -> None:
    turn, enough = Turn(), threading.Event()
    holding = threading.Semaphore(0)
    order: list[str] = []

    def hold() -> None:
        with turn.taken(), turn.taken():  # again, as the sign-in and the hasher do
            order.append("in")
            holding.release()
            enough.wait(30)
            order.append("out")

    threads = [threading.Thread(target=hold) for _ in range(1 + hashing.WAITING)]
    for thread in threads:
        thread.start()
    assert holding.acquire(timeout=30)
    while turn._places._value:
        threading.Event().wait(0.01)
    with pytest.raises(Busy, match="Many people are signing in"), turn.taken():
        pass
    enough.set()
    for thread in threads:
        thread.join()
    assert order == ["in", "out"] * len(threads)
    with turn.taken():
        pass


@pytest.mark.parametrize("where", ["signing in", "changing", "mistyping the old one"])
def test_whose_turn_does_not_come_is_told_when_to_try_again(
    tenants: Tenants, counted: list[str], monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    client = Client()
    client.force_login(tenants.bob)
    full = Turn()
    full._places = threading.BoundedSemaphore(1)
    full._places.acquire()
    monkeypatch.setattr(hashing, "turn", full)
    monkeypatch.setattr("accounts.login.turn", full)
    if where == "signing in":
        answer = tried("bob", PASSWORD)
    elif where == "mistyping the old one":
        User.objects.filter(pk=tenants.bob.pk).update(password=_made_before(PASSWORD))
        client.force_login(User.objects.get(pk=tenants.bob.pk))
        form = {"oldpassword": "mistyped", "password1": "something else 5", "password2": "something else 5"}
        answer = client.post("/accounts/password/change/", form)
    else:
        User.objects.filter(pk=tenants.bob.pk).update(password=_made_before(PASSWORD))
        client.force_login(User.objects.get(pk=tenants.bob.pk))
        form = {"oldpassword": PASSWORD, "password1": "something else 5", "password2": "something else 5"}
        answer = client.post("/accounts/password/change/", form)
    assert (answer.status_code, answer["Retry-After"]) == (503, "3")
    assert "Many people are signing in" in answer.content.decode()


def test_a_try_that_is_refused_waits_for_no_turn_and_one_whose_turn_never_comes_is_none(
    tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    guess("alice", 6)
    full = Turn()
    monkeypatch.setattr(hashing, "turn", full)
    monkeypatch.setattr("accounts.login.turn", full)
    for _ in range(1 + hashing.WAITING):
        assert full._places.acquire(blocking=False)
    assert tried("alice", "guess").status_code == 429, "no place was needed to say so"
    assert [tried("bob", "guess").status_code for _ in range(8)] == [503] * 8
    for _ in range(1 + hashing.WAITING):
        full._places.release()
    assert tried("bob", PASSWORD).status_code == 302, "none of his tries was made"


def test_the_task_page_is_told_in_the_same_words(tenants: Tenants) -> None:
    guess("bob", 8)
    answer = Client().post(
        LOGIN, {"login": "bob", "password": PASSWORD}, REMOTE_ADDR=HERE, HTTP_ACCEPT="application/json"
    )
    assert (answer.status_code, answer["Retry-After"]) == (429, "60")
    assert "Wait 60 seconds" in answer.json()["form"]["errors"][0]
