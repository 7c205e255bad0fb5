# Functions of the scripts that record, for a shell to read with ".".
# shellcheck shell=sh disable=SC2034 # they use its variables

# recording_program TOP sets ECCBENCH, where it is not set, to bin/eccbench in the
# tree TOP: built with Go, or the one that is there.
recording_program() {
	[ -z "${ECCBENCH:-}" ] || return 0
	ECCBENCH=$1/bin/eccbench
	if command -v go >/dev/null; then
		(cd "$1" && CGO_ENABLED=0 go build -buildvcs=auto -o bin/eccbench ./cmd/eccbench) || exit 1
	elif [ ! -x "$ECCBENCH" ]; then
		echo "$0: no Go to build eccbench with, and no $ECCBENCH" >&2
		exit 1
	fi
}

# wanted reports whether a part is among the names or patterns in $parts.
wanted() {
	set -f # the patterns are for names of parts
	for pattern in $parts; do
		# shellcheck disable=SC2254 # it is a pattern
		case $1 in $pattern) set +f; return 0 ;; esac
	done
	set +f
	return 1
}

code=0 # the highest exit code so far; 13 where time was missing

# seconds_left prints the rest of $seconds since $begun.
seconds_left() { echo $((begun + seconds - $(date +%s))); }

# lacks_time NAME notes that there was none for something.
lacks_time() {
	echo "== $1: not run, $(seconds_left) s left" >&2
	[ "$code" -ge 13 ] || code=13
}

# within LIMIT COMMAND... runs a command, interrupts it after LIMIT seconds, and
# keeps its exit code. Impossible arguments end the script.
within() {
	limit=$1
	shift
	timeout --foreground -k 30 -s INT "$limit" "$@"
	got=$?
	[ "$got" -ne 124 ] || got=13 # the time was up
	[ "$got" -ne 64 ] || exit 64
	[ "$got" -le "$code" ] || code=$got
}

# visible_devices prints how many devices a program may use.
visible_devices() {
	if [ -n "${CUDA_VISIBLE_DEVICES+set}" ]; then
		echo "$CUDA_VISIBLE_DEVICES" | awk -F, '{ print NF }'
	else
		nvidia-smi -L 2>/dev/null | wc -l
	fi
}

# device_of_this_machine prints the output of the driver's own tool.
device_of_this_machine() {
	command -v nvidia-smi >/dev/null || return 0
	printf '\n```\n'
	nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem,power.limit,memory.total --format=csv
	printf '```\n'
}

# recording_ends reports missing parts, and exits.
recording_ends() {
	[ "$code" -ne 13 ] || echo "$0: not all was measured or conclusive; the same command does the rest" >&2
	exit "$code"
}
