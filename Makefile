# make run: the site with a demo, at http://127.0.0.1:8000   make test: everything that is tested   make lint: what CI asks
# Needs Python 3.11 with venv; make lint needs npm as well, and make test uses Node where it is. Everything it makes is in .venv, .local and node_modules.

PYTHON ?= python3
UV ?= uv
FUZZ_EXAMPLES ?= 100
VENV := .venv
RUN := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
INCOMPLETE := $(VENV)/.incomplete
TRAIN := .local/train/venv
TSC := node_modules/.package-lock.json
WITH_PROGRAMS := $(addprefix tests/,stories faults client docker extending)
STORIES := $(WITH_PROGRAMS) --override-ini cache_dir=.pytest_cache/stories
REST := $(WITH_PROGRAMS:%=--ignore=%) --override-ini cache_dir=.pytest_cache/rest
AGAIN := --last-failed --last-failed-no-failures=none

# A Python that the system replaced, or a moved checkout, leaves an environment that finds nothing any more.
$(shell [ -e $(INSTALLED) ] && ! $(RUN) -c 'import gunicorn' 2>/dev/null && rm -f $(INSTALLED))

.DEFAULT_GOAL := install
.PHONY: install run test test-all test-chosen test-rest test-stories test-javascript fuzz lint lint-python lint-types lint-layers lint-templates lint-site lint-javascript api-schema reference screenshots lock clean bench train-check

install: $(INSTALLED)

# Written last: an installation that was interrupted has no such file, and one that was interrupted while pip
# wrote has .incomplete and is made anew.
$(INSTALLED): requirements/development.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Potato needs Python 3.11 or newer, this is " + sys.version.split()[0] + ". Say which to use: make PYTHON=python3.11")'
	@if [ -e $(INCOMPLETE) ] || ! $(RUN) -m pip --version >/dev/null 2>&1; then rm -rf $(VENV); fi
	@mkdir -p $(VENV) && touch $(INCOMPLETE)
	@$(RUN) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV) \
	  || { echo "No virtual environment could be made. On Debian: apt-get install python3-venv" >&2; exit 1; }
	@echo "Installing into $(VENV); the first time this takes about a minute"
	$(RUN) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/development.txt
	$(RUN) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@rm $(INCOMPLETE) && touch $@

run: $(INSTALLED)
	@exec $(RUN) manage.py run

# Tests in a browser use $CHROMIUM or the first Chromium on PATH, best one without windows; without any they are skipped
# by name, and fail where CI=true. A bare Debian, as in CI, gets its own Chromium here when we may install it.
test: $(INSTALLED)
	@browser="$${CHROMIUM:-$$(command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || command -v google-chrome)}"; \
	if [ -z "$$browser" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Chromium for the browser's tests"; \
	  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends chromium-headless-shell >/dev/null \
	    && browser="$$(command -v chromium-headless-shell)"; fi; \
	$${browser:+env CHROMIUM="$$browser"} $(MAKE) --no-print-directory $(if $(PYTEST),test-chosen,test-all)

# Stories wait for browsers and processes, the rest for the processor: side by side they take half the time. Each has a
# database of its own, on servers that are there before.
test-all:
	@$(MAKE) --no-print-directory test-javascript
	@POTATO_MODE=test $(RUN) -m potato_site.devservices.for_tests
	@$(MAKE) --no-print-directory --jobs=2 test-stories test-rest

# A test waits for browsers, threads and processes, which a busy machine may stop for longer than any patience: what failed
# runs once more, alone and in sight, and fails for good when it fails again.
test-stories:
	POTATO_TEST_RUN=_stories $(RUN) -m pytest $(STORIES) || POTATO_TEST_RUN=_stories $(RUN) -m pytest $(STORIES) $(AGAIN)

test-rest:
	$(RUN) -m pytest $(REST) || $(RUN) -m pytest $(REST) $(AGAIN)

# The rules of the task page alone, on the cases that the server's are tested with.
test-javascript:
	@if command -v node >/dev/null; then node --test tests/javascript/*.test.js; \
	elif [ "$$CI" = true ]; then echo "Node is not installed, and CI tests static/js with it." >&2; exit 1; \
	else echo "Node is not installed: the tests of static/js by themselves are left out."; fi

# Every route of the API, a hundred times what make test asks: FUZZ_EXAMPLES=1000 make fuzz asks longer.
fuzz: $(INSTALLED)
	FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) $(RUN) -m pytest tests/fuzzing

test-chosen:
	$(RUN) -m pytest $(PYTEST)

lint: lint-python lint-types lint-layers lint-templates lint-site lint-javascript

lint-python: $(INSTALLED)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

lint-types: $(INSTALLED)
	POTATO_MODE=development $(RUN) -m mypy .

lint-layers: $(INSTALLED)
	$(VENV)/bin/lint-imports

lint-templates: $(INSTALLED)
	find . -path '*/templates/*.html' -not -path './.*' -exec $(VENV)/bin/djade --target-version 5.2 --check {} +

lint-site: $(INSTALLED)
	$(RUN) manage.py makemigrations --check --dry-run
	$(RUN) manage.py check

lint-javascript: $(TSC)
	node_modules/.bin/tsc --project tsconfig.json

$(TSC): package.json package-lock.json
	npm ci --no-audit --no-fund

# docs/openapi.yaml, from the API's routes and models.
api-schema: $(INSTALLED)
	$(RUN) manage.py api_schema

# docs/configuration-reference.md and docs/export-formats.md, by potato/configuration/reference.py and potato/formats/reference.py.
reference: $(INSTALLED)
	$(RUN) manage.py reference

# docs/images, from the demo that `make run` serves: PORT as there.
screenshots: $(INSTALLED)
	$(RUN) docs/screenshots.py

lock:
	@command -v $(UV) >/dev/null || { echo "make lock needs uv: pip install uv" >&2; exit 1; }
	for name in runtime s3 embedded development; do \
	  $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" \
	    --no-emit-index-url --no-emit-find-links requirements/$$name.in --output-file requirements/$$name.txt || exit 1; done

# Figures, not tests: needs PyPI once. `make bench PYTEST="-k huge"` measures a part.
bench: $(INSTALLED)
	$(RUN) -m pytest bench --quiet --override-ini "python_files=bench_*.py" --override-ini "python_functions=bench_*" \
	  --override-ini "timeout=1800" --capture=no $(PYTEST)

# The exports for training, in the trainers and the harness that they are for. Not part of make test: it installs
# torch, TRL and swebench from PyPI (1.5 GB) into an environment of its own.
train-check: $(INSTALLED)
	@$(TRAIN)/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(TRAIN)
	$(TRAIN)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/train-check.txt
	$(RUN) -m tests.potato.formats.training_files .local/train/files
	$(TRAIN)/bin/python tests/potato/formats/train_check.py .local/train/files

# The virtual environment and caches; the data of development stay in .local.
clean:
	rm -rf $(VENV) node_modules build ./*.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
