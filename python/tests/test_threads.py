"""Concurrent threads, in an interpreter with or without its lock."""

import sys
import sysconfig
import threading

import numpy as np
import pytest

import eccbench
from eccbench import _library

THREADS = 12
KINDS = [np.uint8, np.int16, np.float32, np.float64]


def batch(number):
    return np.random.default_rng(number).integers(0, 30, (5, 6 + number, 7, 8)).astype(KINDS[number % 4])


def answers(images):
    """Return the answers of several functions for a batch, as lists."""
    one = images[0]
    curve, curves = eccbench.curve(one), eccbench.curve(images, batch_axis=0)
    chi = eccbench.curve(images, batch_axis=0, at=np.linspace(0, 30, 9))
    betti = eccbench.betti(images, batch_axis=0, at=12)
    return [
        [c.levels.tolist() for c in (curve, *curves)],
        [c.chi.tolist() for c in (curve, *curves)],
        np.asarray(chi).tolist(),
        [tuple(b) for b in np.asarray(betti).tolist()],
        eccbench.betti_curves(one).b1.tolist(),
        eccbench.pairs(one).death_voxels.tolist(),
    ]


def at_once(work):
    """Call work(0), work(1), … in a thread each, at the same moment. Return the answers."""
    ready, found = threading.Barrier(THREADS), [None] * THREADS

    def thread(number):
        ready.wait()
        try:
            found[number] = work(number)
        except BaseException as e:  # which a thread would only print
            found[number] = e

    threads = [threading.Thread(target=thread, args=(i,)) for i in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return found


def test_images_of_their_own():
    images = [batch(i) for i in range(THREADS)]
    want = [answers(i) for i in images]
    for _ in range(3):
        assert at_once(lambda i: answers(images[i])) == want


def test_one_image():
    images = batch(3)
    assert at_once(lambda _: answers(images)) == [answers(images)] * THREADS


def test_errors_are_those_of_their_own_call():
    def wrong(number):
        with pytest.raises(ValueError) as e:
            eccbench.curve(np.zeros((2, 2)), mask=np.zeros((number + 3, 2), bool))
        return str(e.value)

    assert at_once(wrong) == [wrong(i) for i in range(THREADS)]


def test_jobs_left_while_others_are_forgotten():
    """A thread may abandon a job while another one frees abandoned jobs."""
    state = _library._State(forked=False)

    class Library:
        def eccbench_wait(self, number, _):
            state.left[number + len(state.left)] = None
            return 0

    state.left = {1: None, 2: None}
    _library._reap(Library(), state)
    assert set(state.left) > {1, 2}


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="an interpreter with its lock alone")
def test_without_the_lock():
    """No import of eccbench enables the lock again."""
    assert not sys._is_gil_enabled()
