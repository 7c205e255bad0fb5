"""The shared library and its jobs. This module is independent of arrays."""

from __future__ import annotations

import ctypes
import functools
import itertools
import json
import os
import struct
import sys
import threading
import warnings
from typing import Any, Sequence

_NAME = "libeccbench.dll" if sys.platform == "win32" else "libeccbench.dylib" if sys.platform == "darwin" else "libeccbench.so"
PATH = os.path.join(os.path.dirname(__file__), _NAME)  # pathlib takes as long to import as all of this

_job, _int, _text, _memory = ctypes.c_uint64, ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p

# The functions of internal/exports.
_PROTOTYPES = {
    "eccbench_start": (_int, _job, _text, _int, _memory, _int, _memory, _int, _text, _int),
    "eccbench_soft": (_int, _job, _text, _int, ctypes.POINTER(_memory), ctypes.POINTER(_int), _text, _int),
    "eccbench_wait": (ctypes.c_int32, _job, _int),
    "eccbench_answer": (_int, _job, _text, _int),
    "eccbench_rows": (ctypes.c_int32, _job, _int, _memory, _int, _memory),
    "eccbench_cancel": (None, _job),
    "eccbench_end": (None, _job),
    "eccbench_version": (_int, _text, _int),
}

# Its functions on Linux only.
_DEVICE_PROTOTYPES = {
    "eccbench_device_plan": (_int, _text, _int, _text, _int),
    "eccbench_device_add": (_int, _job, _int, _job, _job, _job, _job, _text, _int),
    "eccbench_device_verify": (_int, _job, _int, _job, _job, _job, _text, _int),
    "eccbench_device_soft": (_int, _job, ctypes.c_int32, _text, _job, _text, _int),
    "eccbench_device_launch": (ctypes.c_int32, _memory, _text, _job),
    "eccbench_device_close": (None, _job),
}

_addresses = struct.Struct("=12Q").pack  # of ondevice.SoftCall
_TURN = 50  # milliseconds that a wait may delay signals


class Error(Exception):
    """An error of the library with its kind."""

    def __init__(self, kind: str, text: str):
        super().__init__(text)
        self.kind = kind


class _State:
    """The state of the library in a process."""

    def __init__(self, forked: bool):
        self.forked = forked  # from a process that may have loaded the library
        self.lock = threading.Lock()
        self.loaded: ctypes.CDLL | None = None
        self.left: dict[int, Any] = {}  # the voxels of abandoned jobs
        self.numbers = itertools.count(1)


_state = _State(forked=False)


def _after_fork() -> None:
    global _state
    _state = _State(_state.forked or _state.loaded is not None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _load(forked: bool) -> ctypes.CDLL:
    """Load the library, or a copy of it after a fork.

    The threads of a Go program do not survive a fork, and calls into the parent's library would
    wait for them forever. A copy under another name is an independent program.
    """
    if not forked:
        return _declared(ctypes.CDLL(PATH))
    with open(PATH, "rb") as file:
        image = file.read()
    # Named by the process: a child that loads its copy by the name that its parent's has would get
    # its parent's.
    files = f"/proc/{os.getpid()}/fd"
    if hasattr(os, "memfd_create") and os.path.isdir(files):
        fd = os.memfd_create("eccbench")
        try:
            with open(fd, "wb", closefd=False) as copy:
                copy.write(image)
            return _declared(ctypes.CDLL(f"{files}/{fd}"))
        finally:
            os.close(fd)
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, _NAME)
        with open(path, "wb") as copy:
            copy.write(image)
        return _declared(ctypes.CDLL(path))


def _declared(library: ctypes.CDLL) -> ctypes.CDLL:
    for name, (result, *arguments) in (_PROTOTYPES | _DEVICE_PROTOTYPES if sys.platform == "linux"
            else _PROTOTYPES).items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def _library() -> ctypes.CDLL:
    state = _state
    if state.loaded is None:
        with state.lock:
            if state.loaded is None:
                if not os.path.exists(PATH):
                    raise ImportError(f"{PATH} is missing: install eccbench from a wheel, or by pip install ./python")
                try:
                    state.loaded = _load(state.forked)
                except OSError as e:
                    raise ImportError(f"loading {PATH}: {e}; wheels for Linux are for glibc 2.17 or later, "
                        f"not for musl") from e
    return state.loaded


_SAID = 4096  # bytes that texts seldom exceed


def _said(call: Any, *arguments: Any) -> str:
    """Return the text of a call that writes one. The call may be repeated with a larger buffer."""
    size = _SAID
    while True:
        text = ctypes.create_string_buffer(size)
        length = call(*arguments, text, size)
        if length <= size:
            return text.raw[:length].decode()
        size = length


def version() -> str:
    return _said(_library().eccbench_version)


@functools.lru_cache(maxsize=64)
def _dumped(items: tuple[tuple[str, Any], ...], types: tuple[type, ...]) -> bytes:
    return json.dumps(dict(items)).encode()


def _encoded(request: dict[str, Any]) -> bytes:
    """Return the text of a request, cached for equal requests: curves without floats, because
    equal floats may have different texts."""
    values = tuple(request.values())
    if not all(type(v) in (bool, int, str, tuple) for v in values):
        return json.dumps(request).encode()
    return _dumped(tuple(request.items()), tuple(map(type, values)))


