"""A judge's answers from the file in the browser to the page's figures, and its disagreements back to people."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.agreement.judging import Judging, answer, comment, lines
from tests.stories.conftest import Reader
from tests.stories.test_the_project_page import assert_fits
from tests.tenants import Tenants

pytestmark = pytest.mark.browser

PAGE = "/o/acme/p/parser/agreement/machines/"
PEOPLE = {f"t{number:02}": "request_changes" if number % 3 == 0 else "approve" for number in range(36)}
KIND = {name: "approve" if number in (0, 3, 6, 9) else said for number, (name, said) in enumerate(PEOPLE.items())}


def test_a_manager_imports_a_judges_answers_and_sends_disagreements_to_people(
    tenants_of_browsers: Tenants, themed_reader: Reader, tmp_path: Path
) -> None:
    reader, page = themed_reader, themed_reader.page
    judging = Judging(tenants_of_browsers, tenants_of_browsers.acme_project, tmp_path)
    judging.begin(36)
    judging.people_say(PEOPLE)
    file = tmp_path / "judge-a.jsonl"
    comments = {"t12": [comment(16)], "t15": [comment(50, "style")]}
    file.write_bytes(lines(answer(name, said, *comments.get(name, [])) for name, said in KIND.items()))

    reader.sign_in("mallory")
    reader.open(PAGE)
    expect(page.get_by_role("heading", name="No source has answered yet")).to_be_visible()
    reader.assert_clean("empty")
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Import answers").click()
    expect(page.get_by_role("status").filter(has_text="is being imported")).to_be_visible()
    expect(page.get_by_text("Being computed")).to_be_visible()
    judging.work()

    # The page looks for itself, and has the figures then.
    expect(page.get_by_text("judge-a 3.1 is too kind: it lets pass 1 of 3 runs that people reject.")).to_be_visible()
    measures = page.get_by_role("table", name="Source against consensus")
    expect(measures.get_by_role("row", name="Sensitivity Of the runs")).to_contain_text("24 of 24")
    expect(measures.get_by_role("row", name="Specificity Of the runs")).to_contain_text("8 of 12")
    (values,) = judging.report(judging.source()).figures["schemes"][1]["values"]
    corrected = values["rates"]["corrected"]
    expect(measures.get_by_role("row", name="Success rate, corrected")).to_contain_text(f"{corrected['value']:.0%}")
    expect(measures.get_by_role("img").first).to_have_attribute("aria-label", "1.00, 95% interval from 1.00 to 1.00")
    for width in (1440, 768, 390):
        page.set_viewport_size({"width": width, "height": 1000})
        assert_fits(page)
        reader.assert_clean(f"{width} px")
    page.set_viewport_size({"width": 1440, "height": 1000})

    expect(page.get_by_text("Tick traces to send them to people")).to_be_visible()
    page.get_by_label("Choose all 4").check()
    expect(page.get_by_text("4 chosen")).to_be_visible()
    page.get_by_role("button", name="Send to people").click()
    expect(page.get_by_role("heading", name="Send 4 traces to people")).to_be_visible()
    reader.assert_clean("asked")
    page.get_by_role("button", name="Send to people").click()
    expect(page.get_by_role("status").filter(has_text="4 traces are given to one annotator more each.")).to_be_visible()
    expect(page.get_by_text("sent to 1 person more")).to_have_count(4)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    left = [json.loads(line) for line in Path(download.value.path()).read_text().splitlines()]
    assert {one["id"]: one["annotations"]["verdict"]["decision"] for one in left} == KIND
    assert {one["source"]["version"] for one in left} == {"3.1"}


def test_a_chosen_source_is_shown_at_once_and_stands_in_the_address(
    tenants_of_browsers: Tenants, reader: Reader, tmp_path: Path
) -> None:
    judging = Judging(tenants_of_browsers, tenants_of_browsers.acme_project, tmp_path)
    judging.begin(12)
    said = dict(list(PEOPLE.items())[:12])
    judging.people_say(said)
    for version in ("3.0", "3.1"):
        judging.take(answer(name, "approve", source={"name": "judge-a", "version": version}) for name in said)
    judging.work()
    first = judging.source(version="3.0")
    reader.sign_in("mallory")
    reader.open(PAGE)
    page = reader.page
    expect(page.get_by_role("heading", name="judge-a 3.1 against people")).to_be_visible()
    page.get_by_role("row", name="3.0").get_by_role("radio").check()
    page.wait_for_url(f"**{PAGE}?source={first.pk}")
    expect(page.get_by_role("heading", name="judge-a 3.0 against people")).to_be_visible()
    expect(page.get_by_role("table", name="Source against consensus")).to_contain_text("the source cannot be corrected")
    reader.assert_clean()
