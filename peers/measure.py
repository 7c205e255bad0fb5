#!/usr/bin/env python3
"""Asks peers the questions of the report card, reports/peers.md, and records their verdicts.

    measure.py ECCBENCH RECORDS [FOLDER]     FOLDER of make.py, default peers/bin
    measure.py --full ...                    all adversarial inputs instead of the few below

Records of a run that was interrupted are continued. The card is made from them: make reports.
"""
import subprocess
import sys

IMAGES = """
constant/shape=1x1/type=uint8 noise/shape=37x1/type=uint8/seed=2 noise/shape=1x1x31/type=uint8/levels=4/seed=3
noise/shape=7x5x3/type=uint8/seed=6 noise/shape=13x17/type=float32/seed=6 checkerboard/shape=9x9/type=uint8
noise/shape=12x11x10/type=float32/levels=64/lo=0/step=2e-45/seed=12 between/shape=43x11x7/levels=200/seed=20
""".split()
BINARY = [f"betti/at={at}/of={image}" for at, image in [(0, "checkerboard/shape=1x1x9/type=uint8")] + [(-1, i) for i in IMAGES]]
GRAPHS = [f"eigenmap/{question}/of={image}" for question, image in [
    ("k=4/tol=1e-6/sigma=0.1/floor=0.001/corners=0/plain=0", "constant/shape=32x32/type=uint8"),
    ("k=4/tol=1e-8/sigma=0.1/floor=0.001/corners=0/plain=0", "noise/shape=17x13/type=uint8/seed=5"),
    ("k=4/tol=1e-6/sigma=0.1/floor=0.001/corners=0/plain=1", "checkerboard/shape=24x18/type=uint8"),
    ("k=2/tol=1e-8/sigma=0.1/floor=0.001/corners=0/plain=1", "ball/shape=20x17x12/type=uint8"),
    ("k=4/tol=1e-6/sigma=0.1/floor=0.001/corners=0/plain=0/radius=5",
     "grf/shape=47x38/type=float32/levels=1024/smooth=2/seed=3"),
]]
QUESTIONS = {
    "ecc": IMAGES, "ecc-v": [i for i in IMAGES if not i.startswith("between/")],
    "betti": BINARY, "betti-v": BINARY, "euler": BINARY, "components": BINARY,
    "betti-curves": IMAGES, "eigenmap": GRAPHS,
}


def main(args):
    full = "--full" in args
    eccbench, records, *folder = [a for a in args if a != "--full"]
    command = [eccbench, "verify", "--peers", *(folder or ["peers/bin"]), "--impl", "peer:*", "--threads", "1", "--quiet",
               "--admit=false", "--time-limit", "20s", "--out", records, "--resume", "--workload"]
    for question, inputs in QUESTIONS.items():
        given = [] if full else [f"--input={name}" for name in inputs]
        done = subprocess.run([*command, question, *given], stdout=subprocess.DEVNULL)
        if done.returncode not in (0, 11, 12):
            sys.exit(f"{question}: exit code {done.returncode}")


main(sys.argv[1:])
