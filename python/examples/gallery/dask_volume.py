"""
A volume that no memory holds
=============================

``eccbench.dask.curve`` counts a Dask array slab by slab, on any scheduler of Dask. Neighbours share a slice,
whose χ is subtracted, so the sum is exactly the curve of the whole. Each slab and each shared slice is verified.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

import eccbench
import eccbench.dask

source = eccbench.open("grf/shape=96x96x96/type=uint8/smooth=2/seed=4")
volume = da.from_array(np.asarray(source), chunks=(24, 96, 96))  # of a Zarr store: da.from_zarr
whole = eccbench.dask.curve(volume, slices=24)
assert whole == eccbench.curve(source)
print(whole)
print(f"Betti numbers at 127: {eccbench.dask.betti(volume, at=127)}")

levels = np.arange(256)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
total = np.zeros(256, np.int64)
for start in range(0, 96, 24):  # as the tasks do
    slab = eccbench.curve(volume[start : start + 25].compute())(levels)
    shared = eccbench.curve(volume[start + 24].compute())(levels) if start + 24 < 96 else 0
    axes.plot(levels, slab - shared, lw=1, label=f"slices {start} to {min(start + 24, 95)}")
    total += slab - shared
assert (total == whole(levels)).all()
axes.plot(levels, total, "k", label="their sum: the whole")
axes.set(xlabel="level", ylabel="χ", title="curves of slabs add up")
axes.legend()
plt.show()
