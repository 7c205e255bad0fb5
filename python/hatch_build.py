"""Build the Go parts of the wheel: the library, and the command on systems that support it.

On Linux the command is in the library, and the executable only calls it, so that both share
their code. On macOS it is a separate program.

ECCBENCH_TARGET names the platform; its C compiler is from the Python package ziglang. By default
it is this machine, with the C compiler CC or gcc.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

try:  # of build.txt; without them the wheel is larger
    import deflate
    import zstandard
except ImportError:
    deflate = zstandard = None

# Platform: GOOS, GOARCH, zig's name, the tag of the wheel.
TARGETS = {
    "linux-x86_64": ("linux", "amd64", "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64"),
    "linux-aarch64": ("linux", "arm64", "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64"),
    "windows-x86_64": ("windows", "amd64", "x86_64-windows-gnu", "win_amd64"),
}
FAMILY = "ecc_extrema"
LIBRARIES = {"linux": "libeccbench.so", "darwin": "libeccbench.dylib", "windows": "libeccbench.dll"}


# Files of an sdist: what the library is compiled of, without machine code and tests.
SOURCES = """
    go.mod go.sum THIRD_PARTY python/launcher.c cmd/*.go datasets/*.go datasets/*.s impls/*.go impls/*.s
    internal/*.go internal/*.s internal/*.html kernels/*.go kernels/*.ptx.tar.zst
    kernels/ptx/softecc_direct.sm_90.tar.zst reports/paper :!*_test.go :!internal/mutate
""".split()


class Deflate:
    """A compressor for zipfile."""

    def __init__(self):
        self.data = bytearray()

    def compress(self, data):
        self.data += data
        return b""

    def flush(self):
        return deflate.deflate_compress(self.data, 12)


class CustomBuildHook(BuildHookInterface):
    @property
    def tree(self):
        """The repository, or its copy in an sdist."""
        copy = Path(self.root, "tree")
        return copy if copy.exists() else Path(self.root).parent

    def initialize(self, version, build_data):
        if self.target_name == "sdist":
            listed = ["git", "ls-files", "-z", "--", *SOURCES]
            files = subprocess.run(listed, cwd=self.tree, check=True, capture_output=True, text=True).stdout
            for file in filter(None, files.split("\0")):
                build_data["force_include"][str(self.tree / file)] = f"tree/{file}"
            return
        go = shutil.which("go")
        if not go:
            raise RuntimeError("Go is not installed: the library is compiled with Go 1.26 or later")
        target = os.environ.get("ECCBENCH_TARGET", "")
        if not target and "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or ""):
            raise RuntimeError("musl's loader refuses Go's libraries: use the static command, or a system with glibc")
        environment = {**os.environ, "CGO_ENABLED": "1"}
        if target:
            system, arch, zig, tag = TARGETS[target]
            environment.update(GOOS=system, GOARCH=arch, CC=f"{sys.executable} -m ziglang cc -target {zig}")
        else:
            system = {"win32": "windows"}.get(sys.platform, sys.platform)
            tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        package = Path(self.root, "src", "eccbench")
        into = package if version == "editable" else Path(self.root, "build", target or "host")
        flags = ["-trimpath", "-buildvcs=auto", *self.overlay()]
        link = f"-s -w -X eccbench/internal/exports.version={self.metadata.version}"
        release = os.environ.get("ECCBENCH_RELEASE")
        if self.tree.parent == Path(self.root):  # of an sdist
            release = f"v{self.metadata.version}"
        if release:
            link += f" -X eccbench/internal/release.stamp={release}"
        library, command = into / LIBRARIES[system], into / "bin" / "eccbench"
        cold = Path(self.root, "cold.txt").read_text().splitlines()[1:]
        flags += [f"-gcflags={package}=-l" for package in cold]
        tags, source = ["ptxonly", "nethttpomithttp2"], ["./cmd/libeccbench"]
        if system == "linux":  # resolve names and users as in a program without C
            tags, source = [*tags, "shared", "netgo", "osusergo"], ["./cmd/eccbench"]
            link += f" -extldflags=-Wl,-s,-soname,{library.name}"
        elif system == "windows":  # the folder of the build is in a .pdb, whose hash is in the library, and in objects
            link += " -buildid= -extldflags=-s"
        self.run(go, environment, "build", "-buildmode=c-shared", f"-tags={','.join(tags)}", *flags,
                 f"-ldflags={link}", "-o", library, *source)
        library.with_suffix(".h").unlink(missing_ok=True)
        built = {library: f"eccbench/{library.name}"}
        if system == "linux":
            command.parent.mkdir(parents=True, exist_ok=True)
            compiler = shlex.split(environment.get("CC", "gcc"))
            self.run(*compiler[:1], environment, *compiler[1:], "-Os", "-s", "-o", command, "python/launcher.c",
                     f"-L{into}", "-leccbench", "-Wl,-rpath,$ORIGIN/..")
        elif system == "darwin":
            self.run(go, {**environment, "CGO_ENABLED": "0"}, "build", f"-tags={','.join(tags)}", *flags,
                     "-ldflags=-s -w", "-o", command, "./cmd/eccbench")
        if system != "windows":
            built[command] = "eccbench/bin/eccbench"
        build_data.update(pure_python=False, tag=f"py3-none-{tag}")
        if version != "editable":
            built[self.tree / "THIRD_PARTY"] = "eccbench/THIRD_PARTY"
            build_data["force_include"].update({str(file): name for file, name in built.items()})

    def overlay(self):
        """Options of go build: the kernels of FAMILY are compressed after its first file (kernels/kernels.go)."""
        if not zstandard:
            return []
        folder = Path(self.root, "build", "kernels")
        folder.mkdir(parents=True, exist_ok=True)
        places = {}
        first = Path(self.tree, "kernels", "ptx", f"{FAMILY}.ptx.tar.zst")
        before = zstandard.ZstdCompressionDict(
            zstandard.ZstdDecompressor().decompress(first.read_bytes()), dict_type=zstandard.DICT_TYPE_RAWCONTENT
        )
        for file in first.parent.glob(f"{FAMILY}_*.ptx.tar.zst"):
            archive = zstandard.ZstdDecompressor().decompress(file.read_bytes())
            (folder / file.name).write_bytes(zstandard.ZstdCompressor(level=22, dict_data=before).compress(archive))
            places[str(file)] = str(folder / file.name)
        (folder / "overlay.json").write_text(json.dumps({"Replace": places}))
        return ["-overlay", folder / "overlay.json"]

    def finalize(self, version, build_data, artifact_path):
        """Compress the files of a wheel by libdeflate, if it is installed."""
        if not deflate or not artifact_path.endswith(".whl"):
            return
        zipfile._get_compressor = lambda *_: Deflate()
        smaller = Path(f"{artifact_path}.smaller")
        with zipfile.ZipFile(artifact_path) as wheel, zipfile.ZipFile(smaller, "w") as archive:
            for info in wheel.infolist():
                archive.writestr(info, wheel.read(info))
        smaller.replace(artifact_path)

    def run(self, program, environment, *arguments):
        subprocess.run([program, *map(str, arguments)], cwd=self.tree, env=environment, check=True)
