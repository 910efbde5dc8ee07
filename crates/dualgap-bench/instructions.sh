#!/bin/sh
# Instructions of one BCFW pass over the OCR letters (n = 6,251, lambda = 0.01, one thread): the
# difference of two runs under callgrind, so that reading and certifying cancel out.
set -eu
program="$(dirname "$0")/../../target/release/dualgap-bench"
count() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" letters --passes "$1" 2>&1 |
		sed -n 's/.*Collected : //p'
}
short=$(count 2)
long=$(count 12)
echo "instructions: $short for 2 passes, $long for 12; a pass (the 3rd to 12th): $(((long - short) / 10))"
