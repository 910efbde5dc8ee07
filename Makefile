# The one test command: formatting, lints, every kind of test, and types. It needs nothing but stock Rust, a C compiler, and Python 3.11 or
# later with pip.
.PHONY: test lint unit python types stubs bench race instructions digests

test: lint unit python types

# Where cargo puts what it makes, as an absolute path.
TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))

# The Python that makes the virtual environment of the tests.
PYTHON ?= python3
VENV := $(TARGET)/python
# The wheel is of the library that the Rust tests have compiled.
AS_TESTED := --profile dev --features as-tested
STUBS := $(VENV)/bin/maturin generate-stubs --quiet $(AS_TESTED) --interpreter $(VENV)/bin/python --out $(VENV)/stubs
# By its full name, because the environment comes first on the path where the wheel is built.
PIP := $(shell command -v $(PYTHON)) -m pip --python $(VENV)/bin/python --disable-pip-version-check

# All commands but one are about the whole workspace, so that each finds what the others have compiled. Of the crate outside of it,
# whose code is an example of the program and is compiled, checked and run as such, only the lock file is left to compare: a check of
# its own takes a minute, because it chooses other features of what we depend on. Without the library's features only the library
# and the program are checked: the Python extension, the benchmarks and the tests need these features, and whatever is checked
# together with them has them too.
lint:
	cargo fmt --all --check
	cargo fmt --manifest-path examples/own-structure/Cargo.toml --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo clippy --package dualgap --package dualgap-cli --lib --no-default-features --locked -- -D warnings
	cargo metadata --manifest-path examples/own-structure/Cargo.toml --locked --format-version 1 > /dev/null
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --lib --no-deps --locked

# Unit, property, documentation and command-line tests. The tests have compiled the examples too; they are run from
# where they lie, because `cargo run --package dualgap` would choose other features of what we depend on than the whole
# workspace has, and compile everything again.
# What the library says without its features has unit tests that only a build without them has. That takes a minute of a core: the
# package of the unit tests depends on no other of ours that could have the features, so that nothing else is compiled again.
unit:
	cargo test --workspace --locked
	cargo test --workspace --no-default-features --test unit --locked lacking
	for example in $(basename $(notdir $(wildcard crates/dualgap/examples/*.rs))); do \
		$(TARGET)/debug/examples/$$example > /dev/null || exit 1; \
		echo "example $$example: ok"; \
	done

# The wheel, built as `pip install .` builds it, but of what the tests above have compiled; installed in a virtual environment of its
# own, and tested from there: the tests, and the examples of the documentation. pip is the machine's: an environment without one is
# made in a moment, and needs no package that some systems split off. Compiled modules are kept, whatever the environment says: the
# workers of the tests on Dask are processes that import everything again. A file of tests goes to one of as many processes as there
# are cores, and its fixtures with it.
python:
	rm -rf $(VENV)
	$(PYTHON) -m venv --without-pip $(VENV)
	$(PIP) install --quiet --no-compile --requirement python/requirements-test.txt
	PATH="$(VENV)/bin:$$PATH" MATURIN_PEP517_ARGS="$(AS_TESTED)" \
		$(PIP) install --no-build-isolation --no-deps --no-index .
	$(STUBS)
	diff -u python/dualgap/_dualgap.pyi $(VENV)/stubs/dualgap/_dualgap.pyi || { echo "run \`make stubs\`"; exit 1; }
	PYTHONDONTWRITEBYTECODE= DUALGAP_PROGRAM=$(TARGET)/debug/dualgap $(VENV)/bin/python -m pytest \
		--numprocesses logical --dist loadfile --doctest-modules --pyargs dualgap python/tests

# Whether the types of the Python package agree with each other. Needs the environment of the tests, as the next one does.
types:
	$(VENV)/bin/mypy --cache-dir $(VENV)/mypy

# What type checkers know of the extension, from the extension itself.
stubs:
	$(STUBS)
	cp $(VENV)/stubs/dualgap/_dualgap.pyi python/dualgap/_dualgap.pyi

# Speed lives here, not in the tests. `dualgap-bench --help` has more, for data that are not bundled.
bench:
	cargo run --release --locked --package dualgap-bench -- all

# dualgap beside LIBLINEAR, celer, skglm and scikit-learn: `make race DATA=DIR [ONLY=REGEX]`, tables into docs/race.md. What has been
# measured is kept in target/race/records.jsonl and skipped next time; RACE has further options, such as `--threads 2`.
RACE_VENV := $(TARGET)/race/venv
race: $(RACE_VENV)/ready
	@test -n "$(DATA)" || { echo "give the folder of the data sets: make race DATA=DIR"; exit 2; }
	cargo build --release --locked --package dualgap-cli --package dualgap-bench
	PYTHONPATH=crates/dualgap-bench $(RACE_VENV)/bin/python -m race --data "$(DATA)" --only "$(ONLY)" --page docs/race.md $(RACE)

$(RACE_VENV)/ready: crates/dualgap-bench/race/requirements.txt
	rm -rf $(RACE_VENV)
	$(PYTHON) -m venv --without-pip $(RACE_VENV)
	$(shell command -v $(PYTHON)) -m pip --python $(RACE_VENV)/bin/python --disable-pip-version-check install --quiet --requirement $<
	touch $@

# Instructions of a training pass, counted by callgrind: the same whatever else the machine does.
instructions:
	cargo build --release --locked --package dualgap-bench
	sh crates/dualgap-bench/instructions.sh

# Whether a change that should move nothing has moved an iterate: small runs of every kind end with the recorded weights.
digests:
	cargo build --release --locked --package dualgap-cli --package dualgap-bench
	target/release/dualgap-bench digests
