"""Settings, read top to bottom: the environment goes in, typed. Every variable NAME can be a file: NAME_FILE.

POTATO_MODE is `production` unless it says `development` or `test`. Production has no defaults for secrets and
servers, and system checks (potato_site.checks) refuse what cannot be right.
"""

import logging
from pathlib import Path
from typing import Any, Literal, cast

import django_stubs_ext
import psycopg
import structlog
from celery.schedules import schedule
from django.core.exceptions import ImproperlyConfigured
from environ import FileAwareEnv
from psycopg.conninfo import conninfo_to_dict

from accounts.invitation_links import without_secrets
from potato_site.extensions import installed_apps

# Lets ModelAdmin[Project] and its like be written at run time as the type checker reads them.
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent

env = FileAwareEnv()

Mode = Literal["production", "development", "test"]


def _mode() -> Mode:
    mode = env.str("POTATO_MODE", "production")
    if mode not in ("production", "development", "test"):
        raise ImproperlyConfigured(f"POTATO_MODE is {mode!r}. Use production, development or test.")
    return cast(Mode, mode)


def _required(name: str, meaning: str, elsewhere: str = "") -> str:
    """The variable; in production its absence ends the start, elsewhere `elsewhere` serves."""
    value: str = env.str(name, "").strip()
    if not value and PRODUCTION:
        raise ImproperlyConfigured(f"{name} (or {name}_FILE) is not set. {meaning}")
    return value or elsewhere


MODE: Mode = _mode()
PRODUCTION = MODE == "production"

# --- The site -------------------------------------------------------------------------------------

DEBUG = env.bool("DEBUG", False)
SECRET_KEY = _required(
    "SECRET_KEY",
    "It signs sessions: at least 50 random characters, kept secret.",
    elsewhere="development only, " * 4,
)
SECRET_KEY_FALLBACKS: list[str] = env.list("SECRET_KEY_FALLBACKS", default=[])
ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", default=[] if PRODUCTION else ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", default=[])

ROOT_URLCONF = "potato_site.urls"
# The routes behind /o/<organisation>/, chosen by tenancy.middleware.OrganisationPathMiddleware.
ORGANISATION_URLCONF = "potato_site.organisation_urls"
WSGI_APPLICATION = "potato_site.wsgi.application"

INSTALLED_APPS = [
    # tenancy comes first: its migrate command replaces Django's.
    "tenancy",
    "jobs",
    "accounts",
    "webhooks",
    "traces",
    "assignments",
    "review",
    "rewards",
    "agreement",
    "adjudication",
    "gold",
    "exports",
    "dashboard",
    "project_setup",
    "leaving",
    "potato_site.apps.PotatoSiteConfig",
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "django_structlog",
    # Of installed packages that bring templates and static files, such as those of a scheme type.
    *installed_apps(),
]

MIDDLEWARE = [
    "potato_site.health.HealthMiddleware",
    # Pages of a large difference; fragments come compressed, and static files by WhiteNoise below it.
    "potato_site.compression.GZipMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "accounts.reader_zone.ReaderZoneMiddleware",
    "tenancy.middleware.OrganisationPathMiddleware",
    "potato_site.content_security.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "accounts.sessions.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "potato_site.receiving.ReceivingMiddleware",
    "tenancy.middleware.TenancyMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "potato_site.navigation.navigation",
            ],
        },
    },
]

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
# One format of times and days everywhere, the admin included.
FORMAT_MODULE_PATH = ["potato_site.formats"]
USE_I18N = False

# --- Database -------------------------------------------------------------------------------------
# The site and the worker connect as a role that row-level security binds; `migrate` alone connects as the owner
# of the tables; `tenancy.unscoped()` becomes the platform role for one block.


def _database(url: str) -> dict[str, Any]:
    """Django's settings for a libpq address, whose parameters (host, sslmode, ...) are all kept."""
    try:
        parameters = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise ImproperlyConfigured(f"A database address cannot be read: {str(error).strip()}") from None
    named = {key.upper(): str(parameters.pop(key, "")) for key in ("user", "password", "host", "port")}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parameters.pop("dbname", ""),
        **named,
        "OPTIONS": parameters,
        "DISABLE_SERVER_SIDE_CURSORS": True,  # PgBouncer's transaction mode could not find one again.
    }


DATABASES: dict[str, dict[str, Any]] = {
    "default": _database(
        _required("DATABASE_URL", "The web role's PostgreSQL: postgresql://potato_app:...@host/potato")
    )
}
# One pool a process; 0 behind PgBouncer, which is one. Tests own the connections that they look at.
_pool_size = env.int("DATABASE_POOL_SIZE", 0 if MODE == "test" else 8)
if _pool_size:
    DATABASES["default"]["OPTIONS"]["pool"] = {"min_size": 1, "max_size": _pool_size, "timeout": 10}
    # A statement that a connection sends for the sixth time is prepared there: a third of the database's time.
    DATABASES["default"]["OPTIONS"]["prepare_threshold"] = 5
