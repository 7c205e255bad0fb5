"""Check that the contents of wheels agree with their names, and that they are not too large.

    python check_wheel.py LARGEST WHEEL...

A manylinux_2_17 wheel needs nothing but libraries of glibc, in version 2.17 or before, and its
command the wheel's library. Needs readelf.
"""

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

GLIBC = {"libc.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
MACHINES = {"x86_64": "X86-64", "aarch64": "AArch64"}


def check_elf(file, glibc, machine, others=frozenset()):
    said = subprocess.run(["readelf", "-hdVW", file], check=True, capture_output=True, text=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", said))
    assert needed <= GLIBC | others, f"{file.name} needs {needed - GLIBC - others}"
    versions = {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([0-9.]+)", said)}
    assert all(v <= glibc for v in versions), f"{file.name} needs glibc {max(versions)}"
    assert MACHINES[machine] in said, f"{file.name} is not for {machine}"
    return versions


def check(wheel, largest):
    assert wheel.stat().st_size <= largest, f"{wheel.stat().st_size} bytes, more than {largest}"
    tag = re.fullmatch(r"eccbench-[0-9.a-z]+-py3-none-(.+)\.whl", wheel.name)[1]
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        files = set(archive.namelist())
        assert {"eccbench/__init__.py", "eccbench/py.typed"} <= files
        linux = re.fullmatch(r"manylinux_(\d+)_(\d+)_(\w+)", tag)
        if not linux:
            assert tag == "win_amd64" and "eccbench/libeccbench.dll" in files, f"a wheel for {tag}"
            return
        library, command = "eccbench/libeccbench.so", "eccbench/bin/eccbench"
        assert archive.getinfo(command).external_attr >> 16 & 0o111, "the command is not executable"
        glibc = int(linux[1]), int(linux[2])
        found = check_elf(Path(archive.extract(library, folder)), glibc, linux[3])
        assert found, "the library has no versions of symbols: nothing was checked"
        check_elf(Path(archive.extract(command, folder)), glibc, linux[3], {Path(library).name})


for name in sys.argv[2:]:
    try:
        check(Path(name), int(sys.argv[1]))
    except (AssertionError, KeyError) as e:
        sys.exit(f"{name}: {e}")
    print(f"{name}: {Path(name).stat().st_size / 1e6:.1f} MB, as its name says")
