"""What is looked for: one rule a kind of key, written after what its vendor documents, and two for personal data.

The patterns are RE2's, which takes time in proportion to the text whatever the text is. They are matched against UTF-8
as bytes, so that a pattern names ASCII alone. Group 1 is what is found.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Group: TypeAlias = Literal["keys", "personal_data"]

_BEGIN = r"(?:\b|\\[nrt]|(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e)\[[0-9;]{0,20}m)"
"""A word begins; also behind an escaped line end, as in JSON that stands in a text, and behind the code of a colour, as
terminals write it."""
_WORD = r"[A-Za-z0-9]"
_TOKEN = r"[A-Za-z0-9_-]"  # noqa: S105  (a class of characters)


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind. A text is searched for the `pattern` where its `hint` occurs, which is quick to find.

    `label` goes behind "1" and `plural` behind a larger number. `word` begins its placeholders. `source` is the page
    that shows what such a key looks like. What matches `harmless` as a whole is left alone: examples out of
    documentation, and names that are no person's.
    """

    kind: str
    label: str
    hint: str
    pattern: str
    source: str
    harmless: str = ""
    group: Group = "keys"
    word: str = "SECRET"

    @property
    def plural(self) -> str:
        return _PLURALS.get(self.kind, f"{self.label}s")


_PLURALS = {"email": "e-mail addresses", "home_folder": "names of home folders", "url_password": "passwords in URLs"}


def _key(kind: str, label: str, prefix: str, rest: str, source: str, *, end: str = r"\b", harmless: str = "") -> Rule:
    """A key that its prefix gives away."""
    word = kind.upper().replace("_", "-")
    return Rule(kind, label, prefix, f"{_BEGIN}({prefix}{rest}){end}", source, harmless, word=word)


_GITHUB = (
    "https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github"
)

_HOMES = "https://refspecs.linuxfoundation.org/FHS_3.0/fhs/ch03s08.html"
_NOBODY = (
    "(?i)(?:user|users|username|your[-_]?(?:user)?name|name|me|runner|runneradmin|ubuntu|debian|centos|fedora|"
    "ec2-user|root|admin|administrator|vscode|node|app|jovyan|agent|sandbox|openhands|swe-?agent|circleci|travis|"
    "vagrant|docker|build|builder|builduser|dev|developer|coder|codespace|gitpod|jenkins|git|www-data|postgres|"
    "nonroot|model|test|tester|testuser|example|shared|public|default|all|linuxbrew|pi|oai|claude)"
)
"""Users that images, services of continuous integration and operating systems make."""

