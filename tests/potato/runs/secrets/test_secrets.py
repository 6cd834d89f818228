"""Keys and personal data are found in runs by rules, and replaced so that every place of the run holds.

The keys here are made up: letters in their order, put together while the test runs.
"""

from itertools import cycle, islice

import pytest

from potato.runs.changes.derive import derive
from potato.runs.model import AgentRun, FileEdit, FileWrite, Step, ToolCall
from potato.runs.secrets import (
    RULES,
    ChangeDiffers,
    find,
    hide,
    label_of,
    placeholder,
    secrets_in_run,
    without_secrets,
)


def some(length: int, characters: str = "aB3dE5gH7jK9mN1pQ2sT4vX6zC8") -> str:
    return "".join(islice(cycle(characters), length))


HEX, UPPER = "0123456789abcdef", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
KEY_LINES = [some(64), some(64, "zY8wV6"), some(20)]
PRIVATE_KEY = "\n".join(["-----BEGIN RSA " + "PRIVATE KEY-----", *KEY_LINES, "-----END RSA " + "PRIVATE KEY-----"])

FOUND: dict[str, tuple[str, list[str]]] = {
    # kind: (a text with one, near misses)
    "aws_access_key": (f"key=AKIA{some(16, UPPER)}", [f"AKIA{some(15, UPPER)}", "AKIAIOSFODNN7EXAMPLE"]),
    "aws_secret_key": (
        f"aws_secret_access_key = {some(40)}",
        [f"aws_secret_access_key = {some(39)}", f"commit {some(40)}"],
    ),
    "github_token": (f"ghp_{some(36)}", [f"ghp_{some(20)}", f"xghp_{some(36)}"]),
    "github_fine_grained_token": (f"github_pat_{some(82)}", ["github_pat_short"]),
    "gitlab_token": (f"glpat-{some(20)}", ["glpat-abc"]),
    "slack_token": (f"xoxb-{some(24, '1234567890')}-{some(24)}", ["xoxb-1"]),
    "slack_webhook": (
        f"https://hooks.slack.com/services/T{some(9, UPPER)}/B{some(9, UPPER)}/{some(24)}",
        ["https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"],
    ),
    "google_api_key": (f"AIza{some(35)}", [f"AIza{some(20)}"]),
    "google_oauth_token": (f"GOCSPX-{some(28)}", ["GOCSPX-abc"]),
    "openai_key": (f"sk-proj-{some(60)}", ["sk-proj-abc", f"task-{some(48)}"]),
    "anthropic_key": (f"sk-ant-api03-{some(90)}", ["sk-ant-api03-abc"]),
    "huggingface_token": (f"hf_{some(34)}", ["hf_hub_download", f"hf_{some(12)}"]),
    "groq_key": (f"gsk_{some(52)}", ["gsk_abc"]),
    "replicate_token": (f"r8_{some(37)}", ["r8_abc"]),
    "stripe_key": (f"sk_live_{some(24)}", ["sk_live_abc"]),
    "webhook_secret": (f"whsec_{some(32)}", ["whsec_abc"]),
    "npm_token": (f"npm_{some(36)}", ["npm_config_registry"]),
    "pypi_token": (f"pypi-AgE{some(90)}", ["pypi-publish"]),
    "private_key": (PRIVATE_KEY, ["-----BEGIN PUBLIC KEY-----\nabcdefgh\n-----END PUBLIC KEY-----"]),
    "jwt": (f"eyJ{some(20)}.eyJ{some(30)}.{some(43)}", [f"eyJ{some(20)}.abc.def"]),
    "azure_storage_key": (f"AccountKey={some(86)}==;", [f"AccountKey={some(20)}=="]),
    "azure_signature": (f"https://x/y?sv=2024&sig={some(43)}%3D", ["?sig=abc"]),
    "azure_client_secret": (f"'{some(3)}8Q~{some(34)}'", ["8Q~abc"]),
    "twilio_key": (f"SK{some(32, HEX)}", [f"SK{some(31, HEX)}"]),
    "sendgrid_key": (f"SG.{some(22)}.{some(43)}", [f"SG.{some(22)}"]),
    "mailgun_key": (f"key-{some(32, HEX)}", ["key-value"]),
    "digitalocean_token": (f"dop_v1_{some(64, HEX)}", ["dop_v1_abc"]),
    "docker_token": (f"dckr_pat_{some(27)}", ["dckr_pat_x"]),
    "databricks_token": (f"dapi{some(32, HEX)}", [f"dapi{some(30, HEX)}"]),
    "telegram_token": (f"123456789:AA{some(33)}", ["12:AAbc"]),
    "discord_webhook": (f"https://discord.com/api/webhooks/{some(18, '123456789')}/{some(68)}", ["api/webhooks/1/x"]),
    "shopify_token": (f"shpat_{some(32, HEX)}", ["shpat_abc"]),
    "linear_key": (f"lin_api_{some(40)}", ["lin_api_abc"]),
    "notion_token": (f"ntn_{some(46)}", ["ntn_abc"]),
    "atlassian_token": (f"ATATT3{some(180)}", ["ATATT3abc"]),
    "vault_token": (f"hvs.{some(90)}", ["hvs.abc"]),
    "newrelic_key": (f"NRAK-{some(27, UPPER)}", ["NRAK-ABC"]),
    "grafana_token": (f"glsa_{some(32)}_{some(8, HEX)}", ["glsa_abc"]),
    "openrouter_key": (f"sk-or-v1-{some(64, HEX)}", ["sk-or-v1-abc"]),
    "xai_key": (f"xai-{some(80)}", ["xai-sdk", "xai-org/grok-1"]),
    "perplexity_key": (f"pplx-{some(48)}", ["pplx-70b-online"]),
    "nvidia_key": (f"nvapi-{some(64)}", ["nvapi-abc"]),
    "sentry_token": (f"sntrys_{some(100)}", ["sntrys_abc"]),
    "supabase_token": (f"sbp_{some(40, HEX)}", ["sbp_abc"]),
    "figma_token": (f"figd_{some(40)}", ["figd_abc"]),
    "doppler_token": (f"dp.pt.{some(43)}", ["dp.pt.abc"]),
    "rubygems_key": (f"rubygems_{some(48, HEX)}", ["rubygems_version"]),
    "heroku_key": (f"HRKU-AA{some(58)}", ["HRKU-AAabc"]),
    "url_password": (
        "postgres://ann:" + "hunter2go@db.internal/prod",
        ["postgres://postgres:postgres@localhost/x", "https://a.org:8080/@me", "redis://u:${PASSWORD}@cache"],
    ),
    "email": (
        "Written by ann.lee@corp.io.",
        ["you@example.com", "git@github.com:a/b", "a decorator @pytest.fixture", '"\\n@pytest.fixture"', "icon@2x.png"],
    ),
    "home_folder": (
        "cd /home/annlee/work",
        ["cd /home/user/work", "/home", "/homepage/annlee", "/Users/runner/work"],
    ),
}  # fmt: skip


