# The one test command: formatting, lints, and every kind of test. It needs nothing but stock Rust.
.PHONY: test lint unit bench instructions digests

test: lint unit

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo clippy --workspace --lib --no-default-features --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --package dualgap --no-deps --locked

# Unit, property, documentation and command-line tests; the examples are run, not only compiled.
unit:
	cargo test --workspace --locked
	for example in $(basename $(notdir $(wildcard crates/dualgap/examples/*.rs))); do \
		cargo run --quiet --locked --package dualgap --example $$example > /dev/null || exit 1; \
		echo "example $$example: ok"; \
	done

# Speed lives here, not in the tests. `dualgap-bench --help` has more, for data that are not bundled.
bench:
	cargo run --release --locked --package dualgap-bench -- all

# Instructions of a training pass, counted by callgrind: the same whatever else the machine does.
instructions:
	cargo build --release --locked --package dualgap-bench
	sh crates/dualgap-bench/instructions.sh

# Whether a change that should move nothing has moved an iterate: small runs of every kind end with the recorded weights.
digests:
	cargo build --release --locked --package dualgap-cli --package dualgap-bench
	target/release/dualgap-bench digests
