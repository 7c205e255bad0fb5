"""
A cluster, on one machine
=========================

The command counts a shard of an image in each task of an array job, and merges the part files. No task talks to
another, a torn or missing part is found, and the sum is verified against the fingerprints of all parts. Here the
tasks run one after the other; ``scripts/slurm`` and ``scripts/kubernetes`` submit them.
"""

import subprocess
import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import eccbench

IMAGE = "grf/shape=64x64x128/type=uint8/smooth=2/seed=6"


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "eccbench", *arguments], capture_output=True, text=True)


with tempfile.TemporaryDirectory() as folder:
    for i in (1, 2, 4):
        command("curve", IMAGE, "--shard", f"{i}/4", "--out", folder).check_returncode()
    early = command("merge", folder)
    reason = early.stderr.strip().splitlines()[-1].replace(folder, "…")
    print(f"without shard 3: exit code {early.returncode}: {reason}")
    command("curve", IMAGE, "--shard", "3/4", "--out", folder).check_returncode()
    merged = command("merge", folder)
    merged.check_returncode()
table = np.loadtxt(merged.stdout.splitlines(), delimiter=",", skiprows=2, dtype=np.int64)
print("with all four:", merged.stdout.splitlines()[0].rsplit(", ", 1)[1])

curve = eccbench.open(IMAGE).curve()
assert (curve(table[:, 0]) == table[:, 2]).all()
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
axes.plot(table[:, 0], table[:, 2], lw=4, alpha=0.4, label="merged from four shards")
axes.plot(curve.levels, curve.chi, "k", lw=1, label="in one piece")
axes.set(xlabel="level", ylabel="χ")
axes.legend()
plt.show()
