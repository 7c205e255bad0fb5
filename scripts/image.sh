#!/usr/bin/env bash
# Makes the container image of a release, as an OCI archive next to it, and runs the command of the image:
#
#	scripts/image.sh v1.2.3 dist
#
# Needs buildah and mmdebstrap, no daemon, no image registry, and no rights but those of a user who may map users
# (uidmap): the Debian of the image is made from Debian's packages.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1 dist=$(realpath "$2") suite=trixie # the stable one
archive=$dist/eccbench-$version-image-linux-amd64.tar
export STORAGE_DRIVER=${STORAGE_DRIVER:-vfs} BUILDAH_ISOLATION=${BUILDAH_ISOLATION:-chroot}

work=$(mktemp -d)
made=()
finish() {
	[ ${#made[@]} = 0 ] || buildah rm "${made[@]}" > "$work/removed" || true
	rm -rf "$work"
}
trap finish EXIT

mmdebstrap --quiet --variant=minbase --dpkgopt='path-exclude=/usr/share/doc/*' \
	--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' "$suite" "$work/debian.tar"
base=$(buildah from scratch)
made+=("$base")
buildah add --quiet "$base" "$work/debian.tar" / > "$work/added"
buildah commit --quiet "$base" debian:stable-slim > "$work/committed"
buildah bud --quiet --pull=never --tag "eccbench:$version" --build-arg "VERSION=$version" --file Containerfile "$dist" \
	> "$work/built"

container=$(buildah from --pull=never "eccbench:$version")
made+=("$container")
buildah run "$container" -- eccbench version
buildah run "$container" -- eccbench curve torus/shape=64x64x32/type=uint8/radius=16/tube=6 -q > "$work/curve.csv"
grep -qw VERIFIED "$work/curve.csv"
rm -f "$archive"
buildah push --quiet "eccbench:$version" "oci-archive:$archive:eccbench:$version"
ls -sh "$archive"
