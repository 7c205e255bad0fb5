"""
A series in time, by the names of its axes
==========================================

``import eccbench.xarray`` adds an accessor that knows axes by their names. The functional scan here is one of the
test files of nibabel: 20 volumes of 17×21×3 voxels. Each volume has a row, and the verdict is in ``attrs``.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import nibabel
import numpy as np
import xarray

import eccbench.xarray

path = Path(nibabel.__file__).parent / "tests" / "data" / "functional.nii"
values = np.asarray(nibabel.load(path).dataobj, np.float32)
scan = xarray.DataArray(values, dims=("x", "y", "z", "time"), coords={"time": np.arange(values.shape[3])})
at = np.linspace(2800, 5600, 57)
chi = scan.eccbench.curve(dims=("z", "y", "x"), at=at, superlevel=True)
print(chi.sizes, chi.attrs["verdict"])

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", width_ratios=(1, 1.8))
scan.isel(z=1, time=0).transpose("y", "x").plot.imshow(ax=left, cmap="gray", add_colorbar=False)
left.set_title("a slice of the first volume")
left.axis("off")
chi.plot.imshow(ax=right, x="level", y="time", cmap="RdBu", cbar_kwargs={"label": "χ of voxels ≥ level"})
plt.show()
