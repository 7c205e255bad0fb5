#!/usr/bin/env bash
# Runs the first steps of a new user in fresh systems: installs the wheel with pip, runs the README's Python example,
# and runs the static command, which needs neither Python nor a C library.
#
#   scripts/containers.sh FOLDER WHEEL COMMAND SUITE...
#
# A suite is a release of Debian or Ubuntu, such as bookworm or noble, or of Fedora, such as fedora-42. FEDORA is the
# URL of its repository, which ends in Everything/x86_64/os. The bare root of a suite is made in FOLDER once. A suite is
# SKIPPED if its archive cannot be reached. At last, pip must reject the wheel for musl in one line. Needs root and
# mmdebstrap, and dnf for Fedora.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "$1") wheel=$(realpath "$2") command=$(realpath "$3")
shift 3
mkdir -p "$folder"

# in_root ROOT SCRIPT runs a shell script in a root, with the network of this machine.
in_root() {
	root=$1 script=$2 unshare --mount --propagation private bash -c '
		mount --rbind /proc "$root/proc"
		mount --rbind /dev "$root/dev"
		cp -L /etc/resolv.conf "$root/etc/"
		mkdir -p "$root/etc/ssl/certs"
		mount --bind /etc/ssl/certs "$root/etc/ssl/certs"
		env -i $(env | grep "^PIP_CERT=\|^PIP_INDEX_URL=" || true) HOME=/root LANG=C.UTF-8 \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" sh -euc "$script"'
}

# bare_root SUITE ROOT installs a bare system with Python.
bare_root() {
	case $1 in
	fedora-*)
		[ -n "${FEDORA:-}" ] || { echo "E: set FEDORA to the URL of its repository" >&2; return 1; }
		dnf --quiet --assumeyes --installroot="$2" --releasever="${1#fedora-}" --repofrompath="fedora,$FEDORA" --repo=fedora \
			--nogpgcheck --setopt=install_weak_deps=False --setopt=tsflags=nodocs install python3 diffutils grep sed
		;;
	*)
		mmdebstrap --quiet --mode=root --variant=apt --include=python3-venv --dpkgopt='path-exclude=/usr/share/doc/*' \
			--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' "$1" "$2"
		;;
	esac
}

stranger='
. /etc/os-release
rm -rf /venv && python3 -m venv /venv
/venv/bin/pip install --quiet --disable-pip-version-check /stranger/*.whl
/venv/bin/python -m doctest /stranger/README.md
/venv/bin/eccbench curve torus/shape=64x64x32/type=uint8/radius=16/tube=6 -q > /tmp/wheel.csv
grep -qw VERIFIED /tmp/wheel.csv
/stranger/eccbench curve torus/shape=64x64x32/type=uint8/radius=16/tube=6 -q > /tmp/static.csv
sed -i 1d /tmp/wheel.csv /tmp/static.csv # the first line names the program
cmp /tmp/wheel.csv /tmp/static.csv
echo "$PRETTY_NAME: $(/venv/bin/python --version), $(getconf GNU_LIBC_VERSION)"'

for suite; do
	root=$folder/$suite
	if [ ! -e "$root.done" ]; then
		rm -rf "$root"
		if ! bare_root "$suite" "$root" 2> "$root.log"; then
			echo "$suite: SKIPPED: no bare root: $(grep -m1 '^E: ' "$root.log" || tail -n1 "$root.log")"
			rm -rf "$root"
			continue
		fi
		touch "$root.done"
	fi
	rm -rf "$root/stranger"
	mkdir "$root/stranger"
	cp "$wheel" "$command" README.md "$root/stranger"
	start=$(date +%s)
	in_root "$root" "$stranger"
	echo "$suite: installed, verified and run in $(($(date +%s) - start)) s"
done

if refusal=$(python3 -m pip install --no-deps --only-binary :all: --platform musllinux_1_2_x86_64 \
	--target "$folder/musl" "$wheel" 2>&1); then
	echo "musl: pip installed the wheel, which its loader refuses" >&2
	exit 1
fi
echo "musl: $(echo "$refusal" | grep '^ERROR')"
