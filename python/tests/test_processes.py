"""Forks, threads, signals, and the end of the interpreter, each in separate processes."""

import multiprocessing
import os
import signal
import subprocess
import sys
import sysconfig
import textwrap

import numpy as np
import pytest

import eccbench

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux is known to survive it")
SMALL = np.random.default_rng(7).integers(0, 9, (20, 21, 22)).astype(np.float32)
WANT = eccbench.curve(SMALL).chi.tolist()


def right(_=None):
    return eccbench.curve(SMALL).chi.tolist() == WANT


def run(program, **arguments):
    """Run a program with a time limit."""
    start = "import os, signal, sys, threading, time\nimport numpy as np, eccbench\n"
    # Shells disable this signal in background processes.
    start += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    return subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", start + textwrap.dedent(program)], timeout=120, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **arguments)


@pytest.mark.parametrize("method", [m for m in ("fork", "spawn", "forkserver") if m in multiprocessing.get_all_start_methods()])
def test_multiprocessing(method):
    """A pool works after the library was loaded and called in the parent."""
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(right, range(8)).get(100) == [True] * 8


@posix
@pytest.mark.parametrize("before", ["", "eccbench.curve(a)"])
def test_fork(before):
    """Children and grandchildren of a process can call the library, whether the process has called it or not."""
    done = run(f"""
        a = np.arange(60.).reshape(3, 4, 5)
        {before}
        def child(depth):
            pid = os.fork()
            if pid == 0:
                assert eccbench.curve(a).chi.tolist() == [1]
                if depth > 1:
                    child(depth - 1)
                os._exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        for _ in range(3):
            child(3)
        assert eccbench.curve(a).chi.tolist() == [1]
        print("ok")
    """)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr


@posix
@pytest.mark.skipif(
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    reason="a child waits for locks of objects that other threads had",
)
def test_fork_while_computing():
    """A process can fork while its threads are in the library."""
    done = run("""
        a = np.random.default_rng(0).random((50, 60, 70), np.float32)
        want = eccbench.curve(a).chi.tolist()
        stop, wrong = threading.Event(), []
        def work():
            while not stop.is_set():
                if eccbench.curve(a).chi.tolist() != want:
                    wrong.append(1)
        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads: t.start()
        for _ in range(10):
            pid = os.fork()
            if pid == 0:
                os._exit(eccbench.curve(a).chi.tolist() != want)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        stop.set()
        for t in threads: t.join()
        print(len(wrong))
    """)
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr


def test_workers_that_feed_a_queue():
    """Worker processes answer until they are stopped, like those of a data loader."""
    context = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
    asked, answers = context.Queue(), context.Queue()
    workers = [context.Process(target=_answer, args=(asked, answers), daemon=True) for _ in range(2)]
    for w in workers:
        w.start()
    for i in range(20):
        asked.put(i)
    got = dict(answers.get(timeout=100) for _ in range(20))
    for _ in workers:
        asked.put(None)
    for w in workers:
        w.join(100)
    assert got == {i: eccbench.curve(SMALL + i).levels.tolist() for i in range(20)}
    assert [w.exitcode for w in workers] == [0, 0]


def _answer(asked, answers):
    for i in iter(asked.get, None):
        answers.put((i, eccbench.curve(SMALL + i, threads=1).levels.tolist()))


def test_threads():
    """32 threads call at the same time, including the first calls of a process."""
    done = run("""
        a = [np.random.default_rng(i).integers(0, 30, (9, 10, 11)).astype(d) for i, d in enumerate(["u1", "i2", "f4", "f8"] * 8)]
        ready, chi = threading.Barrier(32), {}
        def work(i):
            ready.wait()
            chi[i] = [eccbench.curve(a[i]).chi.tolist() for _ in range(20)]
        threads = [threading.Thread(target=work, args=(i,)) for i in range(32)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(all(chi[i] == [eccbench.curve(a[i]).chi.tolist()] * 20 for i in range(32)))
    """)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_others_run_meanwhile():
    """The interpreter's lock is free while the library counts."""
    done = run("""
        ticks, stop = [0], threading.Event()
        def tick():
            while not stop.is_set():
                ticks[0] += 1
                time.sleep(0.001)
        t = threading.Thread(target=tick)
        t.start()
        before = ticks[0]
        eccbench.curve("noise/shape=512x512x300/type=uint8/seed=1", threads=1)
        during = ticks[0] - before
        stop.set()
        print(during > 20)
    """)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