RULES: tuple[Rule, ...] = (
    _key(
        "aws_access_key",
        "AWS access key id",
        "(?:AKIA|ASIA)",
        "[A-Z2-7]{16}",
        "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html",
        harmless="[A-Z0-9]*EXAMPLE",
    ),
    Rule(
        "aws_secret_key",
        "AWS secret access key",
        r"(?i)secret_?access_?key",
        r"""(?i)secret_?access_?key["']?\s{0,4}[:=]\s{0,4}["']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)""",
        "https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-files.html",
        "[A-Za-z0-9/+]*EXAMPLEKEY",
        word="AWS-SECRET-KEY",
    ),
    _key("github_token", "GitHub token", "gh[pousr]_", "[A-Za-z0-9]{36,255}", _GITHUB),
    _key("github_fine_grained_token", "fine-grained GitHub token", "github_pat_", "[A-Za-z0-9_]{30,255}", _GITHUB),
    _key(
        "gitlab_token",
        "GitLab token",
        "gl(?:pat|dt|rt|cbt|ptt|ft|oas|soat|agent|imt)-",
        "[A-Za-z0-9_.-]{19,200}[A-Za-z0-9_]",
        "https://docs.gitlab.com/security/tokens/",
    ),
    _key(
        "slack_token",
        "Slack token",
        "(?:xox[abeoprs]|xapp)-",
        "[A-Za-z0-9-]{15,250}[A-Za-z0-9]",
        "https://docs.slack.dev/authentication/tokens",
    ),
    Rule(
        "slack_webhook",
        "Slack webhook",
        "hooks[.]slack[.]com/services/",
        r"hooks\.slack\.com/services/(T[A-Z0-9]{6,16}/B[A-Z0-9]{6,16}/[A-Za-z0-9]{20,40})\b",
        "https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks",
        "T0+/B0+/X+",
        word="SLACK-WEBHOOK",
    ),
    _key(
        "google_api_key",
        "Google API key",
        "AIza",
        f"{_TOKEN}{{35}}",
        "https://cloud.google.com/docs/authentication/api-keys",
        end=r"(?:[^A-Za-z0-9_-]|$)",
    ),
    _key(
        "google_oauth_token",
        "Google OAuth token",
        "(?:ya29[.]|GOCSPX-)",
        f"{_TOKEN}{{27,400}}{_WORD}",
        "https://developers.google.com/identity/protocols/oauth2",
    ),
    _key(
        "openai_key",
        "OpenAI key",
        "sk-",
        f"(?:(?:proj|svcacct|admin)-{_TOKEN}{{30,250}}{_WORD}|{_WORD}{{48}})",
        "https://platform.openai.com/docs/api-reference/authentication",
    ),
    _key(
        "anthropic_key",
        "Anthropic key",
        "sk-ant-",
        f"[a-z]{{3,8}}[0-9]{{2}}-{_TOKEN}{{30,250}}",
        "https://docs.anthropic.com/en/api/overview",
        end="",
    ),
    _key(
        "huggingface_token",
        "Hugging Face token",
        "hf_",
        f"{_WORD}{{34,60}}",
        "https://huggingface.co/docs/hub/security-tokens",
    ),
    _key(
        "groq_key",
        "Groq key",
        "gsk_",
        f"{_WORD}{{40,60}}",
        "https://console.groq.com/docs/quickstart",
    ),
    _key(
        "replicate_token",
        "Replicate token",
        "r8_",
        f"{_WORD}{{37}}",
        "https://replicate.com/docs/topics/security/api-tokens",
    ),
    _key("stripe_key", "Stripe key", "[sr]k_(?:live|test)_", f"{_WORD}{{20,250}}", "https://docs.stripe.com/keys"),
    _key(
        "webhook_secret",
        "webhook secret",
        "whsec_",
        r"[A-Za-z0-9+/]{24,100}",
        "https://docs.stripe.com/webhooks",
    ),
    _key("npm_token", "npm token", "npm_", f"{_WORD}{{36}}", "https://docs.npmjs.com/about-access-tokens"),
    _key(
        "pypi_token",
        "PyPI token",
        "pypi-",
        f"AgE{_TOKEN}{{60,250}}",
        "https://pypi.org/help/#apitoken",
        end="",
    ),
    Rule(
        "private_key",
        "private key",
        "-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY",
        # A rule of its own: what lies between the marks has line ends, which stay. potato.runs.secrets.found reads it.
        "(-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----)",
        "https://www.rfc-editor.org/rfc/rfc7468",
        word="PRIVATE-KEY",
    ),
    Rule(
        "jwt",
        "JSON Web Token",
        r"\beyJ",
        f"{_BEGIN}(eyJ{_TOKEN}{{10,}}[.]eyJ{_TOKEN}{{10,}}[.]{_TOKEN}{{16,}})",
        "https://www.rfc-editor.org/rfc/rfc7519",
        word="JSON-WEB-TOKEN",
    ),
    Rule(
        "azure_storage_key",
        "Azure storage key",
        "AccountKey=",
        "AccountKey=([A-Za-z0-9+/]{86}==)",
        "https://learn.microsoft.com/en-us/azure/storage/common/storage-configure-connection-string",
        word="AZURE-STORAGE-KEY",
    ),
    Rule(
        "azure_signature",
        "Azure shared access signature",
        "[?&;]sig=",
        "[?&;]sig=([A-Za-z0-9%/+]{40,90}(?:%3[Dd]|=))",
        "https://learn.microsoft.com/en-us/azure/storage/common/storage-sas-overview",
        word="AZURE-SIGNATURE",
    ),
    Rule(
        "azure_client_secret",
        "Azure client secret",
        "[0-9]Q~",
        r"(?:^|[^A-Za-z0-9_~.-])([A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})(?:[^A-Za-z0-9_~.-]|$)",
        "https://learn.microsoft.com/en-us/entra/identity-platform/how-to-add-credentials",
        word="AZURE-CLIENT-SECRET",
    ),
    _key("twilio_key", "Twilio API key", "SK", "[0-9a-f]{32}", "https://www.twilio.com/docs/iam/api-keys"),
    _key(
        "sendgrid_key",
        "SendGrid key",
        "SG[.]",
        f"{_TOKEN}{{22}}[.]{_TOKEN}{{43}}",
        "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys",
        end=r"(?:[^A-Za-z0-9_-]|$)",
    ),
    _key(
        "mailgun_key",
        "Mailgun key",
        "key-",
        "[0-9a-f]{32}",
        "https://documentation.mailgun.com/docs/mailgun/api-reference/mg-auth",
    ),
    _key(
        "digitalocean_token",
        "DigitalOcean token",
        "do[por]_v1_",
        "[0-9a-f]{64}",
        "https://docs.digitalocean.com/reference/api/create-personal-access-token/",
    ),
    _key(
        "docker_token",
        "Docker token",
        "dckr_(?:pat|oat)_",
        f"{_TOKEN}{{26,60}}{_WORD}",
        "https://docs.docker.com/security/access-tokens/",
    ),
    _key(
        "databricks_token",
        "Databricks token",
        "dapi",
        "[0-9a-f]{32}(?:-[0-9])?",
        "https://docs.databricks.com/aws/en/dev-tools/auth/pat",
    ),
    Rule(
        "telegram_token",
        "Telegram bot token",
        ":AA",
        f"{_BEGIN}([0-9]{{8,10}}:AA{_TOKEN}{{33}})(?:[^A-Za-z0-9_-]|$)",
        "https://core.telegram.org/bots/api#authorizing-your-bot",
        word="TELEGRAM-TOKEN",
    ),
    Rule(
        "discord_webhook",
        "Discord webhook",
        "discord(?:app)?[.]com/api/webhooks/",
        f"discord(?:app)?[.]com/api/webhooks/([0-9]{{15,20}}/{_TOKEN}{{60,80}})",
        "https://discord.com/developers/docs/resources/webhook",
        word="DISCORD-WEBHOOK",
    ),
    _key(
        "shopify_token",
        "Shopify token",
        "shp(?:at|ca|pa|ss)_",
        "[0-9a-fA-F]{32}",
        "https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens",
    ),
    _key(
        "linear_key",
        "Linear key",
        "lin_api_",
        f"{_WORD}{{40}}",
        "https://linear.app/developers/graphql",
    ),
    _key(
        "notion_token",
        "Notion token",
        "ntn_",
        f"{_WORD}{{40,60}}",
        "https://developers.notion.com/reference/authentication",
    ),
    _key(
        "atlassian_token",
        "Atlassian token",
        "ATATT3",
        "[A-Za-z0-9_=-]{150,250}",
        "https://support.atlassian.com/atlassian-account/docs/manage-api-tokens-for-your-atlassian-account/",
        end="",
    ),
    _key(
        "vault_token",
        "HashiCorp Vault token",
        "hv[sbr][.]",
        f"{_TOKEN}{{24,250}}",
        "https://developer.hashicorp.com/vault/docs/concepts/tokens",
        end="",
    ),
    _key(
        "newrelic_key",
        "New Relic key",
        "NRAK-",
        "[A-Z0-9]{27}",
        "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/",
    ),
    _key(
        "grafana_token",
        "Grafana token",
        "glsa_",
        f"{_WORD}{{32}}_[0-9a-f]{{8}}",
        "https://grafana.com/docs/grafana/latest/administration/service-accounts/",
    ),
    _key(
        "openrouter_key",
        "OpenRouter key",
        "sk-or-v1-",
        "[0-9a-f]{64}",
        "https://openrouter.ai/docs/api-reference/authentication",
    ),
    _key("xai_key", "xAI key", "xai-", f"{_WORD}{{70,100}}", "https://docs.x.ai/docs/tutorial"),
    _key(
        "perplexity_key",
        "Perplexity key",
        "pplx-",
        f"{_WORD}{{40,64}}",
        "https://docs.perplexity.ai/getting-started/quickstart",
    ),
    _key(
        "nvidia_key",
        "NVIDIA key",
        "nvapi-",
        f"{_TOKEN}{{60,80}}",
        "https://docs.api.nvidia.com/nim/docs/api-quickstart",
        end="",
    ),
    _key(
        "sentry_token",
        "Sentry token",
        "sntry[su]_",
        "[A-Za-z0-9+/=_-]{40,400}",
        "https://docs.sentry.io/account/auth-tokens/",
        end="",
    ),
    _key(
        "supabase_token",
        "Supabase token",
        "sbp_",
        "[0-9a-f]{40}",
        "https://supabase.com/docs/reference/api/introduction",
    ),
    _key(
        "figma_token",
        "Figma token",
        "fig[dou]_",
        f"{_TOKEN}{{40,80}}",
        "https://developers.figma.com/docs/rest-api/authentication/",
        end="",
    ),
    _key(
        "doppler_token",
        "Doppler token",
        r"dp[.](?:pt|st|ct|sa|scim|audit)[.]",
        "(?:[a-z0-9_-]{2,35}[.])?[A-Za-z0-9]{40,44}",
        "https://docs.doppler.com/reference/auth-token-formats",
    ),
    _key("rubygems_key", "RubyGems key", "rubygems_", "[0-9a-f]{48}", "https://guides.rubygems.org/api-key-scopes/"),
    _key(
        "heroku_key",
        "Heroku key",
        "HRKU-AA",
        f"{_TOKEN}{{58}}",
        "https://devcenter.heroku.com/articles/authentication",
        end="",
    ),
    Rule(
        "url_password",
        "password in a URL",
        r"://[^\s/@:]{0,100}:[^\s/@]{1,200}@",
        r"""[A-Za-z0-9]://[^\s/@:"'<>]{0,100}:([^\s/@:"'<>]{3,200})@[A-Za-z0-9\[{$]""",
        "https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1",
        r"(?i)(?:.*[${%*<>].*|\[?(?:your[-_]?)?(?:pass|passwd|password|pwd|secret|token|postgres|root|mysql|redis|admin|"
        r"user|guest|test|example|changeme|dbpass|db_password|mysecretpassword|x-oauth-basic)\]?)",
        word="PASSWORD",
    ),
    Rule(
        "email",
        "e-mail address",
        "[A-Za-z0-9]@[A-Za-z0-9]",
        r"(?:^|[^A-Za-z0-9._%+/:@\\-]|\\[nrt]|mailto:)([A-Za-z0-9](?:[A-Za-z0-9._%+-]{0,62}[A-Za-z0-9_+-])?"
        r"@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,6}[A-Za-z]{2,24})\b",
        "https://www.rfc-editor.org/rfc/rfc5321",
        # Reserved for documentation, senders that nobody reads, and addresses of repositories.
        r"(?i)(?:git|noreply|no-reply|donotreply)@.*|.*@(?:.*\.)?(?:example\.(?:com|org|net)|noreply\.github\.com)"
        r"|.*\.(?:example|invalid|test|localhost|local|png|svg|jpe?g|gif|webp)",
        "personal_data",
        "EMAIL",
    ),
    Rule(
        "home_folder",
        "name of a home folder",
        r"/(?:home|Users)/|[\\/]Users[\\/]",
        r"(?:/(?:home|Users)/|\b[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/))"
        r"([A-Za-z0-9_\x80-\xff](?:[A-Za-z0-9_.\x80-\xff]|-[A-Za-z0-9_])*)",
        _HOMES,
        _NOBODY,
        "personal_data",
        "USER",
    ),
    # As Claude Code names the folders of its sessions.
    Rule(
        "home_folder",
        "name of a home folder",
        "/projects/-(?:home|Users)-",
        r"/projects/-(?:home|Users)-([A-Za-z0-9_.\x80-\xff]+)",
        _HOMES,
        _NOBODY,
        "personal_data",
        "USER",
    ),
)


def label_of(kind: str, number: int = 1) -> str:
    """The name of a kind for people, as in "GitHub token"; its plural for other numbers than 1."""
    rule = next((rule for rule in RULES if rule.kind == kind), None)
    if rule is None:
        return kind
    return rule.label if number == 1 else rule.plural
