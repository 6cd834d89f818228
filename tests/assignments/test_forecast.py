"""When a project is done: few days say nothing, weekdays have their own pace, and the range holds what it says."""

from datetime import date, timedelta
from random import Random

import pytest

from assignments.forecast import DAYS_WITH_WORK, Day, forecast
from tests.dashboard.reviews import chance

TODAY = date(2026, 11, 22)


def days(*numbers: int) -> list[Day]:
    """The last days, of which the last is today."""
    first = TODAY - timedelta(days=len(numbers) - 1)
    return [Day(first + timedelta(days=at), number) for at, number in enumerate(numbers)]


@pytest.mark.parametrize("numbers", [(), (0,) * 30, (0,) * 26 + (9, 9, 9, 9), (9, 0, 9, 0, 0, 9, 0, 9, 0)])
def test_fewer_than_five_days_with_work_say_nothing(numbers: tuple[int, ...]) -> None:
    assert forecast(days(*numbers), 100) is None


def test_nothing_is_said_where_nothing_is_left() -> None:
    assert forecast(days(*[10] * 20), 0) is None


def test_five_days_with_work_are_enough() -> None:
    found = forecast(days(*[0] * 20, *[10] * DAYS_WITH_WORK, 0), 50)
    assert found is not None
    assert found.likely == TODAY + timedelta(days=5)
    assert found.a_day == 10


def test_an_even_pace_ends_when_division_says_with_a_range_around_it() -> None:
    found = forecast(days(*[10] * 29), 100)
    assert found is not None
    assert found.likely == TODAY + timedelta(days=10)
    assert found.early is not None
    assert found.late is not None
    assert found.early <= found.likely <= found.late
    assert found.early < found.late


def test_a_weekend_without_work_is_expected_to_have_hardly_any() -> None:
    """22 November 2026 is a Sunday."""
    numbers = [0 if (TODAY - timedelta(days=back)).weekday() >= 5 else 20 for back in range(28, -1, -1)]
    found = forecast(days(*numbers), 100)
    assert found is not None
    by_weekday = {day.date.weekday(): day.mean for day in found.days}
    assert by_weekday[5] < 4 < 15 < by_weekday[0]
    assert found.likely is not None
    assert timedelta(days=5) <= found.likely - TODAY <= timedelta(days=8), "five working days"


def test_what_is_more_than_a_year_away_has_no_day() -> None:
    found = forecast(days(*[1] * 29), 100_000)
    assert found is not None
    assert (found.early, found.likely, found.late) == (None, None, None)
    assert len(found.days) == 10
    # One a day: so many days from today on.
    in_a_year, later = (forecast(days(*[1] * 29), left) for left in (365, 366))
    assert in_a_year is not None
    assert later is not None
    assert in_a_year.likely == days(*[1] * 29)[-1].date + timedelta(days=365)
    assert later.likely is None


def test_today_is_not_over_and_does_not_pull_the_pace_down() -> None:
    assert forecast(days(*[10] * 28, 0), 100) == forecast(days(*[10] * 28, 9), 100)


def test_projects_that_go_on_like_before_end_within_the_range_about_as_often_as_it_says() -> None:
    random, within, all_of_them = chance(7), 0, 300
    for _ in range(all_of_them):

        def day(at: int, random: Random = random) -> int:
            mean = (20, 20, 20, 20, 20, 4, 1)[at % 7]
            return sum(random.random() < mean / 100 for _ in range(100))

        past = [day(at) for at in range(28)]
        found = forecast(days(*past, 0), 200)
        assert found is not None
        came, at = 0, 28
        # The day after today is the 29th of the pattern, today has nothing more.
        while came < 200:
            at += 1
            came += day(at)
        done = TODAY + timedelta(days=at - 28)
        assert found.early is not None
        assert found.late is not None
        within += found.early <= done <= found.late
    assert 0.75 <= within / all_of_them <= 0.99
