"""A peer of eccbench in Python: answers questions about images by the protocol eccbench-peer/1.

Describe the program and give a function that answers; see doc/peers.md:

    from peer import serve

    def answer(q):
        return q.curve(lambda inside: my_euler_number(inside))

    serve(answer, name="mine", version="1.0", method="what it does in one line",
          answers=[{"workload": "ecc", "construction": "T"}])

The function returns an array of the shape of q.answer, or writes there itself. It is called once for
each image, and all its work counts. It may raise Refuse or Malformed. Needs NumPy alone.
"""
import json
import os
import sys
import time

import numpy as np

PROTOCOL = "eccbench-peer/1"


class Refuse(Exception):
    """The program does not answer this question: the cell is SKIPPED, with the reason."""


class Malformed(Exception):
    """What the program found is no answer, such as 0.25 for an Euler number: the cell is WRONG."""


class Question:
    """An image, what is asked about it, and room for the answer.

    image    the voxels, read-only, in C order: (y, x) or (z, y, x)
    levels   the ascending levels, for curves; a value counts at the lowest level that is not below it
    answer   where the answer goes, of the type and shape that is due
    threads  how many cores may be used
    Other words of the question are strings: q["threshold"], q["mu"].
    """

    def __init__(self, words):
        self.words = words
        self.image = np.load(words["image"], mmap_mode="r")
        self.levels = np.array(np.load(words["levels"])) if "levels" in words else None
        self.answers = {k: np.load(v, mmap_mode="r+") for k, v in words.items() if k.split(".")[0] == "answer"}
        self.answer = self.answers["answer"]
        self.threads = int(words.get("threads", 1))
        self.spans = {}

    def __getitem__(self, key):
        return self.words[key]

    def ranks(self):
        """The level of each voxel, as an index."""
        return np.searchsorted(self.levels, self.image, "left")

    def inside(self):
        """The voxels that are not above the threshold of a question about one set."""
        return np.asarray(self.image) <= np.float32(self["threshold"])

    def curve(self, number):
        """The changes by level of a function of the sublevel set, given as a bool array."""
        ranks, out = self.ranks(), np.zeros(self.answer.shape)
        before = 0
        for k in np.unique(ranks[ranks < len(self.levels)]):
            now = np.asarray(number(ranks <= k))
            out[k], before = now - before, now
        return out

    def put(self, values, name="answer"):
        """Writes an answer. Numbers of integer answers must be whole."""
        to, values = self.answers[name], np.asarray(values)
        if values.shape != to.shape:
            raise Malformed(f"an array of {values.shape}, where {to.shape} is due")
        if to.dtype.kind == "i" and values.dtype.kind == "f" and not np.array_equal(values, np.rint(values)):
            raise Malformed(f"{values[values != np.rint(values)][0]} is no whole number")
        to[...] = values

    def span(self, name):
        """Times a part of the work: with q.span("convert"): ..."""
        return _Span(self.spans, name)


class _Span:
    def __init__(self, spans, name):
        self.spans, self.name = spans, name

    def __enter__(self):
        self.start = time.perf_counter_ns()

    def __exit__(self, *_):
        self.spans[self.name] = self.spans.get(self.name, 0) + time.perf_counter_ns() - self.start


def serve(answer, *, name, version, method, answers, where="cpu", **about):
    """Answers questions until eccbench ends. Call it last: it does not return."""
    if len(sys.argv) > 1 or not _is_open(3):
        sys.exit(f"{name} is a peer of eccbench: eccbench verify --peer PATH --impl 'peer:*'")
    for fd in (3, 4):
        os.set_inheritable(fd, False)  # they are for this process alone
    about = dict(about, protocol=PROTOCOL, name=name, version=version, method=method, where=where, answers=answers)
    about.setdefault("language", "Python")
    about.setdefault("bursts", True)
    bound = {}
    with open(3) as commands:
        for line in commands:
            verb, *words = line.split()
            if verb == "end":
                break
            os.write(4, (_reply(verb, words, about, bound, answer) + "\n").encode("ascii", "replace"))
    os._exit(0)


def _is_open(fd):
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def _reply(verb, words, about, bound, answer):
    try:
        if verb == "about":
            return "about " + json.dumps(about)
        if verb == "ping":
            return "pong"
        if verb == "bind":
            bound[words[0]] = Question(dict(w.split("=", 1) for w in words[1:]))
            return "ready"
        if verb == "free":
            bound.pop(words[0], None)
            return "freed"
        if verb == "do":
            spans = {}
            for number in words:
                q = bound[number]
                q.spans = spans
                values = answer(q)
                if values is not None:
                    q.put(values)
            return " ".join(["done"] + [f"{k}={v}" for k, v in spans.items()])
        return "unknown " + verb
    except Refuse as e:
        return "refuse " + _line(e)
    except Malformed as e:
        return "malformed " + _line(e)
    except Exception as e:  # the program keeps running
        return f"failed {type(e).__name__}: {_line(e)}"


def _line(e):
    return " ".join(str(e).split())[:200]
