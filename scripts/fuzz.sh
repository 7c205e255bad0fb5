#!/bin/sh
# Fuzzes every target of the module for so long each: scripts/fuzz.sh 30s [GO]
#
# Now and then Go's fuzzing engine calls the end of that time a failure: "context deadline
# exceeded", and no failing input. Such a run is made again, three times at most.
set -eu
time=$1
go=${2:-go}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

fuzz() {
	for _ in 1 2 3; do
		if "$go" test -run '^$' -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 1x "$1" >"$log" 2>&1; then
			cat "$log"
			return 0
		fi
		cat "$log"
		if grep -q 'Failing input' "$log" || ! grep -q '^ *context deadline exceeded$' "$log"; then
			return 1
		fi
	done
	return 1
}

for package in $(grep -rl '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u); do
	for target in $("$go" test -list '^Fuzz' "$package" | grep ^Fuzz); do
		fuzz "$package" "$target"
	done
done
