#!/usr/bin/env bash
# Runs a command in a Debian of its own that has PyTorch for the CPU, which make torch makes in
# a folder:
#
#   scripts/torch.sh FOLDER COMMAND...
#
# It sees this repository's folders python and scripts as /python and /scripts, and the wheels of
# bin/wheels as /wheels. Needs root.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$1
shift
mkdir -p "$root"/{python,scripts,wheels} "${WHEELS:=bin/wheels}"
export root WHEELS
# The mounts end with the namespace.
exec unshare --mount --propagation private bash -c '
	mount --rbind /proc "$root/proc"
	mount --rbind /dev "$root/dev"
	mount --bind python "$root/python"
	mount --bind scripts "$root/scripts"
	mount --bind "$WHEELS" "$root/wheels"
	exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 chroot "$root" "$@"
' bash "$@"
