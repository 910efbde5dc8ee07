#!/bin/sh
# Instructions of one BCFW pass over the OCR letters (n = 6,251, lambda = 0.01, one thread), and of one oracle call for
# matchings of 30 rows and 30 columns: the difference of two runs under callgrind, so that reading and certifying cancel
# out.
set -eu
program="$(dirname "$0")/../../target/release/dualgap-bench"
count() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$@" 2>&1 |
		sed -n 's/.*Collected : //p'
}
short=$(count letters --passes 2)
long=$(count letters --passes 12)
echo "instructions: $short for 2 passes, $long for 12; a pass (the 3rd to 12th): $(((long - short) / 10))"
# Both weights of the benchmark, ten graphs, ten more passes: 200 calls.
short=$(count matchings --oracle --graphs 10 --passes 1)
long=$(count matchings --oracle --graphs 10 --passes 11)
echo "instructions of an oracle call for a matching of 30 x 30, 20 features an edge: $(((long - short) / 200))"
