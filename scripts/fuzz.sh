#!/bin/sh
# Fuzzes every target of the module for so long each: scripts/fuzz.sh 30s [GO]
#
# Now and then Go's fuzzing engine calls the end of that time a failure: "context deadline
# exceeded", and no failing input. Such a run is made again, three times at most.
#
# Each core has a process of its own, and each process one core, which makes twice as many
# calls: a reader takes microseconds, and the threads of a process wait for each other between
# its calls. What computes on several cores keeps them.
set -eu
time=$1
go=${2:-go}
cores=$(getconf _NPROCESSORS_ONLN)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

alone() {
	case $1 in
	./impls/*) ;;
	*) echo GOMAXPROCS=1 ;;
	esac
}

fuzz() {
	for _ in 1 2 3; do
		if env $(alone "$1") "$go" test -p "$cores" -run '^$' -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 1x -parallel "$cores" "$1" >"$log" 2>&1; then
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
