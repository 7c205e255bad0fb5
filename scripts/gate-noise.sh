#!/bin/sh
# Shows what the gate makes of this machine: N times, in turn, two gates of a
# program against itself, one against a slowdown of 5 % planted in cpu, and one
# against 20 %, each of one cell, the inputs in turn. Writes each result to
# OUTDIR/<kind>-<i>.json, and prints how often each verdict came.
#
#   scripts/gate-noise.sh OUTDIR [N]
#
# What is in OUTDIR already is not run again. The effect is 3 % beside no change
# and beside 5 %, and 5 % beside 20 %. Needs Go, unless OUTDIR holds the programs
# already: eccbench-none, eccbench-slow5 and eccbench-slow20, each built with
#   CGO_ENABLED=0 go build -tags slow5 -o OUTDIR/eccbench-slow5 ./cmd/eccbench
#
# ECCBENCH_GATE: flags of gate in place of cpu on one of six inputs, such as
# '--impl fullsweep --scope kernel --sizes 256 --blocks 6'.
set -u
[ $# -ge 1 ] || { echo "usage: $0 OUTDIR [N]" >&2; exit 64; }
n=${2:-10}
mkdir -p "$1" && out=$(cd "$1" && pwd) || exit 64
cd "$(dirname "$0")/.." || exit 1
for tag in none slow5 slow20; do
	[ -x "$out/eccbench-$tag" ] || CGO_ENABLED=0 go build -tags $tag -o "$out/eccbench-$tag" ./cmd/eccbench || exit 1
done

gate() { # KIND I CANDIDATE EFFECT
	[ ! -e "$out/$1-$2.json" ] || return 0
	case $(($2 % 6)) in
	0) input=noise/shape=64x64x64/levels=1024/type=float32/seed=1 ;;
	1) input=noise/shape=64x64x64/levels=256/type=uint8/seed=1 ;;
	2) input=grf/shape=64x64x64/levels=1024/type=float32/smooth=2/seed=1 ;;
	3) input=grf/shape=61x67x71/levels=1024/type=uint16/smooth=2/seed=1 ;;
	4) input=noise/shape=512x512/levels=1024/type=float32/seed=1 ;;
	5) input=grf/shape=512x512/levels=256/type=uint8/smooth=2/seed=1 ;;
	esac
	# shellcheck disable=SC2086 # the flags are several words
	"$out/eccbench-none" gate --base "$out/eccbench-none" --cand "$out/eccbench-$3" \
		${ECCBENCH_GATE:---impl cpu --threads 1 --input "$input"} --effect "$4" --order-seed "$2" --out "$out/$1-$2.json" --quiet >"$out/$1-$2.txt" 2>&1
	echo "$1 $2: exit code $?: $(head -1 "$out/$1-$2.txt")"
}

i=0
while [ $i -lt "$n" ]; do
	gate same $((2 * i)) none 3%
	gate slow5 $i slow5 3%
	gate same $((2 * i + 1)) none 3%
	gate slow20 $i slow20 5%
	i=$((i + 1))
done
for kind in same slow5 slow20; do
	printf '%-7s ' $kind
	grep -h -m1 -o '"verdict": "[A-Z]*"' "$out/$kind"-*.json | sort | uniq -c | sed 's/"verdict": //; s/  */ /g' | tr '\n' ';'
	echo
done