def test_every_rule_has_a_page_and_a_case() -> None:
    assert set(FOUND) == {rule.kind for rule in RULES}
    assert all(rule.source.startswith("https://") for rule in RULES)
    assert len([rule for rule in RULES if rule.group == "keys"]) >= 30


@pytest.mark.parametrize("kind", FOUND)
def test_a_kind_is_found_and_what_is_nearly_one_is_not(kind: str) -> None:
    text, near = FOUND[kind]
    assert {found.kind for found in find(f"é {text} and more")} == {kind}
    assert [each for each in near if any(found.kind == kind for found in find(each))] == []
    assert kind in label_of(kind) or label_of(kind) != kind


@pytest.mark.parametrize("before", ["\\n", "\x1b[32m", "\x1b[0;1m", r"\u001b[32m", r"\x1b[m", r"\033[1;31m", r"\e[0m"])
@pytest.mark.parametrize("kind", [kind for kind in FOUND if kind.endswith(("_key", "_token", "url_password", "jwt"))])
def test_a_key_is_found_behind_an_escaped_line_end_and_in_colours(kind: str, before: str) -> None:
    text, _ = FOUND[kind]
    assert {found.kind for found in find(f"{before}{text}\x1b[0m")} == {kind}


@pytest.mark.parametrize("kind", FOUND)
def test_a_placeholder_has_its_length_and_is_not_found_again(kind: str) -> None:
    text, _ = FOUND[kind]
    run = AgentRun("run", "", steps=(Step(message=f"é {text} and more"),))
    secrets = secrets_in_run(run)
    clean = without_secrets(run, secrets)
    assert len(clean.steps[0].message) == len(run.steps[0].message)
    assert clean.steps[0].message.count("\n") == run.steps[0].message.count("\n")
    assert not any(value in repr(clean) for value in secrets.values)
    assert not secrets_in_run(clean)


@pytest.mark.parametrize(
    "step",
    [
        Step(calls=(ToolCall("1", "bash " + "ghp_" + some(36), {}),)),
        Step(calls=(ToolCall("ghp_" + some(36), "bash", {}),)),
        Step(model="ghp_" + some(36)),
        Step(at="ghp_" + some(36)),
    ],
)
def test_a_key_in_a_short_member_of_a_step_is_found_too(step: Step) -> None:
    run = AgentRun("run", "", steps=(step,))
    secrets = secrets_in_run(run)
    assert secrets.kinds == {"github_token": 1}
    assert "ghp_" not in repr(without_secrets(run, secrets))


