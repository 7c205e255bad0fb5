#!/bin/sh
# Records the tables of the papers on this machine and its NVIDIA device, and
# writes OUTDIR/wang2022.md, OUTDIR/saxena2025.md, OUTDIR/smistad2012.md and OUTDIR/cheng2014.md
# from the records.
#
#   scripts/paper.sh OUTDIR [--store DIR] [--seconds N] [--only 'PART...']
#
# Needs a driver of CUDA 11.8 or later; no toolkit. Builds bin/eccbench with Go,
# or uses the one that is there. DIR is a folder on the disk that images are read
# from, with room for 64 GiB (default eccbench-store in TMPDIR or /tmp, which
# stays there). Images that do not fit are generated slice by slice. Takes at most N
# seconds (default 540), the most important rows first. The same command runs the
# missing rows, and repeats none. Give each machine, and each
# version of the program, an OUTDIR of its own. Ends with the highest exit code of
# its runs (eccbench --help lists them).
#
# A part is one of the lines below, or a pattern of their names. On a machine with
# several devices, CUDA_VISIBLE_DEVICES and taskset(1) give parts that run at the same
# time devices and cores of their own, if each has an OUTDIR of its own; files* and
# batches* read the disk.
#
# Variables: ECCBENCH (the program to use), ECCBENCH_PAPER_BYTES (only rows whose
# images have at most this size, such as 64MiB).
set -u

usage() { echo "usage: $0 OUTDIR [--store DIR] [--seconds N] [--only 'PART...']" >&2; exit 64; }

out='' store=${TMPDIR:-/tmp}/eccbench-store seconds=540 parts='*' named=''
while [ $# -gt 0 ]; do
	case $1 in
	--store) [ $# -ge 2 ] || usage; store=$2; shift ;;
	--seconds) [ $# -ge 2 ] || usage; seconds=$2; shift ;;
	--only) [ $# -ge 2 ] || usage; parts=$2; shift ;;
	-*) usage ;;
	*) [ -z "$out" ] || usage; out=$1 ;;
	esac
	shift
done
[ -n "$out" ] && [ "$seconds" -gt 0 ] || usage

top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
mkdir -p "$out" "$store" && out=$(cd "$out" && pwd) && store=$(cd "$store" && pwd) || exit 64
. "$top/scripts/recording.sh"
recording_program "$top"

begun=$(date +%s)
trap 'echo "$0: interrupted; the same command does the rest" >&2; exit 13' INT TERM

# record PART SECONDS PAPER FLAG... runs cells of a paper for at most so long.
record() {
	wanted "$1" || return 0
	shift
	named=1
	limit=$(seconds_left) most=$1 id=$2
	[ "$limit" -le "$most" ] || limit=$most
	shift 2
	if [ "$limit" -lt 2 ]; then
		lacks_time "$id $*"
		return
	fi
	echo "== $id $*: at most $limit s" >&2
	within "$limit" "$ECCBENCH" paper "$id" "$@" ${ECCBENCH_PAPER_BYTES:+--max-bytes "$ECCBENCH_PAPER_BYTES"} \
		--store "$store" --out "$out/paper-$id.jsonl" --resume >/dev/null
}

# The quick and telling rows first. Large ones have lines of their own: they need more
# time to be verified in, and the largest read one image only. A line runs what the
# lines before it did not.
gpu='chunked,tiled,fullsweep,extrema*,smooth-gpu'
record files 170 wang2022 --table 1 --max-bytes 512MiB --max-time 700ms --check-time 700ms
record smoothing 40 wang2022 --table 2 --row '*×1,*×10,*×100' --max-time 300ms --check-time 5s
record smoothing-1000 30 wang2022 --table 2 --row '*×1000' --impl smooth-gpu --max-time 300ms --check-time 10s
record batches 60 wang2022 --table 3 --row '128²*,128³×1,128³×10,128³×100' --impl "$gpu" --max-time 300ms --check-time 1s
record sizes 80 saxena2025 --max-bytes 64MiB --impl "$gpu" --max-time 300ms --check-time 500ms
record flow 60 smistad2012 --table 1,4,5 --max-time 500ms --check-time 10s
record flow-3d 60 smistad2012 --table 2 --max-time 2s --check-time 20s
record eigenmaps 100 cheng2014 --row '9a,9b,9c,9d' --max-time 1s --check-time 15s
record eigenmaps-large 240 cheng2014 --row '9e,9f' --max-time 1s --check-time 40s --time-limit 4m
record streamed-4096 140 wang2022 --table 1 --row '4096³' --impl "$gpu" --max-time 1s --check-time 22s --time-limit 3m
record smoothing-10000 60 wang2022 --table 2 --row '*×10000' --impl smooth-gpu \
	--max-time 300ms --check-time 60s --time-limit 2m
record files-1024 120 wang2022 --table 1 --row '1024³' --rotate 1 --max-time 9s --check-time 2s
record sizes-large 100 saxena2025 --impl "$gpu" --max-time 300ms --check-time 1s
record streamed-2048 240 wang2022 --table 1 --row '2048³' --impl "$gpu" --max-time 1s --check-time 4s --time-limit 3m
record batches-large 90 wang2022 --table 3 --row '128³×1000' --impl "$gpu" --max-time 300ms --check-time 2s --time-limit 2m
record sizes-cpu 60 saxena2025 --impl cpu --max-time 300ms --check-time 1s
record batches-cpu 90 wang2022 --table 3 --impl cpu --max-time 300ms --check-time 1s --time-limit 2m
record streamed-cpu 400 wang2022 --table 1 --row '2048³,4096³' --impl cpu --max-time 1s --check-time 22s --time-limit 4m
record smoothing-cpu 200 wang2022 --table 2 --impl smooth --max-time 300ms --check-time 60s --time-limit 4m

[ -n "$named" ] || [ -z "$parts" ] || usage # it names none

# The reports.
for id in wang2022 saxena2025 smistad2012 cheng2014; do
	[ -s "$out/paper-$id.jsonl" ] || continue
	{
		printf '# The tables of %s here\n\n' "$id"
		"$ECCBENCH" paper "$id" --from "$out/paper-$id.jsonl" --format md
		device_of_this_machine
	} >"$out/$id.md.new" || exit 1
	mv "$out/$id.md.new" "$out/$id.md" || exit 1
	echo "$out/$id.md" >&2
done
echo "$store holds the images that were read" >&2
recording_ends