DATABASE_APP_ROLE: str = DATABASES["default"]["USER"]
# Set only where `manage.py migrate` runs.
_owner_url = env.str("DATABASE_OWNER_URL", "")
DATABASE_OWNER: dict[str, Any] = _database(_owner_url) if _owner_url else {}
DATABASE_PLATFORM_ROLE: str = env.str("DATABASE_PLATFORM_ROLE", "potato_platform")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Cache: login throttles live here, so it is shared by all processes ---------------------------

BROKER_URL = _required("BROKER_URL", "Redis or Valkey: redis://host:6379/0", elsewhere="memory://")
_cache_url = env.str("CACHE_URL", "") or BROKER_URL.replace("redis+socket://", "unix://").replace(
    "virtual_host=", "db="
)
CACHES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    if MODE == "test" or _cache_url.startswith("memory://")
    else {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": _cache_url,
        "KEY_PREFIX": "potato",
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 2},
    }
}

# --- Accounts -------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["accounts.login.AuthenticationBackend"]
PASSWORD_HASHERS = (
    ["django.contrib.auth.hashers.MD5PasswordHasher"] if MODE == "test" else ["accounts.hashing.PasswordHasher"]
)
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# Absolute paths, because the organisation stands in the script prefix of its pages.
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/accounts/login/"
ACCOUNT_ADAPTER = "accounts.login.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGIN_ON_PASSWORD_RESET = False
ACCOUNT_SESSION_REMEMBER = None  # "Stay signed in" on the form decides.
ACCOUNT_PRESERVE_USERNAME_CASING = False
# Behind a proxy every visitor would have its address, and share one throttle.
ALLAUTH_TRUSTED_PROXY_COUNT = env.int("TRUSTED_PROXY_COUNT", 1 if env.bool("BEHIND_TLS_PROXY", False) else 0)
# Wrong passwords are counted by accounts.attempts.
ACCOUNT_RATE_LIMITS: dict[str, Any] = {
    "login": False,
    "login_failed": False,
    "change_password": "5/m/user",
    "join_failed": "30/m/ip",
}
SESSION_ENGINE = "accounts.sessions"
SESSION_COOKIE_AGE = 14 * 24 * 3600
PASSWORD_RESET_TIMEOUT = 24 * 3600

# --- Security -------------------------------------------------------------------------------------

SESSION_COOKIE_NAME = "__Host-session" if PRODUCTION else "session"
DEVICE_COOKIE_NAME = "__Host-device" if PRODUCTION else "device"
CSRF_COOKIE_NAME = "__Host-csrf" if PRODUCTION else "csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "potato_site.views.csrf_failure"
SECURE_SSL_REDIRECT = PRODUCTION and env.bool("SECURE_SSL_REDIRECT", True)
# Set to the number of proxies in front only when they overwrite the header.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.bool("BEHIND_TLS_PROXY", False) else None
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = PRODUCTION
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_621_440
# Of an import, whose files become a few; the body of any other form is bounded by its bytes.
DATA_UPLOAD_MAX_NUMBER_FILES = 10_000
CONTENT_SECURITY_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    "report-uri": "/csp-report/",
}

# --- API: accounts.api.views.ApiView says the rest for every route -------------------------------

REST_FRAMEWORK = {"DEFAULT_SCHEMA_CLASS": "accounts.api.schema.ApiSchema"}
# Of one token or person, and of all of an organisation, in each web process; half of it at once. 0: no bound.
API_REQUESTS_A_MINUTE = env.int("API_REQUESTS_A_MINUTE", 1_800)
API_REQUESTS_A_MINUTE_OF_AN_ORGANISATION = env.int("API_REQUESTS_A_MINUTE_OF_AN_ORGANISATION", 18_000)

# --- Static files ---------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = Path(env.str("STATIC_ROOT", str(BASE_DIR / ".local" / "static")))
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if MODE == "test"
        else "potato_site.static_storage.HashedStaticStorage"
    },
}
WHITENOISE_USE_FINDERS = MODE == "test"
# Found as they are asked for: each client of a test would list them all, which takes longer than most of its requests.
WHITENOISE_AUTOREFRESH = MODE == "test"
WHITENOISE_MAX_AGE = 60

# --- Uploaded files, until they are imported --------------------------------------------------------

MEDIA_ROOT = Path(env.str("MEDIA_ROOT", str(BASE_DIR / ".local" / ("media-test" if MODE == "test" else "media"))))
FILE_UPLOAD_PERMISSIONS = 0o600
# Beside where they will lie: there they are renamed instead of copied, and /tmp may be memory.
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "traces.importing.uploads.ArrivingFileHandler",
]

