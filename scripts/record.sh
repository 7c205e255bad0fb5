#!/bin/sh
# Records what the implementations reach on this machine and its NVIDIA device,
# and writes OUTDIR/report.md with a plot for each table.
#
#   scripts/record.sh OUTDIR [--quick] [--only 'PART...']
#
# Needs a driver of CUDA 11.8 or later; no toolkit. Builds bin/eccbench with Go,
# or uses an existing one. Takes at most about 30 minutes, 3 with --quick. The same
# command measures the missing parts, and repeats none. Give each machine, and each
# version of the program, an OUTDIR of its own.
# Ends with the highest exit code of its runs (eccbench --help lists them).
#
# A part is a results file, OUTDIR/<part>.jsonl, or a pattern of such names: 'kernel-*'
# measures two, '' none and only writes the report. On a machine with several
# devices, CUDA_VISIBLE_DEVICES gives parts that run at the same time one each; taskset(1)
# does so for the cores.
#
# Variables: ECCBENCH_RECORD_SIZES_3D, ECCBENCH_RECORD_SIZES_2D (as --sizes),
# ECCBENCH_RECORD_GENS, ECCBENCH_RECORD_TYPES (comma lists),
# ECCBENCH_RECORD_SECONDS (for all runs), ECCBENCH (the program to use).
set -u

usage() { echo "usage: $0 OUTDIR [--quick] [--only 'PART...']" >&2; exit 64; }

out='' quick='' parts='*'
while [ $# -gt 0 ]; do
	case $1 in
	--quick) quick=1 ;;
	--only) [ $# -ge 2 ] || usage; parts=$2; shift ;;
	-*) usage ;;
	*) [ -z "$out" ] || usage; out=$1 ;;
	esac
	shift
done
[ -n "$out" ] || usage

top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 64
. "$top/scripts/recording.sh"
recording_program "$top"

# The kernels run on all sizes, generators and types. The other costs of a call are
# measured on fewer.
if [ -n "$quick" ]; then
	sizes3=128..512,300x200x100 sizes2=1024..4096 few3=256..512 few2=4096 linear=64..512
	many=512 small=128 tiny3=64 tiny2=256
	gens=noise types=float32 seconds=170 sampling='--max-time 500ms --time-limit 20s'
else
	sizes3=128..1024,300x200x100,719x513x401 sizes2=128..16384,719x513
	few3=128..1024 few2=1024..8192 linear=64..2048 many=1024 small=64..256
	tiny3=64..128 tiny2=128..512 gens=noise,grf types=float32,uint8
	seconds=1780 sampling='--max-time 700ms --time-limit 45s'
fi
if [ -n "${ECCBENCH_RECORD_SIZES_3D:-}" ]; then
	sizes3=$ECCBENCH_RECORD_SIZES_3D few3=$sizes3 linear=$sizes3 many=$sizes3 small=$sizes3 tiny3=$sizes3
fi
if [ -n "${ECCBENCH_RECORD_SIZES_2D:-}" ]; then sizes2=$ECCBENCH_RECORD_SIZES_2D few2=$sizes2 tiny2=$sizes2; fi
gens=${ECCBENCH_RECORD_GENS:-$gens}
types=${ECCBENCH_RECORD_TYPES:-$types}
seconds=${ECCBENCH_RECORD_SECONDS:-$seconds}
gen=${gens%%,*} type=${types%%,*}

# in_scope lists the implementations that count one image on at most one device and
# can be timed in a scope, without the one by the definition, which has parts of its own.
in_scope() {
	"$ECCBENCH" list --format md | awk -F'|' -v scope="$1" '
		/^\| input / { exit }
		NR > 2 && $3 !~ /gpus/ && $2 !~ /-batch/ && index(" " $5 " ", " " scope " ") {
			gsub(/ /, "", $2)
			if ($2 != "naive") names = names "," $2
		}
		END { print substr(names, 2) }'
}

begun=$(date +%s)
trap 'echo "$0: interrupted; the same command does the rest" >&2; exit 13' INT TERM

# record NAME WEIGHT SCOPE DIM SIZES GENS TYPES [FLAG] runs one results file for its
# share of the time that is left: of all implementations, or the patterns in $only.
# While the parts are weighed it does no more than that.
record() {
	wanted "$1" || return 0
	if [ -n "$weighing" ]; then
		weights=$((weights + $2))
		return
	fi
	limit=$(($(seconds_left) * $2 / weights))
	weights=$((weights - $2))
	impls=${only:-$(in_scope "$3")}
	if [ "$limit" -lt 1 ] || [ -z "$impls" ]; then
		lacks_time "$1, implementations ${impls:-none}"
		return
	fi
	echo "== $1: $impls, at most $limit s" >&2
	# shellcheck disable=SC2086 # the sampling is several words
	within "$limit" "$ECCBENCH" run --scope "$3" --dim "$4" --sizes "$5" --gen "$6" --type "$7" \
		--impl "$impls" --rotate 3 $sampling ${8:-} --out "$out/$1.jsonl" --resume >/dev/null
}