def test_homes_on_all_systems_have_one_placeholder_each() -> None:
    text = r"/Users/bo/x C:\Users\bo\x C:\\Users\\bo\\x /home/bo/y /home/al/z /projects/-Users-bo-work"
    run = AgentRun("run", text)
    secrets = secrets_in_run(run)
    assert secrets.kinds == {"home_folder": 2}
    assert without_secrets(run, secrets).task == text.replace("bo", "x1").replace("/al", "/x2")


def test_a_secret_in_an_edit_is_replaced_everywhere_so_that_the_change_is_the_same() -> None:
    token = "ghp_" + some(36)
    before = f'"""é of ann.lee@corp.io."""\n\nTOKEN = "{token}"\nLIMIT = 3\n'
    half = f'N = "{token}"\nLIMIT'
    run = AgentRun(
        "run",
        "Take the token out.",
        steps=(
            Step(calls=(ToolCall("1", "Read", {"file": "/home/annlee/a.py"}, f"     3\tTOKEN = '{token}'"),)),
            Step(message=f"I put {token[:40]} into the environment."),
        ),
        events=(
            FileWrite("a.py", before, created=False, original=before.replace("LIMIT = 3", "LIMIT = 2")),
            FileEdit("a.py", half, half.replace("LIMIT", "MOST")),
            FileEdit("a.py", token, "from the environment"),
        ),
        event_steps=(0, 0, 1),
        folder="/home/annlee",
    )
    secrets = secrets_in_run(run)
    assert secrets.kinds == {"github_token": 1, "email": 1, "home_folder": 1}
    clean = without_secrets(run, secrets)
    (old,), (new,) = derive(run).files, derive(clean).files
    assert [(line.kind, line.old_no, line.new_no, len(line.text)) for hunk in old.hunks for line in hunk.lines] == [
        (line.kind, line.old_no, line.new_no, len(line.text)) for hunk in new.hunks for line in hunk.lines
    ]
    assert old.links == new.links
    assert old.links
    assert token not in repr(clean)
    assert new.new_text == old.new_text.replace("ann.lee@corp.io", "EMAIL-1-xxxxxxx") if old.new_text else False
    places = [(place.kind, place.step, place.part, place.line) for place in secrets.places if place.step is not None]
    assert ("github_token", 0, "result of the call", 1) in places
    assert ("github_token", 1, "message", 1) in places
    assert token not in repr(secrets.places)


def test_a_run_whose_edit_changes_a_part_of_a_secret_is_refused_instead_of_changed_wrongly() -> None:
    name = "/home/annlee/x"
    run = AgentRun(
        "run",
        "",
        events=(
            FileWrite("a.py", f"P = '{name}'\n", created=True),
            FileEdit("a.py", "annlee/x'", "boblee/x'"),
        ),
        event_steps=(None, None),
    )
    with pytest.raises(ChangeDiffers):
        without_secrets(run, secrets_in_run(run))


def test_a_patch_keeps_its_bytes_and_its_signs() -> None:
    lines = "".join(f"+{line}\n" for line in PRIVATE_KEY.split("\n"))
    head = "diff --git a/key.pem b/key.pem\nnew file mode 100644\n--- /dev/null\n+++ b/key.pem\n"
    patch = f"{head}@@ -0,0 +1,5 @@\n{lines}".encode() + b" \xff"
    run = AgentRun("run", "", patch=patch[:-2])
    clean = without_secrets(run, secrets_in_run(run))
    assert clean.patch is not None
    assert len(clean.patch) == len(patch) - 2
    assert not any(line.encode() in clean.patch for line in KEY_LINES)
    assert [line.text for hunk in derive(clean).files[0].hunks for line in hunk.lines][1].startswith("PRIVATE-KEY-1-x")


def test_lone_surrogates_and_long_texts_are_searched() -> None:
    text = "\ud800" + "a@" * 50_000 + f" ghp_{some(36)}"
    (found,) = find(text)
    assert text[found.start : found.end] == f"ghp_{some(36)}"
    assert hide(f"no: {found.value}!") == "no: [hidden]!"


def test_placeholders_of_one_kind_differ() -> None:
    assert placeholder("github_token", 1, 20) == "GITHUB-TOKEN-1-xxxxx"
    assert placeholder("home_folder", 2, 3) == "xx2"
    assert placeholder("home_folder", 12, 1) == "2"
