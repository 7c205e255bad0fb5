"""An accessor of xarray: images by the names of their axes.

>>> import numpy as np, xarray, eccbench.xarray
>>> scan = xarray.DataArray(np.random.default_rng(1).integers(0, 9, (4, 20, 20)), dims=("time", "y", "x"))
>>> scan.eccbench.curve(dims=("y", "x"), at=[2, 5]).sizes
Frozen({'time': 4, 'level': 2})
"""

from __future__ import annotations

from typing import Any, Hashable, Sequence

import numpy as np
import xarray

from ._arguments import mask_of
from ._betti import betti
from ._curve import _numbers, _values_of, curve
from ._gvf import gvf
from ._result import Verdict

__all__ = ["Accessor"]


def _reject_batch(options: dict[str, Any]) -> None:
    if "batch_axis" in options:
        raise TypeError("batch_axis: the axes of an array have names here; dims of curve and betti names "
            "those of each image")


@xarray.register_dataarray_accessor("eccbench")  # type: ignore[no-untyped-call]
class Accessor:
    """``DataArray.eccbench``, registered by the import of `eccbench.xarray`."""

    def __init__(self, array: xarray.DataArray):
        self._array = array

    def curve(
        self,
        dims: Sequence[Hashable] | None = None,
        *,
        at: Any = None,
        periodic: Sequence[Hashable] = (),
        mask: Any = None,
        **options: Any,
    ) -> xarray.DataArray:
        """Euler characteristic curves: `eccbench.curve` of the array.

        Parameters
        ----------
        dims : sequence of str, optional
            The axes of each image. The others count images, whose curves are at the values `at`. By default
            the array is one image. Without `at` one image of Dask is counted by `eccbench.dask.curve`; other
            arrays of Dask are read into memory.
        at : array_like of one axis, optional
            The values.
        periodic : sequence of str
            The periodic axes.
        mask : DataArray, or mask of `eccbench.curve`, optional
            The voxels that are part of the images. A mask without names has the axes of the array in
            their order, or those of an image in the order of `dims`.
        **options
            The options of `eccbench.curve`.

        Returns
        -------
        chi : xarray.DataArray
            With an axis ``level`` after the axes that count images. Its coordinates are the values `at`, or the
            levels of the image. The verdict and the convention are in ``attrs``.
        """
        _reject_batch(options)
        options.update(at=at, periodic=self._axes(dims, periodic))
        others, images, mask = self._images(dims, mask)
        if others and at is None:
            raise ValueError("at is missing: want the values at which the curves of several images are taken")
        self._reject_names(others, "level")
        if not others and at is None and images.chunks is not None:
            from .dask import curve as lazily

            del options["at"]
            curves = [lazily(images.data, mask=mask, **options)]
        elif not others:
            curves = [curve(images.values, mask=mask, **options)]
        else:
            curves = curve(self._flat(images, others), mask=mask, batch_axis=0, **options)
        levels = curves[0].levels if at is None else _values_of(at)
        if levels.dtype == np.float16:  # not supported by an index of pandas
            levels = levels.astype(np.float32)
        chi = np.array([c.chi for c in curves], np.int64).reshape(*(images.sizes[d] for d in others), len(levels))
        about = {}
        if curves:
            names = [images.dims[len(others) + axis] for axis in curves[0].periodic]
            about = {**curves[0]._about(), "convention": curves[0]._convention(names)}
        return self._over(images, others, chi, {"level": levels}, about).rename("chi")

    def betti(
        self,
        at: Any = None,
        dims: Sequence[Hashable] | None = None,
        *,
        periodic: Sequence[Hashable] = (),
        mask: Any = None,
        **options: Any,
    ) -> xarray.DataArray:
        """Betti numbers of the sets at some values: `eccbench.betti` of the array.

        Parameters
        ----------
        at : float or array_like of one axis, optional
            The values; optional for an array of bool.
        dims, periodic, mask
            As for `curve`.
        **options
            The options of `eccbench.betti`.

        Returns
        -------
        numbers : xarray.DataArray
            With an axis ``level`` for several values, and an axis ``dimension`` for b0, b1 and b2.
        """
        options["periodic"] = self._axes(dims, periodic)
        if np.ndim(at) > 1:
            raise ValueError(f"at of shape {np.shape(at)}: want one value or one axis of them")
        others, images, mask = self._images(dims, mask)
        self._reject_names(others, *["level"] * np.ndim(at), "dimension")
        numbers = betti(self._flat(images, others), at, mask=mask, batch_axis=0, **options)
        levels = {} if np.ndim(at) == 0 else {"level": _numbers(at, "at")}
        shape = [images.sizes[d] for d in others] + [len(v) for v in levels.values()] + [3]
        return self._over(
            images,
            others,
            np.array(numbers).reshape(shape),
            {**levels, "dimension": np.arange(3)},
            Verdict.of([numbers])._asdict(),
        )

    def gvf(self, mask: Any = None, **options: Any) -> xarray.DataArray:
        """Gradient vector flow: `eccbench.gvf` of the array, with an axis ``component`` before its own.

        Parameters
        ----------
        mask : array-like or xarray.DataArray, optional
            Labels, of the same axes; with coordinates, of the same ones.
        **options
            The other options of `eccbench.gvf`.

        Returns
        -------
        field : xarray.DataArray
        """
        _reject_batch(options)
        _, _, mask = self._images(None, mask)
        self._reject_names(self._array.dims, "component")
        field = gvf(self._array.values, mask=mask, **options)
        coords = {"component": list(map(str, self._array.dims)), **self._array.coords}
        return xarray.DataArray(
            np.array(field), coords, ("component", *self._array.dims), attrs=Verdict.of([field])._asdict()
        )

    def _images(self, dims: Sequence[Hashable] | None, mask: Any) -> tuple[list[Hashable], xarray.DataArray, Any]:
        """Return the axes that count images, the array with these first, and its mask in the same order."""
        dims = self._array.dims if dims is None else tuple(dims)
        if missing := [d for d in dims if d not in self._array.dims]:
            raise ValueError(f"dims {missing}: want some of {self._array.dims}")
        if len(set(dims)) < len(dims):
            raise ValueError(f"dims {dims}: want each axis once")
        others = [d for d in self._array.dims if d not in dims]
        images = self._array.transpose(*others, *dims)
        if mask is not None and not isinstance(mask, xarray.DataArray):
            array = mask_of(mask, self._array.shape, images.shape[len(others) :])
            mask = array if isinstance(mask, np.ndarray) else np.ascontiguousarray(array)
            if array.shape == self._array.shape:
                mask = xarray.DataArray(mask, dims=self._array.dims)
        if isinstance(mask, xarray.DataArray):
            for d, index in mask.indexes.items():
                if d in images.indexes and not index.equals(images.indexes[d]):
                    raise ValueError(f"mask: its coordinates along {d!r} are not those of the image; align "
                        f"it, such as by mask.reindex_like")
            over = others if set(others) <= set(mask.dims) else []
            mask = self._flat(mask.transpose(*over, *dims), over)
            mask = mask if over else mask[0]
        return others, images, mask

    def _reject_names(self, kept: Sequence[Hashable], *new: str) -> None:
        """Raise an error if an axis or a coordinate that the result keeps is named like a new axis of it."""
        for name in new:
            if name in kept or name in self._array.coords and set(self._array.coords[name].dims) <= set(kept):
                raise ValueError(f"{name!r} is an axis of the result: rename that of the array, such as by "
                    f"rename({name}='{name}_')")

    def _axes(self, dims: Sequence[Hashable] | None, periodic: Sequence[Hashable]) -> list[int]:
        """Return the numbers of axes in an image."""
        names = list(self._array.dims if dims is None else dims)
        if missing := [d for d in periodic if d not in names]:
            raise ValueError(f"periodic {missing}: want some of {names}")
        return [names.index(d) for d in periodic]

    @staticmethod
    def _flat(images: xarray.DataArray, others: Sequence[Hashable]) -> Any:
        """Return all images along one axis."""
        return images.values.reshape(-1, *images.shape[len(others) :])

    @staticmethod
    def _over(
        images: xarray.DataArray, others: Sequence[Hashable], numbers: Any, axes: dict[str, Any], about: dict[str, str]
    ) -> xarray.DataArray:
        """Return numbers over the axes that count images, and more axes."""
        coords = {name: c for name, c in images.coords.items() if set(c.dims) <= set(others)}
        return xarray.DataArray(numbers, {**coords, **axes}, (*others, *axes), attrs=about)