# --- Exported files: private, on this machine or in an S3-compatible storage ------------------------

EXPORT_RETENTION_DAYS = env.int("EXPORT_RETENTION_DAYS", 30)
# So long an organisation stays frozen, before it is removed.
ORGANISATION_REMOVAL_DAYS = env.int("ORGANISATION_REMOVAL_DAYS", 14)
EXPORT_RECORDS_A_PART = env.int("EXPORT_RECORDS_A_PART", 20_000)
EXPORT_BYTES_A_PART = env.int("EXPORT_BYTES_A_PART", 64 * 2**20)
# After how many new annotations a project's agreement is computed again, where the project says nothing; 0: never.
AGREEMENT_EVERY_SUBMISSIONS = env.int("AGREEMENT_EVERY_SUBMISSIONS", 50)
# Where parts are written until they are stored: a disk, not memory, with room for a whole archive.
EXPORT_SCRATCH = Path(env.str("EXPORT_SCRATCH", str(MEDIA_ROOT / "scratch")))
EXPORT_S3_BUCKET: str = env.str("EXPORT_S3_BUCKET", "")
STORAGES["exports"] = {
    "BACKEND": "exports.storage.DurableFileSystemStorage",
    "OPTIONS": {"location": env.str("EXPORT_ROOT", str(MEDIA_ROOT))},
}
if EXPORT_S3_BUCKET:
    STORAGES["exports"] = {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": EXPORT_S3_BUCKET,
            "endpoint_url": env.str("EXPORT_S3_ENDPOINT", "") or None,
            "region_name": env.str("EXPORT_S3_REGION", "") or None,
            "access_key": env.str("EXPORT_S3_ACCESS_KEY", "") or None,
            "secret_key": env.str("EXPORT_S3_SECRET_KEY", "") or None,
            "default_acl": "private",
            "file_overwrite": False,
        },
    }

# Buckets into which schedules may write, with the credentials of EXPORT_S3_*: each organisation below its own name.
EXPORT_S3_DESTINATIONS = env.list("EXPORT_S3_DESTINATIONS", default=[EXPORT_S3_BUCKET])
EXPORT_DESTINATIONS: dict[str, dict[str, Any]] = {
    bucket: {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {**STORAGES["exports"]["OPTIONS"], "bucket_name": bucket, "file_overwrite": True},
    }
    for bucket in EXPORT_S3_DESTINATIONS
    if EXPORT_S3_BUCKET
}

# --- Mail: where no server is named, none is sent, and the pages say so ----------------------------

EMAIL_HOST = env.str("EMAIL_HOST", "")
if MODE == "development" and not EMAIL_HOST:
    # Mail is written to the terminal: invitations and links for passwords can be tried without a server.
    EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
EMAIL_PORT = env.int("EMAIL_PORT", 25)
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = env.bool("EMAIL_USE_TLS", False)
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", "potato@localhost")

# --- Webhooks: what happened, told to other programs ------------------------------------------------

# Where this site is reached, for links in what is told, as https://review.example.org.
SITE_URL: str = env.str("SITE_URL", "")
# Hosts and networks that are not public, or without TLS, and to which webhooks may go all the same: names, addresses,
# networks (10.2.0.0/16), with commas. Whoever manages a webhook can then have requests sent there.
WEBHOOK_ALLOWED_HOSTS: list[str] = env.list("WEBHOOK_ALLOWED_HOSTS", default=[])
WEBHOOK_DELIVERIES_KEPT_DAYS = env.int("WEBHOOK_DELIVERIES_KEPT_DAYS", 14)

# --- Imports -------------------------------------------------------------------------------------
# How much one import may bring. What one record may hold is in potato/runs/model.py (Bounds).

IMPORT_MOST_BYTES = env.int("IMPORT_MOST_BYTES", 2 * 2**30)
IMPORT_MOST_RECORDS = env.int("IMPORT_MOST_RECORDS", 2_000_000)
# What a manager without files of their own imports to try a project.
SAMPLE_RUNS = {
    "code": BASE_DIR / "potato_site" / "demo" / "traces",
    "web": BASE_DIR / "potato_site" / "demo" / "web-agent",
}

# --- Background work ------------------------------------------------------------------------------
# A job's row is the truth, Celery only notifies. A task is short: its hard limit lies well under the visibility
# timeout, after which Redis hands the message to a second worker. The timeout stands in all three places that
# Celery reads, and an abandoned message is looked for each `unacked_restore_interval`, not each tenth.

