"""Memory of answers: arrays are not copied, and an answer that does not fit is an error, not a kill. Each case is a
process of its own."""

import os
import pathlib
import subprocess
import sys
import textwrap
import uuid

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limits are those of Linux")
MIB = 1 << 20


def run(program, group=None):
    """Run a program, within a control group if one is given."""
    start = "import os, sys\n"
    if group is not None:
        start += f"open({str(group / 'cgroup.procs')!r}, 'w').write(str(os.getpid()))\n"
    start += textwrap.dedent("""
        import numpy as np, eccbench
        def peak():
            return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) << 10
        def before():
            open("/proc/self/clear_refs", "w").write("5")
            return int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1]) << 10
    """)
    return subprocess.run(
        [sys.executable, "-c", start + textwrap.dedent(program)], timeout=300, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)


@pytest.mark.parametrize("make, ask, most", [
    ("np.random.default_rng(1).integers(0, 256, (256, 512, 512), np.uint8)", "eccbench.curve(a)", 64),
    ("np.random.default_rng(1).integers(0, 99, (128, 512, 512)).astype(np.float32)", "eccbench.curve(a, at=[5, 50])", 64),
    ("np.random.default_rng(1).random((2, 4096, 4096), np.float32)", "eccbench.curve(a, at=0.5)", 64),
    ("np.random.default_rng(1).integers(0, 256, (256, 512, 512), np.uint8)", "eccbench.betti(a, 128)", 192),
])
def test_arrays_are_not_copied(make, ask, most):
    """An answer about an array of 64 to 128 MiB takes less than a copy of it, or the stated bits of a set."""
    done = run(f"""
        a = {make}
        eccbench.curve(a[:2, :64, :64])
        was = before()
        {ask}
        print(peak() - was)
    """)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < most * MIB, f"{int(done.stdout) / MIB:.0f} MiB"


@pytest.fixture
def group():
    """A control group of 400 MiB."""
    for root, limit in ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"):
        path = pathlib.Path(root, "eccbench-" + uuid.uuid4().hex)
        if not pathlib.Path(root, "cgroup.procs").exists():
            continue
        try:
            path.mkdir()
            (path / limit).write_text(str(400 * MIB))
        except OSError as e:
            if path.exists():
                path.rmdir()
            pytest.skip(f"no control group: {e}")
        yield path
        path.rmdir()
        return
    pytest.skip("no control groups of memory")


def test_too_large_is_an_error(group):
    """The levels of an image that do not fit are an error that says so, and the process goes on."""
    done = run("""
        a = np.random.default_rng(1).standard_normal((20, 1024, 1024), np.float32)
        try:
            eccbench.curve(a)
        except ValueError as e:
            print(e)
        print(eccbench.curve(a, at=[0.0]).chi.size)
    """, group)
    assert done.returncode == 0, done.stderr
    error, after = done.stdout.splitlines()
    assert "the answer takes " in error and " are free; use a machine with more" in error
    assert after == "1"
