"""Common methods of results: tables, pictures, files and equality; and numbers with a verdict."""

from __future__ import annotations

import io
import json
import os
import stat
from builtins import open
from contextlib import contextmanager, suppress
from dataclasses import fields
from typing import IO, TYPE_CHECKING, Any, ClassVar, Dict, Iterator, NamedTuple, Sequence, TypeVar

import numpy as np

if TYPE_CHECKING:  # numpy.typing takes as long to import as the rest
    from numpy.typing import NDArray

_Self = TypeVar("_Self", bound="Result")

_PROVENANCE = ("verdict", "witness", "implementation", "missing")


class Table:
    """A result with a table: columns by name. The first ones identify the rows."""

    _keys: ClassVar[int] = 1  # number of columns that identify the rows

    def _table(self) -> Dict[str, Any]:
        """Return the columns by name."""
        raise NotImplementedError

    def _about(self) -> Dict[str, str]:
        """Return the verdict, its witness, and the conventions of the numbers."""
        return Verdict.of([self])._asdict()

    def to_pandas(self) -> Any:
        """Return the table as a pandas.DataFrame, with the verdict and the conventions in its ``attrs``."""
        import pandas

        frame = pandas.DataFrame(self._table())
        frame.attrs.update(self._about())
        return frame

    def to_xarray(self) -> Any:
        """Return the table as an xarray.Dataset, indexed by row, with the ``attrs`` of `to_pandas`."""
        frame = self.to_pandas()
        keys = list(frame)[: self._keys]
        for key in keys:
            if frame[key].dtype == np.float16:  # not supported by an index of pandas
                frame[key] = frame[key].astype(np.float32)
        data = frame.set_index(keys).to_xarray().copy(deep=True)  # for changes
        data.attrs.update(self._about())
        return data

    def _repr_html_(self) -> str:
        from html import escape

        about = self._about()
        verdict = about["verdict"] + (" by " + about["witness"] if about["witness"] else "")
        return f"<div>{escape(repr(self))}<br>{self._drawn()}<br><small>{escape(verdict)}</small></div>"

    def _drawn(self) -> str:
        """Return the numbers in HTML, as a table."""
        return as_html(self._table())


def as_html(columns: Dict[str, Any]) -> str:
    """Return columns as a table."""
    from html import escape

    head = "".join(f"<th>{escape(str(c))}</th>" for c in columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(_short(v))}</td>' for v in row)}</tr>" for row in zip(*columns.values())
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


class Result(Table):
    """A table that is a frozen dataclass of read-only arrays. It can be saved, and is equal to others with the same
    numbers."""

    def __post_init__(self) -> None:
        self.__dict__.update({k: _fixed(v) for k, v in vars(self).items() if isinstance(v, np.ndarray)})

    def __setstate__(self, state: Dict[str, Any]) -> None:  # of a copy
        self.__dict__.update(state)
        self.__post_init__()

    def _complete(self) -> bool:
        """Report whether the lengths of the fields agree."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        names = [f.name for f in fields(self) if f.name not in _PROVENANCE]  # type: ignore[arg-type]
        return all(_equal(getattr(self, n), getattr(other, n)) for n in names)

    __hash__ = None  # type: ignore[assignment]

    def save(self, path: Any) -> None:
        """Write the result to a file for `load`. The file is an ``.npz`` archive of the arrays.

        Parameters
        ----------
        path : str or path-like
            The file, with an extension of no other format. An existing file is replaced once the new one is complete;
            other hard links to it keep the old one.

        Raises
        ------
        ValueError
            If the name ends with ``.csv``, ``.json``, ``.npy`` or ``.txt``.
        """
        if not isinstance(path, int) and os.fsdecode(path).lower().endswith((".csv", ".json", ".npy", ".txt")):
            raise ValueError(f"{path}: save writes an .npz archive; for text, take to_pandas().to_csv({str(path)!r})")
        values = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        arrays = {k: v for k, v in values.items() if isinstance(v, np.ndarray)}
        facts = {"result": type(self).__name__, **{k: v for k, v in values.items() if k not in arrays}}
        archive = io.BytesIO()  # on a full disk, one of a file would print a second error when it is deleted
        np.savez_compressed(archive, **{"facts": np.array(json.dumps(facts)), **arrays})  # type: ignore[arg-type]
        with _replacing(path) as file:
            file.write(archive.getbuffer())

    @classmethod
    def load(cls: type[_Self], path: Any) -> _Self:
        """Read a result of `save`.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        result
            Of this class, with its verdict.

        Raises
        ------
        OSError
            If there is no such file.
        ValueError
            If the file contains no result of the class.
        """
        try:
            file = np.load(path, allow_pickle=False)
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise ValueError("it is an array")
            with file:
                values = {name: file[name] for name in file.files}
            facts = {k: _frozen(v) for k, v in json.loads(str(values.pop("facts"))).items()}
            kind = facts.pop("result")
            if kind == cls.__name__:
                result = cls(**values, **facts)
                if not result._complete():
                    raise ValueError("the lengths of its columns differ")
                return result
        except OSError:
            raise
        except EOFError:
            raise ValueError(f"{path}: no result of eccbench, the file is empty") from None
        except Exception as e:  # NumPy, zipfile and json raise many kinds
            cause = "it is no .npz archive" if "pickle" in str(e) else e
            raise ValueError(f"{path}: no result of eccbench, want a file that save wrote: {cause}") from None
        raise ValueError(f"{path}: holds a {kind}, want a {cls.__name__}: take {kind}.load")


@contextmanager
def _replacing(path: Any) -> Iterator[IO[bytes]]:
    """Open a file that gets its name and replaces another once its data is on disk. Devices, pipes and descriptors
    (/dev/stdout) are written directly."""
    if isinstance(path, int) or os.path.exists(path) and not os.path.isfile(path) or _of_descriptor(path):
        with open(path, "ab") as file:  # after earlier lines in the file of a descriptor
            yield file
        return
    real = os.path.realpath(os.fsdecode(path))  # the target of a link
    hidden = os.path.join(os.path.dirname(real), f".eccbench-{os.urandom(9).hex()}")
    try:
        with open(hidden, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(real):
            os.chmod(hidden, stat.S_IMODE(os.stat(real).st_mode))
        os.replace(hidden, real)
    except BaseException as e:
        with suppress(OSError):
            os.unlink(hidden)
        if isinstance(e, OSError) and e.errno is not None:
            raise OSError(e.errno, e.strerror, os.fspath(path)) from None
        raise


def _of_descriptor(path: Any) -> bool:
    """Report whether a path names an open file of a process, such as /dev/stdout."""
    folder = os.path.realpath(os.path.dirname(os.path.abspath(os.fsdecode(path))))
    return folder == "/dev" or folder.startswith("/proc/")


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that cannot be changed: a copy if it or an array that it is a view of is writable. It is a view,
    whose flag cannot be set."""
    owner: Any = array
    while isinstance(owner, np.ndarray) and not owner.flags.writeable:
        owner = owner.base
    if owner is not None:
        array = array.copy()
        array.setflags(write=False)
    return array if array.base is not None else array.view()


