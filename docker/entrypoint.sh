#!/bin/sh
# What a container is: web, worker, beat, migrate, or any manage.py command. Everything else comes from the environment.
set -eu

role="${1:-web}"
[ "$#" -gt 0 ] && shift

case "$role" in
  web)
    # More threads a process wait for each other: of 32 annotators at once, 4 serve half as many again as 8 do.
    exec gunicorn potato_site.wsgi \
      --bind "${BIND:-0.0.0.0:8000}" \
      --worker-class potato_site.serving.Worker --workers "${WEB_WORKERS:-2}" --threads "${WEB_THREADS:-4}" \
      --access-logfile "${ACCESS_LOG:-/dev/null}" --logger-class potato_site.access_log.AccessLog \
      --no-control-socket "$@"
    ;;
  worker)
    # Of four processes imports, exports and statistics hold three, and those of one organisation two (docs/jobs.md).
    exec celery -A potato_site worker \
      --queues "${WORKER_QUEUES:-interactive,imports,exports,statistics}" \
      --concurrency "${WORKER_CONCURRENCY:-4}" --loglevel INFO --without-gossip --without-mingle "$@"
    ;;
  beat)
    # The schedule itself is in the settings; the file only remembers when it last fired.
    exec celery -A potato_site beat --schedule "${BEAT_SCHEDULE:-/tmp/beat}" --loglevel INFO "$@"
    ;;
  migrate)
    exec python manage.py migrate --noinput "$@"
    ;;
  *)
    exec python manage.py "$role" "$@"
    ;;
esac
