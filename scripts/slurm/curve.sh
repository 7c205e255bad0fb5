#!/usr/bin/env bash
# The curve of an image by the tasks of a Slurm array, and a job that merges their parts; or its
# Betti numbers:
#
#	scripts/slurm/curve.sh [--wait] SHARDS FOLDER INPUT [flags of eccbench curve]
#	scripts/slurm/curve.sh --betti [--wait] SHARDS FOLDER INPUT --at VALUES [flags of eccbench betti]
#
# Where SBATCH_FLAGS ask for a GPU, with --gres=gpu or --gpus, curves are counted on it.
#
# The parts, the logs, and in the end the curve, FOLDER/curve.csv, or FOLDER/betti.csv, are in
# FOLDER, which all nodes must see. Run again, it submits the tasks of the parts that are missing
# or torn alone, and the merge; parts of an image that has changed since are an error. With --wait it
# ends when the result is there, or cannot be.
#
#	ECCBENCH       the program, the same on all nodes (eccbench)
#	SBATCH_FLAGS   of the array: '--partition=long --cpus-per-task=8 --mem=1G --time=2:00:00'
#	MERGE_SBATCH   of the job that merges
#	MERGE_FLAGS    of eccbench merge: '--plot curve.svg'
set -euo pipefail

fail() {
	echo "curve.sh: $*" >&2
	exit 64
}

# quote prints words so that every POSIX shell reads them again: sbatch runs a job by /bin/sh,
# which may not have the $'…' of printf %q.
quote() {
	local word
	for word; do
		case $word in
		'' | *[!A-Za-z0-9_./=:,+@%-]*) word=$(printf '%s\n' "$word" | LC_ALL=C sed "s/'/'\\\\''/g; 1s/^/'/; \$s/\$/'/") ;;
		esac
		printf '%s ' "$word"
	done
}

wait='' ask=curve
while :; do
	case ${1-} in
	--wait) wait=--wait ;;
	--betti) ask=betti ;;
	*) break ;;
	esac
	shift
done
[ $# -ge 3 ] || fail "usage: curve.sh [--betti] [--wait] SHARDS FOLDER INPUT [flags of eccbench curve or betti]"
shards=$1 folder=${2%/}
shift 2
case $shards in '' | *[!0-9]* | 0*) fail "$shards: want the number of shards, 1 or more" ;; esac
case $folder in *[%\\]*) fail "$folder: Slurm replaces % and \\ in names of logs; name another folder" ;; esac
program=${ECCBENCH:-eccbench}
command -v "$program" > /dev/null || fail "$program: no such program; say which in ECCBENCH"
command -v sbatch > /dev/null || fail "sbatch: not found; this is for machines that submit jobs to Slurm"
for word; do
	case $word in
	*http://*[?@]* | *https://*[?@]*)
		fail "the password or the query of a URL would be kept in $folder; put it into ~/.netrc or ECCBENCH_URLS"
		;;
	esac
done

# A mistyped input or flag is rejected here, not by every task. This machine may lack the device of an --impl.
if [ ! -e "$folder/question" ]; then
	tried=() skip=
	for word; do
		case $skip$word in
		--skip*) skip= ;;
		--impl) skip=--skip ;;
		--impl=*) ;;
		*) tried+=("$word") ;;
		esac
	done
	"$program" "$ask" "${tried[@]}" --shard "1/$shards" --dry-run > /dev/null || exit 64
fi
mkdir -p "$folder"

case $ask/${SBATCH_FLAGS-} in
curve/*--gres=gpu* | curve/*--gpus*)
	case " $* " in *' --impl'*) ;; *) set -- "$@" --impl extrema-gpu ;; esac
	;;
esac

# The question is stored with the parts, so that parts of two questions are never mixed.
question=$(quote "$shards" "$@")
[ "$ask" = curve ] || question="$ask $question"
result=$folder/$ask.csv
if [ -e "$folder/question" ] && [ "$(cat "$folder/question")" != "$question" ]; then
	fail "$folder: has the parts of $(cat "$folder/question"); name another folder"
fi
printf '%s\n' "$question" > "$folder/question"

# The key of the fingerprint is drawn before anybody counts, and once.
[ -s "$folder/key" ] || od -An -N16 -tx1 /dev/urandom | tr -d ' \n' > "$folder/key"
key=$(cat "$folder/key")

if [ -s "$folder/jobs" ] && [ -n "$(squeue --noheader --jobs="$(cat "$folder/jobs")" --states=PENDING,RUNNING,COMPLETING 2> /dev/null)" ]; then
	fail "$folder: jobs $(cat "$folder/jobs") have not ended; wait for them, or scancel them"
fi

missing=1-$shards
if compgen -G "$folder/*.part" > /dev/null; then
	# Parts store a digest of the name, the sizes and the times of the image's files.
	source=$("$program" "$ask" "$@" --shard "1/$shards" --dry-run 2> /dev/null | sed -n 's/^source //p') || source=
	for part in "$folder"/*.part; do
		made=$(grep -aom1 '"source":"[0-9a-f]*"' "$part" 2> /dev/null | cut -d'"' -f4) || continue # torn
		[ -z "$source" ] || [ "$made" = "$source" ] || fail "$part: the image has changed since; remove the parts and" \
			"$ask.csv in $folder and run again, or name another folder"
	done
	missing=$("$program" merge --missing "$folder") || {
		# Where none is whole, all are to be made.
		[ -z "$("$program" merge --missing "$folder" 2>&1 | grep -v 'no part is whole')" ] || exit 64
		missing=1-$shards
	}
fi
if [ -z "$missing" ] && [ -s "$result" ]; then
	echo "curve.sh: $result is there"
	exit 0
fi

dependency=
threads="--threads \${SLURM_CPUS_PER_TASK:-\$(nproc)}"
if [ -n "$missing" ]; then
	task="exec $(quote "$program" "$ask" "$@" --quiet --key "$key" --shard "auto/$shards" --out "$folder") $threads"
	# shellcheck disable=SC2086 # flags are words
	array=$(sbatch --parsable --job-name="eccbench-$ask" --array="$missing" --output="$folder/log-%a.txt" ${SBATCH_FLAGS-} --wrap "$task")
	array=${array%%;*}
	dependency="--dependency=afterok:$array --kill-on-invalid-dep=yes"
	printf '%s\n' "$array" > "$folder/jobs"
	echo "curve.sh: shards $missing of $shards are job $array"
fi
# shellcheck disable=SC2086
merge="exec $(quote "$program" merge "$folder" --out "$result") $threads ${MERGE_FLAGS-}"
rm -f "$result"
status=0
# shellcheck disable=SC2086
job=$(sbatch --parsable $wait --job-name=eccbench-merge $dependency \
	--output="$folder/log-merge.txt" ${MERGE_SBATCH-} --wrap "$merge") || status=$?
job=${job%%;*}
[ -n "$job" ] || exit $status
printf '%s\n' "${array:+$array,}$job" > "$folder/jobs"
echo "curve.sh: the merge is job $job"
[ -n "$wait" ] || exit 0
if [ ! -s "$result" ]; then # a merge that cannot run has failed, too
	echo "curve.sh: no $ask: see $folder/log-*.txt; run again to make what is missing" >&2
	exit 1
fi
cat "$folder/log-merge.txt"