JOBS_LEASE_SECONDS = env.int("JOBS_LEASE_SECONDS", 45)
JOBS_HEARTBEAT_SECONDS = env.float("JOBS_HEARTBEAT_SECONDS", 10.0)
JOBS_RECOVERY_SECONDS = env.float("JOBS_RECOVERY_SECONDS", 15.0)
JOBS_SWEEP_SECONDS = env.float("JOBS_SWEEP_SECONDS", 60.0)
# How often beat looks for schedules whose time has come.
SCHEDULES_SECONDS = env.float("SCHEDULES_SECONDS", 60.0)
JOBS_TASK_BUDGET_SECONDS = env.float("JOBS_TASK_BUDGET_SECONDS", 20.0)
# Imports, exports and statistics of one organisation that run at once, over all workers.
JOBS_RUNNING_PER_ORGANISATION = env.int("JOBS_RUNNING_PER_ORGANISATION", 2)
# Jobs that wait or run, of those that a person asked for in an organisation, and of the organisation as a whole.
JOBS_OPEN_PER_PERSON = env.int("JOBS_OPEN_PER_PERSON", 20)
JOBS_OPEN_PER_ORGANISATION = env.int("JOBS_OPEN_PER_ORGANISATION", 200)

_transport = {
    "visibility_timeout": env.int("CELERY_VISIBILITY_TIMEOUT", 900),
    "unacked_restore_throttle": 1,
    "socket_timeout": 10,
    "socket_connect_timeout": 2,
    "socket_keepalive": True,
    "health_check_interval": 25,
    "max_retries": 1,
}
CELERY_BROKER_URL = BROKER_URL
CELERY_BROKER_TRANSPORT_OPTIONS = _transport
CELERY_RESULT_BACKEND_TRANSPORT_OPTIONS = _transport
CELERY_VISIBILITY_TIMEOUT = _transport["visibility_timeout"]
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_TIME_LIMIT = 300
CELERY_TASK_SOFT_TIME_LIMIT = 270
CELERY_TASK_PUBLISH_RETRY_POLICY = {
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.2,
    "interval_max": 0.2,
}
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 30.0
CELERY_WORKER_MAX_TASKS_PER_CHILD = 200
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_DEFAULT_QUEUE = "interactive"
CELERY_BEAT_SCHEDULE = {
    "notify of jobs that wait or were lost": {
        "task": "jobs.tasks.notify_of_waiting",
        "schedule": schedule(run_every=JOBS_RECOVERY_SECONDS),
        "options": {"expires": JOBS_RECOVERY_SECONDS},
    },
    "sweep jobs and the outbox": {
        "task": "jobs.tasks.sweep",
        "schedule": schedule(run_every=JOBS_SWEEP_SECONDS),
        "options": {"expires": JOBS_SWEEP_SECONDS},
    },
    "fire schedules": {
        "task": "jobs.tasks.fire_schedules",
        "schedule": schedule(run_every=SCHEDULES_SECONDS),
        "options": {"expires": SCHEDULES_SECONDS},
    },
}

# --- Logs: events with fields, JSON in production -------------------------------------------------

DJANGO_STRUCTLOG_CELERY_ENABLED = True
# A line for each request, when it ends; who it was, tenancy.middleware says. Addresses of people are nobody's business.
DJANGO_STRUCTLOG_STATUS_START_LOG_LEVEL = logging.DEBUG
DJANGO_STRUCTLOG_USER_ID_FIELD = None
DJANGO_STRUCTLOG_IP_LOGGING_ENABLED = False
_shared_processors: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]
structlog.configure(
    # What nobody writes down is dropped before it is put into words.
    processors=[
        structlog.stdlib.filter_by_level,
        *_shared_processors,
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)


def _line(_: Any, __: str, event: structlog.typing.EventDict) -> str:
    """An event as a person at a terminal reads it. Python's quoting escapes what would drive the terminal."""
    first = [event.pop("timestamp", ""), event.pop("level", ""), event.pop("event", "")]
    trace, _logger = event.pop("exception", None), event.pop("logger", None)
    words = [*map(str, first), *(f"{name}={value!r}" for name, value in event.items())]
    lines = [" ".join(words), *str(trace or "").splitlines()]
    return "\n".join(line if line.isprintable() else repr(line)[1:-1] for line in lines)


LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "events": {
            "()": structlog.stdlib.ProcessorFormatter,
            "foreign_pre_chain": _shared_processors,
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                # JSON escapes control characters, so that hostile text cannot forge a line or drive a terminal.
                structlog.processors.JSONRenderer() if MODE != "development" else _line,
                # The whole line, wherever the link of an invitation may stand in it.
                without_secrets,
            ],
        },
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "events"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", "INFO" if MODE != "test" else "ERROR")},
    "loggers": {
        "django.request": {"level": "ERROR"},
        "django.server": {"handlers": ["console"], "propagate": False},
        # Elsewhere it logs as much as LOG_LEVEL says.
        "django_structlog": {"level": "WARNING" if MODE == "test" else "NOTSET"},
    },
}
