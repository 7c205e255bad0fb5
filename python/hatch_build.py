"""Builds the Go parts of the wheel: the library, and where it runs the command.

ECCBENCH_TARGET names the platform, and its C compiler is that of the Python package
ziglang. By default it is this machine, whose C compiler is CC or gcc.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Platform: GOOS, GOARCH, what zig calls it, the tag of the wheel.
TARGETS = {
    "linux-x86_64": ("linux", "amd64", "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64"),
    "linux-aarch64": ("linux", "arm64", "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64"),
    "windows-x86_64": ("windows", "amd64", "x86_64-windows-gnu", "win_amd64"),
}
LIBRARIES = {"linux": "libeccbench.so", "darwin": "libeccbench.dylib", "windows": "libeccbench.dll"}


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        if self.target_name != "wheel":
            raise RuntimeError("eccbench is built from its repository: make a wheel, not an sdist")
        go = shutil.which("go")
        if not go:
            raise RuntimeError("Go is not installed: the library is compiled with Go 1.26 or later")
        target = os.environ.get("ECCBENCH_TARGET", "")
        environment = {**os.environ, "CGO_ENABLED": "1"}
        if target:
            system, arch, zig, tag = TARGETS[target]
            environment.update(GOOS=system, GOARCH=arch, CC=f"{sys.executable} -m ziglang cc -target {zig}")
        else:
            system = {"win32": "windows"}.get(sys.platform, sys.platform)
            tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        package = Path(self.root, "src", "eccbench")
        into = package if version == "editable" else Path(self.root, "build", target or "host")
        flags = ["-trimpath", "-buildvcs=auto"]
        link = f"-s -w -X main.version={self.metadata.version}"
        library = into / LIBRARIES[system]
        self.go(go, environment, "-buildmode=c-shared", *flags, f"-ldflags={link}", "-o", library, "./cmd/libeccbench")
        library.with_suffix(".h").unlink()
        built = {library: f"eccbench/{library.name}"}
        if system != "windows":
            command = into / "bin" / "eccbench"
            self.go(go, {**environment, "CGO_ENABLED": "0"}, *flags, "-ldflags=-s -w", "-o", command, "./cmd/eccbench")
            built[command] = "eccbench/bin/eccbench"
        build_data.update(pure_python=False, tag=f"py3-none-{tag}")
        if version != "editable":
            build_data["force_include"].update({str(file): name for file, name in built.items()})

    def go(self, go, environment, *arguments):
        subprocess.run([go, "build", *map(str, arguments)], cwd=Path(self.root).parent, env=environment, check=True)
