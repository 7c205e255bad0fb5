#!/usr/bin/env bash
# Runs tests of the wheel for arm64 by QEMU, with Debian's Python and NumPy for that machine, which are
# downloaded to a folder once:
#
#   scripts/arm64.sh FOLDER WHEEL TEST...
#
# Tests are files below the folder python. Needs root, mmdebstrap and qemu-user-static.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$(realpath -m "$1") wheel=$(realpath "$2")
shift 2
if [ ! -e "$root/opt/done" ]; then
	rm -rf "$root"
	mmdebstrap --quiet --mode=root --variant=extract --architectures=arm64 \
		--include=python3,python3-numpy,python3-pytest trixie "$root"
	ln -sfn usr/lib "$root/lib"
	mkdir -p "$root/opt"
	touch "$root/opt/done"
fi
rm -rf "$root/opt/wheel"
python3 -m zipfile -e "$wheel" "$root/opt/wheel"
# Nothing was installed there, only unpacked, so the libraries behind Debian's alternatives are named.
libraries=/usr/lib/aarch64-linux-gnu
export PYTHONDONTWRITEBYTECODE=1 PYTHONHOME=$root/usr PYTHONPATH=$root/opt/wheel:$root/usr/lib/python3/dist-packages
cd python
exec qemu-aarch64-static -E LD_LIBRARY_PATH=$libraries/blas:$libraries/lapack -L "$root" \
	"$root"/usr/bin/python3.13 -m pytest -q -p no:cacheprovider "$@"
