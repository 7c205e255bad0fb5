#!/bin/sh
# Runs the tests of the implementations on a device under each tool of
# compute-sanitizer, those of conformance and, of other workloads, those of the
# kernels, prints a line for each tool and implementation, and fails on any finding:
#
#   scripts/sanitize.sh BINDIR [IMPLEMENTATION...]
#
# BINDIR holds <implementation>.test, each made by
#   CGO_ENABLED=0 go test -c -o BINDIR/<implementation>.test ./impls/<implementation>
# and that of the fingerprint by ./internal/workloads/ecc/fingerprint/ondevice,
# so that the machine with the device needs no Go. SANITIZER names the program,
# TOOLS the tools, CASES the subtests (go test -run), TIMEOUT the seconds of one
# run. Without compute-sanitizer or a device it fails.
set -u

[ $# -ge 1 ] || { echo "usage: $0 BINDIR [IMPLEMENTATION...]" >&2; exit 64; }
bindir=$1
shift
[ $# -ge 1 ] || set -- chunked extrema/gpu fullsweep read smooth tiled

sanitizer=${SANITIZER:-compute-sanitizer}
tools=${TOOLS:-memcheck racecheck initcheck synccheck}
timeout=${TIMEOUT:-300}
# One voxel, odd shapes in 2D and 3D, ties, more slices than a march, histograms in
# several copies and in none, and of 16 bits.
cases=${CASES:-'noise/shape=31x17x13/type=float32/seed=7|noise/shape=65x33x5/type=uint8/seed=8|'\
'noise/shape=67x101/type=int16|constant/shape=1x1x1|noise/shape=7x9x131|'\
'noise/shape=83x71/type=float32/levels=513|noise/shape=11x10x9/type=float32/levels=65536|'\
'noise/shape=11x10x9/type=u?int16/levels=65536|noise/shape=33x9x15/type=uint16/levels=300'}

command -v "$sanitizer" >/dev/null || { echo "$0: no $sanitizer on this machine" >&2; exit 1; }

# Each case is below TestConformance, those of the smoothing below TestDeviceIsHost, those
# of the ceiling below TestSumOnDevice. Other workloads ask all in one test. -short leaves out inputs that
# take the tools too long.
conformance=$(printf '%s' "$cases" | sed 's,^,TestConformance/,; s,|,|TestConformance/,g')
conformance="$conformance|TestDeviceIsHost/smooth/iterations=3|TestSumOnDevice"
kernels='^Test(Kernels|Product|Fields|Rest|)OnDevice$'
unions=
for kernel in betti_foreground betti_foreground_flat betti_background; do
	unions="$unions --kernel-name-exclude kne=$kernel"
done
log=$(mktemp)
trap 'rm -f "$log"' EXIT
bad=0
for tool in $tools; do
	# The program asks the driver for one parameter too many, to count them. So errors of
	# calls are no findings; errors in kernels are.
	# The tiles of betti/duality replace parents of 16 bits with ancestors while other threads read
	# them: both values are right, so racecheck leaves the kernels of tiles out.
	options=
	[ "$tool" != memcheck ] || options='--report-api-errors no'
	[ "$tool" != racecheck ] || options="$unions"
	for impl in "$@"; do
		case $impl in
		chunked | extrema/gpu | fullsweep | read | smooth | tiled)
			short='' run=$conformance passed='(Conformance[A-Za-z]*|DeviceIsHost|SumOnDevice)/'
			;;
		*) short=-test.short run=$kernels passed='[A-Za-z]*OnDevice ' ;;
		esac
		# shellcheck disable=SC2086 # the options are several words
		ECCBENCH_REQUIRE_DEVICE=1 timeout "$timeout" "$sanitizer" --tool "$tool" $options --error-exitcode 1 \
			"$bindir/$impl.test" $short -test.run "$run" -test.v >"$log" 2>&1
		code=$?
		ran=$(grep -Ec "^ *--- PASS: Test$passed" "$log")
		missing=0 # patterns that no case has
		case $impl in
		chunked | extrema/gpu | fullsweep | tiled)
			missing=$(printf '%s\n' "$cases" | tr '|' '\n' | while read -r pattern; do
				grep -Eq "^ *--- PASS: TestConformance[A-Za-z]*/.*$pattern" "$log" || echo "$pattern"
			done | wc -l)
			;;
		esac
		summary=$(grep '^========= .* SUMMARY: ' "$log" | tail -1 | sed 's/^=* //')
		if [ $code -eq 0 ] && [ "$ran" -gt 0 ] && [ "$missing" -eq 0 ] && [ "${summary#*SUMMARY: 0 }" != "$summary" ]; then
			verdict=ok
		else
			verdict=FAILED
			bad=1
		fi
		printf '%-10s %-10s %-6s %s cases, %s patterns without one, exit code %s, %s\n' \
			"$tool" "$impl" "$verdict" "$ran" "$missing" "$code" "${summary:-no summary}"
		[ $verdict = ok ] || tail -n 60 "$log"
	done
done
exit $bad
