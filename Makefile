# Everything runs in .venv, which the first target that needs it sets up from the locks in requirements/.
# Nothing is installed again while the locks and pyproject.toml stay as they are, and then no network is needed.

PYTHON ?= python3
VENV ?= .venv
PYTEST_FLAGS ?= --numprocesses=6 --dist=loadfile

# The heart of each package, in a minute or so; `make test` runs all.
FAST := tests/archive tests/catalog tests/discover tests/fetch tests/ledger tests/revise \
	$(addprefix tests/pipeline/test_,semantics.py description.py dates.py mirroring.py skip.py verdict.py update_effects.py) \
	$(addprefix tests/publish/test_,provenance.py seed_facts.py) \
	$(addprefix tests/query/test_,request.py results.py syntax.py fair.py dataset.py extent.py update.py pool.py) \
	$(addprefix tests/store/test_,generations.py handle.py loading.py spelling.py) \
	$(addprefix tests/wash/,naming/test_skolem.py naming/test_roots.py textual/test_resume.py structured/test_rdfxml.py) \
	$(addprefix tests/wash/,test_canonical.py decoding/test_charset.py unpacking/test_archives.py) \
	$(addprefix tests/web/test_,pages.py endpoint.py provider_page.py dashboard.py documents.py formats.py versions.py) \
	$(addprefix tests/test_,architecture.py check.py ongoing.py order_run.py registry.py settings.py status.py)

# Where this is set each of the thousands of processes that the tests start compiles all modules anew.
unexport PYTHONDONTWRITEBYTECODE

BIN := $(VENV)/bin
PIP := -m pip --disable-pip-version-check --quiet
LOCKED := $(PIP) install --require-hashes
# Node.js comes with the Python packages, so none has to be on the machine.
NPM := PATH="$(abspath $(BIN)):$$PATH" npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
# What the query page has from npm; made by the build hook, and again when somebody removed it.
PAGE := sparql/web/static/yasgui/made.json
# A client of event streams, which only its own tests use.
STREAMS := $(VENV)/.ldes-client
# Engines from Maven Central, for `make test-engines` alone.
FUSEKI := $(VENV)/.engines/jena-fuseki-server-5.5.0.jar
RDF4J := $(VENV)/.engines/rdf4j-http-server-5.0.3.war
JETTY := $(VENV)/.engines/jetty-runner-9.4.57.v20241219.jar
# What `make bench-engines` measures, and how: BENCH_FLAGS=--quick takes 200,000 triples.
ENGINES ?= oxigraph
BENCH_FLAGS ?=
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)

define CHECK
command -v $(PYTHON) > /dev/null || { \
  echo "$(PYTHON) is missing. On Debian: apt-get install python3 python3-venv" >&2; exit 1; }; \
$(PYTHON) requirements/machine.py
endef

.DEFAULT_GOAL := help
.PHONY: help machine test-machine demo run setup test test-fast test-long bench lint format docs screenshots lock test-engines bench-engines build install clean

help:  ## Say what each target does.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

# What is missing is said before anything is installed.
machine:
	@$(CHECK) run

test-machine:
	@$(CHECK) test

demo: $(VENV)/.runtime $(PAGE)  ## Set up, then harvest a provider on this machine and say what happens.
	$(BIN)/harvest demo

run: $(VENV)/.runtime $(PAGE)  ## Set up, then run the instance of config/.
	$(BIN)/harvest serve --config config/harvest.yaml

setup: $(VENV)/.dev $(PAGE) $(STREAMS)  ## Set up for development, and no more.

test: test-machine lint $(PAGE) $(STREAMS)  ## Set up, then check the style and run the tests.
	$(BIN)/python -m pytest -m "not long" $(PYTEST_FLAGS)

test-fast: $(VENV)/.dev $(PAGE)  ## Set up, then run the heart of the tests, in a minute or so.
	$(BIN)/python -m pytest -m "not long" $(PYTEST_FLAGS) $(FAST)

test-long: test-machine $(VENV)/.dev $(PAGE) $(STREAMS)  ## Set up, then run the tests that take minutes.
	$(BIN)/python -m pytest -m long

test-engines: $(VENV)/.dev $(PAGE) $(FUSEKI) $(RDF4J) $(JETTY)  ## Run the tests of the store against each engine; needs Java and Maven, and has Virtuoso where it is installed.
	TESTED_ENGINES="oxigraph fuseki rdf4j $$(command -v virtuoso-t > /dev/null && echo virtuoso)" \
	FUSEKI_JAR="$(abspath $(FUSEKI))" RDF4J_FILES="$(abspath $(JETTY)):$(abspath $(RDF4J))" \
	$(BIN)/python -m pytest tests/store/test_remote.py tests/pipeline/test_engine_store.py tests/pipeline/test_drift.py \
		tests/query/test_engine_view.py tests/test_web_apart_stores.py tests/test_deploy.py