record_all() {
	only=''
	record kernel-3d 38 kernel 3 "$sizes3" "$gens" "$types"
	record kernel-2d 22 kernel 2 "$sizes2" "$gens" "$types"
	record device-3d 5 device 3 "$few3" "$gen" "$type"
	record device-2d 3 device 2 "$few2" "$gen" "$type"
	record hot-3d 4 kernel 3 "$few3" "$gen" "$type" --hot
	record hot-2d 3 kernel 2 "$few2" "$gen" "$type" --hot
	if [ "$(visible_devices)" -ge 2 ]; then
		only='extrema-gpu,extrema-gpus'
		record devices-kernel 6 kernel 3 "$few3" "$gen" "$type" '--devices all'
		record devices-device 6 device 3 "$few3" "$gen" "$type" '--devices all'
	fi
	only=extrema-gpu
	record linear-gpu 14 kernel 3 "$linear" "$gen" "$types"
	record levels 4 kernel 3 "$many" "$gen" uint16 "--levels 1024,20000,65536"
	record small 2 device 3 "$small" "$gen" float32 --hot
	only=extrema
	record linear-cpu 8 e2e 3 "$linear" "$gen" uint8 '--threads 1'
	only=extrema-gpu-batch
	record batch-3d 3 kernel 3 128 "$gen" "$type" '--batch 1000'
	record batch-2d 5 kernel 2 128 "$gen" "$type" '--batch 10000'
	only=naive
	record naive-3d 5 e2e 3 "$tiny3" "$gens" "$types"
	record naive-2d 3 e2e 2 "$tiny2" "$gens" "$types"
	only=''
	record e2e-3d 40 e2e 3 "$sizes3" "$gens" "$types"
	record e2e-2d 18 e2e 2 "$sizes2" "$gens" "$types"
}
weights=0 weighing=1
record_all
weighing=''
[ "$weights" -gt 0 ] || [ -z "$parts" ] || usage # it names none
record_all

# The report, with links relative to it.
cd "$out" || exit 1
part() { # TITLE FILE
	[ -s "$2" ] || return 0
	printf '\n## %s\n\n' "$1"
	"$ECCBENCH" report "$2" --format md --plots plots ||
		printf 'Nothing was measured before the time was up.\n'
}
{
	printf '# What eccbench measured here\n\n'
	set --
	for f in kernel-3d kernel-2d hot-3d hot-2d device-3d device-2d devices-kernel devices-device \
		levels small batch-3d batch-2d e2e-3d e2e-2d naive-3d naive-2d linear-gpu linear-cpu; do
		if grep -qs '"kind":"cell"' $f.jsonl; then set -- "$@" $f.jsonl; fi
	done
	[ $# -eq 0 ] || "$ECCBENCH" report "$@" --format md --machine
	device_of_this_machine
	part 'Kernels, 3D' kernel-3d.jsonl
	part 'Kernels, 2D' kernel-2d.jsonl
	part 'Kernels, 3D, the caches left as they are' hot-3d.jsonl
	part 'Kernels, 2D, the caches left as they are' hot-2d.jsonl
	part 'Calls on a resident image, 3D' device-3d.jsonl
	part 'Calls on a resident image, 2D' device-2d.jsonl
	part 'Kernels on one device and on several' devices-kernel.jsonl
	part 'Calls on images resident on one device and on several' devices-device.jsonl
	part 'Many levels' levels.jsonl
	part 'Calls on small images, the caches left as they are' small.jsonl
	part 'Many images in one launch, 3D' batch-3d.jsonl
	part 'Many images in one launch, 2D' batch-2d.jsonl
	part 'From host memory to the curve, 3D' e2e-3d.jsonl
	part 'From host memory to the curve, 2D' e2e-2d.jsonl
	part 'By the definition, on one core of the host, 3D' naive-3d.jsonl
	part 'By the definition, on one core of the host, 2D' naive-2d.jsonl
	part 'The cost of a voxel over sizes, kernels' linear-gpu.jsonl
	part 'The cost of a voxel over sizes, one core of the host' linear-cpu.jsonl
	if [ -s e2e-3d.jsonl ]; then
		printf '\n## The parts of a call, 3D\n\n'
		"$ECCBENCH" report e2e-3d.jsonl --format md --spans || printf 'No part was named.\n'
	fi
} >"report.md.$$" || exit 1
mv "report.md.$$" report.md || exit 1
echo "$out/report.md" >&2
recording_ends
