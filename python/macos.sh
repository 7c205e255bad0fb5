#!/bin/sh
# Builds the wheel for macOS, on a Mac, for its own processor.
#
#   python/macos.sh
#
# Needs Go 1.26 or later, Python 3.9 or later, and Apple's command line tools
# (xcode-select --install): Go's C runtime links CoreFoundation and libresolv, which no other
# system has.
set -eu
cd "$(dirname "$0")/.."
[ "$(uname)" = Darwin ] || { echo "$0: this is $(uname): the wheel for macOS is built on a Mac" >&2; exit 64; }
for tool in go python3 cc; do
	command -v $tool >/dev/null || { echo "$0: no $tool" >&2; exit 1; }
done
export MACOSX_DEPLOYMENT_TARGET="${MACOSX_DEPLOYMENT_TARGET:-12.0}"
export _PYTHON_HOST_PLATFORM="macosx-$MACOSX_DEPLOYMENT_TARGET-$(uname -m)" SOURCE_DATE_EPOCH=315532800
python3 -m pip wheel --no-deps -w bin/wheels ./python