LONG = {
    "array": "np.zeros((2000, 1000, 1000), np.uint8)",
    "ranked": "np.random.default_rng(0).random((200, 200, 200))",
    "input": "'noise/shape=4096x4096x4096/type=uint8/seed=1'",
}


@posix
@pytest.mark.parametrize("image", LONG)
def test_interrupt(image):
    """Ctrl-C ends a long call soon; the interpreter and the library continue."""
    done = run(f"""
        image = {LONG[image]}
        small = np.arange(12.).reshape(3, 4)
        eccbench.curve(small)
        due = [0.0]
        def press(*_):
            due[0] = time.monotonic()
            raise KeyboardInterrupt
        signal.signal(signal.SIGINT, press)
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        sent = time.monotonic() + 0.3
        try:
            while True:
                eccbench.curve(image, threads=1)
        except KeyboardInterrupt:
            took = time.monotonic() - due[0]
        del image
        print(eccbench.curve(small).chi.tolist(), took < 5)
        for _ in range(600):
            eccbench.curve(small)
            if not eccbench._library._state.left: break
            time.sleep(0.1)
        print(len(eccbench._library._state.left))
    """)
    assert (done.returncode, done.stdout) == (0, "[1] True\n0\n"), done.stderr


@posix
@pytest.mark.parametrize("end", ["sys.exit(3)", "raise SystemExit(3)", "os.kill(os.getpid(), signal.SIGINT); time.sleep(9)"])
def test_exit_during_a_call(end):
    """The interpreter ends while a thread is in the library, or after a job was abandoned there."""
    done = run(f"""
        a = np.zeros((1000, 1000, 1000), np.uint8)
        def work():
            while True: eccbench.curve(a, threads=1)
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)
        signal.signal(signal.SIGALRM, lambda *_: sys.exit(3))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            while True: eccbench.curve(a, threads=1)
        except SystemExit:
            pass
        {end}
    """)
    assert done.returncode in (3, -signal.SIGINT, 130), done.stderr
    assert "fatal" not in done.stderr and "panic" not in done.stderr


@posix
def test_crash_shows_where_python_was():
    """faulthandler still reports a crash of other code."""
    done = run("""
        import ctypes, faulthandler
        eccbench.curve(np.zeros((2, 2)))
        faulthandler.enable()
        ctypes.string_at(0)
    """)
    assert done.returncode == -signal.SIGSEGV and "Current thread" in done.stderr


@linux
def test_no_memory_is_lost():
    done = run("""
        def rss():
            return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE") >> 20
        a = np.random.default_rng(0).random((25, 25, 25))
        for _ in range(50): eccbench.curve(a)
        before = rss()
        for _ in range(300): eccbench.curve(a)
        print(rss() - before < 60, rss() - before)
    """)
    assert done.returncode == 0 and done.stdout.startswith("True"), (done.stdout, done.stderr)


def test_not_loaded_by_import():
    done = run("print(eccbench._library._state.loaded)")
    assert done.stdout == "None\n", done.stderr


def test_imports():
    """Importing the package imports little: slow modules are imported on demand."""
    done = run("""
        import sys
        print(*sorted({m.partition(".")[0] for m in sys.modules} & {"html", "xml", "email", "importlib.metadata", "torch", "dask", "pandas", "scipy", "sklearn"}))
        print("numpy.typing" in sys.modules, "eccbench.cuda" in sys.modules)
    """)
    assert done.stdout.splitlines() == ["", "False False"], done.stderr