def _equal(a: Any, b: Any) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f") if isinstance(a, np.ndarray) else bool(a == b)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def sparkline(x: NDArray[Any], *columns: NDArray[Any]) -> str:
    """Return a small picture in SVG of columns over x, each drawn in steps."""
    width, height, most = 240, 48, 240
    if len(x) == 0:
        return "no rows"
    some = np.unique(np.linspace(0, len(x) - 1, min(len(x), most)).astype(int))
    across = x[some].astype(float)
    lo, hi = min(float(c.min()) for c in columns), max(float(c.max()) for c in columns)
    with np.errstate(over="ignore", invalid="ignore"):
        left = np.nan_to_num((across - across.min()) / ((across.max() - across.min()) or 1)) * width
    end, lines = width if across[-1] >= across[0] else 0, []
    for column, colour in zip(columns, ("#1f77b4", "#ff7f0e", "#2ca02c")):
        up = height - (column[some] - lo) / ((hi - lo) or 1) * height
        steps = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(np.repeat(left, 2)[1:], np.repeat(up, 2)))
        lines.append(f'<polyline points="{steps} {end},{up[-1]:.1f}" fill="none" stroke="{colour}"/>')
    return f'<svg width="{width}" height="{height}" viewBox="-2 -2 {width + 4} {height + 4}">{"".join(lines)}</svg>'


class Verdict(NamedTuple):
    """The verdict of numbers, its witness, and their implementation."""

    verdict: str = "UNVERIFIED"
    witness: str = ""
    implementation: str = ""

    @classmethod
    def of_answer(cls, answer: Dict[str, Any]) -> Verdict:
        """Return the verdict of an answer of the library."""
        return cls(answer["verdict"], answer["witness"], answer["implementation"])

    @classmethod
    def of(cls, answers: Sequence[Any]) -> Verdict:
        """Return the common verdict of several answers: VERIFIED if all are."""
        verified = len(answers) > 0 and all(a.verdict == "VERIFIED" for a in answers)
        by = (", ".join(dict.fromkeys(getattr(a, name) for a in answers)) for name in ("witness", "implementation"))
        return cls("VERIFIED" if verified else "UNVERIFIED", *by)


class Array(np.ndarray):  # type: ignore[type-arg,unused-ignore]
    """A read-only array of NumPy with a verdict, which its views have, too. Its copies are writable and have none, nor
    have arrays that are computed from it.

    Attributes
    ----------
    verdict : {'VERIFIED', 'UNVERIFIED'}
    witness : str
        The independent witness; '' for none.
    implementation : str
        The implementation that computed the numbers.
    """

    verdict: str = "UNVERIFIED"
    witness: str = ""
    implementation: str = ""

    @classmethod
    def of(cls, array: NDArray[Any], verdict: Verdict) -> Array:
        array.setflags(write=False)
        self = array.view(cls)
        self.__dict__.update(verdict._asdict())
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        if name in Verdict._fields:
            raise AttributeError(f"{name}: results are read-only")
        super().__setattr__(name, value)

    def __array_finalize__(self, of: Any) -> None:
        if isinstance(of, Array) and not self.flags.writeable:
            self.__dict__.update(of.__dict__)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return np.asarray(array)[()]

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    def __reduce__(self) -> Any:
        make, arguments, state = tuple(super().__reduce__())
        return make, arguments, (state, self.__dict__)

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state[0])
        self.__dict__.update(state[1])
        self.setflags(write=False if state[1] else None)