bench: $(VENV)/.dev $(PAGE)  ## Set up, then measure speed and memory.
	$(BIN)/python -m bench

bench-engines: $(VENV)/.dev $(PAGE) $(if $(filter fuseki,$(ENGINES)),$(FUSEKI)) $(if $(filter rdf4j,$(ENGINES)),$(RDF4J) $(JETTY))  ## Measure the store on engines: ENGINES="fuseki rdf4j virtuoso", else Oxigraph's server.
	TESTED_ENGINES="$(ENGINES)" FUSEKI_JAR="$(abspath $(FUSEKI))" RDF4J_FILES="$(abspath $(JETTY)):$(abspath $(RDF4J))" \
	$(BIN)/python -m bench --only engine $(BENCH_FLAGS)

lint: $(VENV)/.dev  ## Check style, format, types and import rules.
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --strict harvest sparql
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/python -m tests.style

format: $(VENV)/.dev  ## Put the code into its format.
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(VENV)/.dev  ## Check that the documents tell every setting, command, address and error.
	$(BIN)/python -m pytest tests/test_documentation.py

screenshots: $(VENV)/.dev $(PAGE)  ## Make the pictures in docs/images/ anew.
	$(BIN)/python -m tests.browser.screenshots docs/images

lock: $(VENV)/.dev  ## Write the locks anew from pyproject.toml; UPGRADE=1 takes the newest versions.
	$(LOCK) pyproject.toml --output-file requirements/runtime.lock
	$(LOCK) pyproject.toml --group dev --constraints requirements/runtime.lock --output-file requirements/dev.lock
	$(LOCK) --group build --constraints requirements/dev.lock --output-file requirements/build.lock

build: $(VENV)/.dev $(PAGE)  ## Make the wheel and the sdist in dist/.
	$(BIN)/python -m build --no-isolation

# The image is made by this target, so that a test can take the same steps without an engine.
install:  ## Install into a new environment for use: make install PREFIX=/opt/harvest
	@test -n "$(PREFIX)" || { echo "Say where to: make install PREFIX=/opt/harvest" >&2; exit 2; }
	@$(CHECK) run
	$(PYTHON) -m venv $(PREFIX)
	$(PYTHON) -m venv $(PREFIX)/build
	$(PREFIX)/build/bin/python $(LOCKED) -r requirements/build.lock
	$(PREFIX)/build/bin/python $(PIP) wheel --no-build-isolation --no-deps --wheel-dir $(PREFIX)/build .
	$(PREFIX)/bin/python $(LOCKED) -r requirements/runtime.lock
	$(PREFIX)/bin/python $(PIP) install --no-index --no-deps $(PREFIX)/build/sparql_harvest-*.whl
	rm -rf $(PREFIX)/build

clean:  ## Remove what these targets made; the data of the instance stays.
	rm -rf $(VENV) $(dir $(PAGE)) dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created: | machine
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	@touch $@

# hatchling comes from a lock of its own, so that building the project asks no registry for an unpinned one.
$(VENV)/.runtime: requirements/runtime.lock requirements/build.lock pyproject.toml $(VENV)/.created
	@echo "Installing what the locks name into $(VENV) (a minute at most, once)"
	$(BIN)/python $(LOCKED) -r requirements/runtime.lock
	$(BIN)/python $(LOCKED) -r requirements/build.lock
	$(BIN)/python $(PIP) install --no-index --no-build-isolation --no-deps --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.lock tests/node/package-lock.json $(VENV)/.runtime
	@echo "Installing the development tools into $(VENV) (two minutes at most, once)"
	$(BIN)/python $(LOCKED) -r requirements/dev.lock
	$(NPM) --prefix tests/node
	@touch $@

$(STREAMS): tests/node/ldes-client/package.json tests/node/ldes-client/package-lock.json $(VENV)/.runtime
	$(NPM) --prefix tests/node/ldes-client
	@touch $@

$(FUSEKI):
	mvn --quiet dependency:copy -Dartifact=org.apache.jena:jena-fuseki-server:5.5.0 -DoutputDirectory=$(dir $@)

$(RDF4J):
	mvn --quiet dependency:copy -Dartifact=org.eclipse.rdf4j:rdf4j-http-server:5.0.3:war -DoutputDirectory=$(dir $@)

$(JETTY):
	mvn --quiet dependency:copy -Dartifact=org.eclipse.jetty:jetty-runner:9.4.57.v20241219 -DoutputDirectory=$(dir $@)

$(PAGE): hatch_build.py sparql/web/assets/package.json sparql/web/assets/package-lock.json $(VENV)/.runtime
	$(BIN)/python hatch_build.py
	@touch $@
