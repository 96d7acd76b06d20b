# Each target does its own set-up: a virtual environment with pinned, hash-checked packages.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL_BALLAST := $(BIN)/python -m pip install -q --no-deps --no-build-isolation -e .
export PYTHONPATH := operator
# Programs that `make tools` has fetched.
export PATH := $(CURDIR)/.tools/bin:$(PATH)
DOCS := .tools/docs
VERSION ?= $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
REVISION ?= $(shell git rev-parse HEAD 2>/dev/null)
SEEDS ?= 2000
STEPS ?= 5000
export BALLAST_IMAGE ?= ballast:dev
export BALLAST_SPARK_IMAGE ?= ballast-spark:dev

.PHONY: venv demo test simulate mutants chaos foreign e2e images lint format docs site bench tools hooks
.PHONY: locks clean

# The environment with everything that `ballast` needs, and the `ballast` script in it.
venv: $(VENV)/.demo

demo: $(VENV)/.demo
	$(BIN)/python -m ballast demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

# As many seeds as wanted, each under faults for that many steps at least; ends with one line.
simulate: $(VENV)/.dev
	$(BIN)/python -m tests.simulation 0-$$(( $(SEEDS) - 1 )) --steps $(STEPS)

# Deliberate bugs, each of which must be found.
mutants: $(VENV)/.dev
	$(BIN)/python -m tests.simulation.mutants

# Processes killed while clients write and partitions move, case by case; with MINUTES=30 faults at random:
# kills, stops and one-way partitions for that long instead; it ends with one line.
ifdef MINUTES
chaos: $(VENV)/.dev
	$(BIN)/python -m tests.faults.chaos --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))
else
chaos: $(VENV)/.dev
	$(BIN)/python -m pytest -m chaos -s tests/faults $(PYTEST_ARGS)
endif

# The test suites of foreign clients, as they were published; needs the network, and Go for one.
foreign: $(VENV)/.dev
	$(BIN)/python -m pytest -m foreign -n 0 -s tests/interop/test_foreign_suites.py $(PYTEST_ARGS)

# On the cluster of KUBECONFIG, or on one that kind makes; with the images that `make images` builds.
e2e: $(VENV)/.dev
	$(BIN)/python -m pytest -m e2e -n 0 -p no:randomly tests/e2e $(PYTEST_ARGS)

images: LABELS := --build-arg VERSION=$(VERSION) --build-arg REVISION=$(REVISION)
images:
	docker build $(LABELS) --target ballast -t $(BALLAST_IMAGE) .
	docker build $(LABELS) --target ballast-spark -t $(BALLAST_SPARK_IMAGE) .

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/vulture

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# What is generated from the schemas (docs/reference.md, and the chart's copy of them), and the site.
docs: $(VENV)/.dev
	$(BIN)/python -m docs.generate
	$(BIN)/python -m docs.lifecycle
	cp crds/*.yaml charts/ballast/crds/
	$(MAKE) site

# The documentation as pages in site/, which need no server and no network.
site: $(DOCS)/.installed
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --quiet
	! grep -rE '(<script[^>]* src|<link[^>]* href)="(https?:)?//' site --include='*.html'

$(DOCS)/.installed: requirements/docs.txt
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install -q --require-hashes -r requirements/docs.txt
	touch $@

# Programs that some tests want, as far as they can be fetched without root.
tools:
	.ci/tools

# Lints before each commit, and a check of the form of its subject.
hooks: $(VENV)/.dev
	$(PYTHON) -m venv .tools/hooks
	.tools/hooks/bin/python -m pip install -q --require-hashes -r requirements/hooks.txt
	.tools/hooks/bin/pre-commit install

bench: $(VENV)/.dev
	$(BIN)/python -m tests.bench

# dev holds everything that demo holds, so that one environment serves both.
$(VENV)/.demo: requirements/demo.txt pyproject.toml | $(VENV)/bin/python
	test -e $(VENV)/.dev || $(BIN)/python -m pip install -q --require-hashes -r requirements/demo.txt
	$(INSTALL_BALLAST)
	touch $@

$(VENV)/.dev: requirements/dev.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --require-hashes -r requirements/dev.txt
	$(INSTALL_BALLAST)
	touch $@

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

locks:
	uv pip compile pyproject.toml --generate-hashes --universal --python-version 3.11 \
	  --no-emit-index-url --no-header --no-annotate -q -o requirements/base.txt
	uv pip compile pyproject.toml --extra operator -c requirements/base.txt --generate-hashes \
	  --universal --python-version 3.11 --no-emit-index-url --no-header --no-annotate -q \
	  -o requirements/operator.txt
	uv pip compile requirements/build.in --generate-hashes --universal --python-version 3.11 \
	  --no-emit-index-url --no-header --no-annotate -q -o requirements/build.txt
	uv pip compile pyproject.toml --extra demo -c requirements/base.txt --generate-hashes --universal \
	  --python-version 3.11 --no-emit-index-url --no-header --no-annotate -q -o requirements/demo.txt
	uv pip compile pyproject.toml --extra operator --extra spark -c requirements/operator.txt \
	  -c requirements/demo.txt --generate-hashes --universal --python-version 3.11 \
	  --no-emit-index-url --no-header --no-annotate -q -o requirements/spark.txt
	uv pip compile pyproject.toml --extra dev --extra demo -c requirements/base.txt --generate-hashes \
	  --universal --python-version 3.11 --no-emit-index-url --no-header --no-annotate -q -o requirements/dev.txt
	uv pip compile requirements/docs.in --generate-hashes --universal --python-version 3.11 \
	  --no-emit-index-url --no-header --no-annotate -q -o requirements/docs.txt
	uv pip compile requirements/hooks.in --generate-hashes --universal --python-version 3.11 \
	  --no-emit-index-url --no-header --no-annotate -q -o requirements/hooks.txt

clean:
	rm -rf $(VENV) .tools build site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
