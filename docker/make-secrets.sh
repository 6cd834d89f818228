#!/bin/sh
# Makes the secrets that docker/compose.yaml reads, once; existing ones are kept.
set -eu
umask 077
cd "$(dirname "$0")"
mkdir -p secrets

secret() { head -c 48 /dev/urandom | base64 | tr -d '\n=+/'; }
keep() { [ -s "secrets/$1" ] || printf '%s' "$2" > "secrets/$1"; }

keep secret_key "$(secret)$(secret)"
keep postgres_password "$(secret)"
keep database_admin_url "postgresql://postgres:$(cat secrets/postgres_password)@database/postgres"
keep database_owner_url "postgresql://potato_owner:$(secret)@database/potato"
keep database_url "postgresql://potato_app:$(secret)@database/potato"
# For trying: nobody trusts it. Put the site's own certificate and key in their place, in these files.
keep tls_key "$(openssl ecparam -genkey -name prime256v1 -noout)"
keep tls_certificate "$(openssl req -x509 -new -key secrets/tls_key -days 825 -subj /CN=localhost)"
# The containers run as an unprivileged user, which has to read them; the folder stays closed to other people.
chmod 0700 secrets
chmod 0444 secrets/*
echo "Secrets are in docker/secrets. Back them up apart from the database."
