#!/bin/sh
# Fuzzes every target of the module for so long each, or the I-th of N shards of them:
# scripts/fuzz.sh 30s [GO [I/N]]
#
# A package is built once for all its targets, which go test -fuzz would do for each, and its
# inputs are kept where go test -fuzz keeps them.
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
part=${3:-1/1}
first=${part%/*} every=${part#*/}
cores=$(getconf _NPROCESSORS_ONLN)
cache=$("$go" env GOCACHE)/fuzz
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
log=$dir/log

alone() {
	case $1 in
	./impls/*) ;;
	*) echo GOMAXPROCS=1 ;;
	esac
}

# fuzz PACKAGE TARGET, in the package's folder: what fails is written to its testdata/fuzz.
fuzz() (
	cd "$1"
	for _ in 1 2 3; do
		if env $(alone "$1") "$dir/fuzz.test" -test.run '^$' -test.fuzz "^$2\$" -test.fuzztime "$time" \
			-test.fuzzminimizetime 1x -test.parallel "$cores" \
			-test.fuzzcachedir "$cache/$("$go" list)" >"$log" 2>&1; then
			tail -n 2 "$log"
			return 0
		fi
		cat "$log"
		if grep -q 'Failing input' "$log" || ! grep -q '^ *context deadline exceeded$' "$log"; then
			return 1
		fi
	done
	return 1
)

# All targets, each as PACKAGE:TARGET, in the same order on every machine, and of them a part.
targets=$(git grep -o '^func Fuzz[A-Za-z0-9]*' -- '*_test.go' |
	sed 's,^,./,; s,/[^/]*:func ,:,' | LC_ALL=C sort | awk -v first="$first" -v every="$every" '(NR - first) % every == 0')
built=
for target in $targets; do
	package=${target%:*}
	if [ "$package" != "$built" ]; then
		"$go" test -c -fuzz . -gcflags=all=-dwarf=false -ldflags=-w -o "$dir/fuzz.test" "$package"
		built=$package
	fi
	echo "$package ${target#*:}"
	fuzz "$package" "${target#*:}"
done
