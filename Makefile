# make run    sets up an environment, compiles and runs the examples on the CPU and prints what became of every op
# make test   sets up an environment, then lints, type-checks and runs all tests
# make check  the quick part of the tests: lint, types, lit
# make docs   writes what the code says into docs/: passes, dialects, ops, the planner's codes

PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
STAMP   = $(VENV)/.installed
TYPES   = build/types/hloom

# What one interpreter compiles, the hundreds that the tests start read.
export PYTHONDONTWRITEBYTECODE =

.PHONY: run test check lint types lit pytest docs clean

run: $(STAMP)
	$(BIN)/python examples/run_all.py

test: lint lit pytest

check: lint lit

lint: $(STAMP) types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	mkdir -p $(TYPES)
	ln -sfn $(addprefix $(CURDIR)/,compiler dialects passes runtime tools hloom/__init__.py) $(TYPES)
	$(BIN)/mypy -p hloom

lit: $(STAMP)
	$(BIN)/lit -qv tests/passes tests/tools

# No worker is started in place of one that crashed: the run could then wait forever for nothing.
pytest: $(STAMP)
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --max-worker-restart 0 --durations 30 tests

docs: $(STAMP)
	$(BIN)/python docs/generate

# torch and jax come first and by their exact versions, so that the resolver takes torch's CPU build as it stands.
$(STAMP): pyproject.toml CMakeLists.txt $(wildcard runtime/native/*.cpp)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q torch==2.13.0 jax==0.10.2
	$(BIN)/python -m pip install -q -e .[test,torch,jax]
	touch $@

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache
