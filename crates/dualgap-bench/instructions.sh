#!/bin/sh
# Instructions of one BCFW pass over the OCR letters (n = 6,251, lambda = 0.01, one thread), and of one oracle call for a
# matching of 30 rows and 30 columns (scores of 20 features included): the difference of two runs under callgrind, so that
# reading, training and certifying cancel out.
set -eu
program="$(dirname "$0")/../../target/release/dualgap-bench"
count() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$@" 2>&1 |
		sed -n 's/.*Collected : //p'
}
short=$(count letters --passes 2)
long=$(count letters --passes 12)
echo "instructions: $short for 2 passes, $long for 12; a pass (the 3rd to 12th): $(((long - short) / 10))"

short=$(count matchings --oracle --passes 1)
long=$(count matchings --oracle --passes 6)
# A pass is a hundred graphs, once at weights of zero and once at trained ones.
echo "instructions of an oracle call for a matching, 30 by 30: $(((long - short) / 1000))"