class Job:
    """A request that is being answered.

    `memory` is the address and the size of voxels, and of a mask, or the other arguments of the
    function that starts the job. `keep` owns that memory. It is kept alive as long as the library
    may access the memory, even if an exception, such as Ctrl-C, ends the wait. Then the job is
    cancelled, and stops soon.
    """

    def __init__(self, request: dict[str, Any], keep: Any = None, memory: Sequence[Any] = (0, 0, 0, 0),
            start: str = "eccbench_start"):
        self._library, self._state = _library(), _state
        self._number = next(self._state.numbers)
        if self._state.left:
            _reap(self._library, self._state)
        text, said = _encoded(request), ctypes.create_string_buffer(_SAID)
        try:
            length = getattr(self._library, start)(self._number, text, len(text), *memory, said, _SAID)
            if 0 <= length <= _SAID:
                known = json.loads(said.raw[:length])  # the job is over, or was never begun
            else:
                while not self._library.eccbench_wait(self._number, _TURN):
                    pass  # Python handles signals between two turns
                known = json.loads(_said(self._library.eccbench_answer, self._number))
            if "error" in known:
                _raise(known)
            self.answers = known.get("answers", [])
            for answer in self.answers:
                if "missing" in answer:
                    warnings.warn(f"{request['input']}: {answer['missing']}", stacklevel=4)
        except BaseException:
            self._leave(keep)
            raise

    def _leave(self, keep: Any) -> None:
        if self._library.eccbench_wait(self._number, 0):
            self._library.eccbench_end(self._number)
            return
        # Nothing frees the voxels, even if the interpreter ends before the job.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(keep))
        self._state.left[self._number] = keep
        self._library.eccbench_cancel(self._number)

    def rows(self, image: int, levels: int, size: int, numbers: int) -> None:
        """Write the levels and the numbers of an image to addresses, with the size of the levels in bytes."""
        if not self._library.eccbench_rows(self._number, image, levels, size, numbers):
            raise RuntimeError("internal error: the library gives no rows")

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        self._library.eccbench_end(self._number)


def soft(request: dict[str, Any], keep: Any, pieces: Sequence[tuple[int, int]]) -> None:
    """Answer a request about soft curves, in pieces of memory: their addresses and sizes."""
    pieces = [*pieces, *[(0, 0)] * (5 - len(pieces))]
    memory = (_memory * 5)(*[at for at, _ in pieces]), (_int * 5)(*[size for _, size in pieces])
    with Job(request, keep, memory, "eccbench_soft"):
        pass


class Plan:
    """A plan for images of one layout in the memory of a device, freed with its last reference."""

    def __init__(self, request: dict[str, Any]):
        if sys.platform != "linux":
            raise Error("device",
                "images on a device: only the library for Linux has kernels for them; take a copy on the host")
        self._library, self._state = _library(), _state
        text = json.dumps(request).encode()
        known = json.loads(_said(self._library.eccbench_device_plan, text, len(text)))
        if "error" in known:
            _raise(known)
        self._number: int = known["plan"]
        self.memory: int = known["memory"]  # bytes to work in, for each image of a launch
        self.most: int = known["most"]  # images of a launch
        self.rows: int = known["rows"]
        self.kept: int = known["kept"]  # bytes that the passes of soft curves share
        self.passes = [(_job * len(p))(*p) for p in (program or () for program in known["passes"] or ())]
        self._add, self._launch = self._library.eccbench_device_add, self._library.eccbench_device_launch

    def add(self, images: int, image: int, answer: int, memory: int, stream: int) -> None:
        """Enqueue the answers for images on a stream, all by addresses."""
        self._call(self._add, images, image, answer, memory, stream)

    def verify(self, images: int, image: int, answer: int, stream: int) -> None:
        """Wait for curves, and compare them with the fingerprints of their images."""
        self._call(self._library.eccbench_device_verify, images, image, answer, stream)

    def soft(self, number: int, memory: Sequence[int], stream: int) -> None:
        """Enqueue a pass of soft curves on a stream, in memory by addresses."""
        addresses = _addresses(*memory)
        program = self.passes[number]
        if self._state is not _state or not program or self._launch(program, addresses, stream):
            self._call(self._library.eccbench_device_soft, number == 2, addresses, stream)

    def _call(self, function: Any, *arguments: Any) -> None:
        if self._state is not _state:
            raise Error("device", "images on a device: a process has no device after a fork; start it by spawn")
        try:
            error = _errors.text
        except AttributeError:
            error = _errors.text = ctypes.create_string_buffer(_SAID)
        length = function(self._number, *arguments, error, _SAID)
        if length >= 0:
            _raise(json.loads(error.raw[:length].decode()))

    def close(self) -> None:
        """Free the plan. All of its enqueued work must be over."""
        number, self._number = self._number, 0
        if number and self._state is _state:
            self._library.eccbench_device_close(number)

    def __del__(self) -> None:
        if getattr(self, "_number", 0) and not sys.is_finalizing():
            self.close()


_errors = threading.local()  # a text buffer of each thread, for calls of microseconds


def _raise(known: dict[str, Any]) -> None:
    raise Error(known["kind"], known["error"])


def _reap(library: ctypes.CDLL, state: _State) -> None:
    """Free abandoned jobs that have ended."""
    with state.lock:
        for number in [n for n in list(state.left) if library.eccbench_wait(n, 0)]:
            library.eccbench_end(number)
            ctypes.pythonapi.Py_DecRef(ctypes.py_object(state.left.pop(number)))
