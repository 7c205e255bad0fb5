#!/bin/sh
# Measures the verdicts of the gate on this machine. Each of N rounds runs two gates of a
# program against itself, one against a slowdown of 5 % planted in cpu, and one against 20 %.
# A gate has one cell; the inputs alternate. Writes each result to OUTDIR/<kind>-<i>.json,
# prints a line after each gate, and the number of each verdict at the end.
#
#   scripts/gate-noise.sh OUTDIR [N [none|slow5|slow20]]
#
# The last argument selects one kind of gate. Results in OUTDIR are not measured again. The
# effect is 3 % for no change and a slowdown of 5 %, and 5 % for 20 %: a slowdown of 5 % cannot
# be shown to exceed 5 %. Needs Go, unless OUTDIR has the programs eccbench-none, eccbench-slow5
# and eccbench-slow20, each built with
#   CGO_ENABLED=0 go build -tags slow5 -o OUTDIR/eccbench-slow5 ./cmd/eccbench
#
# ECCBENCH_GATE: flags of gate in place of cpu on one of six inputs, such as
# '--impl cpu --sizes 256 --blocks 6'.
set -u
usage() { echo "usage: $0 OUTDIR [N [none|slow5|slow20]]" >&2; exit 64; }
[ $# -ge 1 ] && [ $# -le 3 ] || usage
n=${2:-10} part=${3:-all}
case $n in '' | *[!0-9]*) usage ;; esac
case $part in all | none | slow5 | slow20) ;; *) usage ;; esac
mkdir -p "$1" && out=$(cd "$1" && pwd) || exit 64
cd "$(dirname "$0")/.." || exit 1
for tag in none slow5 slow20; do
	[ -x "$out/eccbench-$tag" ] || CGO_ENABLED=0 go build -tags $tag -o "$out/eccbench-$tag" ./cmd/eccbench || exit 1
done

field() { # NAME FILE: the first value of a field of a result
	sed -n "s/^.*\"$1\": \"\{0,1\}\([^\"{,]\{1,\}\).*\$/\1/p" "$2" | head -1
}

percent() { awk -v v="$(field "$1" "$2")" 'BEGIN { printf "%.1f %%", 100 * v }'; }

gate() { # PROGRAM I EFFECT
	[ $part = all ] || [ $part = "$1" ] || return 0
	name=$1-$2
	[ ! -e "$out/$name.json" ] || return 0
	case $(($2 % 6)) in
	0) input=noise/shape=64x64x64/levels=1024/type=float32/seed=1 ;;
	1) input=noise/shape=64x64x64/levels=256/type=uint8/seed=1 ;;
	2) input=grf/shape=64x64x64/levels=1024/type=float32/smooth=2/seed=1 ;;
	3) input=grf/shape=61x67x71/levels=1024/type=uint16/smooth=2/seed=1 ;;
	4) input=noise/shape=512x512/levels=1024/type=float32/seed=1 ;;
	5) input=grf/shape=512x512/levels=256/type=uint8/smooth=2/seed=1 ;;
	esac
	# shellcheck disable=SC2086 # the flags are several words
	"$out/eccbench-none" gate --base "$out/eccbench-none" --cand "$out/eccbench-$1" \
		${ECCBENCH_GATE:---impl cpu --threads 1 --input "$input"} --effect "$3" \
		--order-seed $(($2 + 1)) --out "$out/$name.json" --quiet >"$out/$name.txt" 2>&1
	code=$?
	if [ -e "$out/$name.json" ]; then
		echo "$name: $(field verdict "$out/$name.json"), exit code $code," \
			"$(field elapsed "$out/$name.json" | cut -d. -f1) s, change $(percent change "$out/$name.json")," \
			"between processes $(percent between_processes "$out/$name.json"), load $(cut -d' ' -f1 /proc/loadavg)"
	else
		echo "$name: no result, exit code $code: $(tail -1 "$out/$name.txt")"
	fi
	[ $code -ne 130 ] && [ "$(field interrupted "$out/$name.json" 2>/dev/null)" != true ] || exit 13
}

i=0
while [ $i -lt "$n" ]; do
	gate none $((2 * i)) 3%
	gate slow5 $i 3%
	gate none $((2 * i + 1)) 3%
	gate slow20 $i 5%
	i=$((i + 1))
done
for kind in none slow5 slow20; do
	[ $part = all ] || [ $part = $kind ] || continue
	printf '%-7s ' $kind
	grep -h -m1 -o '"verdict": "[A-Z]*"' "$out/$kind"-*.json | sort | uniq -c | sed 's/"verdict": //; s/  */ /g' | tr '\n' ';'
	echo
done
