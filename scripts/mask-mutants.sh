#!/bin/sh
# Removes the border masks of the vector kernels of impls/extrema, one at a time, and tests
# whether `eccbench verify` notices. Prints a line for each, "caught", "SURVIVES" or "does not
# build", with the function and the instruction. Exits 1 if a mask survives that matters.
#
#   scripts/mask-mutants.sh ISA [FLAGS OF verify…]
#
# ISA is avx2 or avx512, which the machine must have. The flags replace the adversarial inputs.
# Needs Go, and leaves the checkout unchanged. It takes 4 to 8 s for each of about 40 (avx2) or
# 70 (avx512) masks.
#
# A border mask distinguishes a voxel from a place outside the image at the same level: a VPAND
# with memory, a KAND or KOR of two masks, and a comparison under a mask. Masks of 32-bit lanes do
# not matter: no image has 2^32 levels, so places outside are above all levels.
set -u
[ $# -ge 1 ] || { echo "usage: $0 avx2|avx512 [FLAGS OF verify…]" >&2; exit 64; }
isa=$1
shift
cd "$(dirname "$0")/.." || exit 1
file=$PWD/impls/extrema/kernel_${isa}_amd64.s
[ -f "$file" ] || { echo "$0: no $file" >&2; exit 64; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT INT TERM
echo "{\"Replace\": {\"$file\": \"$tmp/kernel.s\"}}" >"$tmp/overlay.json"

awk '
	/^TEXT/ { f = $2; sub(/^[^a-z]*/, "", f); sub(/\(.*/, "", f) }
	f !~ /^(volume|area)/ { next }
	$1 == "VPAND" && /\(SP\)/ || $1 ~ /^K(AND|OR)[BWDQ]$/ || $1 ~ /^VPCMP/ && /, K[0-7], K[0-7]$/ { print NR, f }
' "$file" >"$tmp/masks"
missed=0
while read -r line f; do
	# A comparison keeps its result, without the mask; the others go.
	sed "${line}{/VPCMP/{s/, K[0-7], \(K[0-7]\)\$/, \1/;b};d}" "$file" >"$tmp/kernel.s"
	if ! CGO_ENABLED=0 go build -overlay "$tmp/overlay.json" -o "$tmp/eccbench" ./cmd/eccbench 2>"$tmp/log"; then
		result="does not build"
	else
		"$tmp/eccbench" verify --impl extrema --isa "$isa" -q "$@" >"$tmp/out" 2>&1
		case $? in
		11) result=caught ;;
		0)
			result=SURVIVES
			case $f in *32*) result="survives, and makes no difference" ;; *) missed=1 ;; esac
			;;
		*) result="exit other than 0 and 11: $(tail -1 "$tmp/out")" missed=1 ;;
		esac
	fi
	printf '%-20s line %-5s %-34s %s\n' "$f" "$line" "$(sed -n "${line}s/[[:space:]]\{1,\}/ /gp" "$file")" "$result"
done <"$tmp/masks"
exit $missed
