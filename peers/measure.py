#!/usr/bin/env python3
"""Asks peers the questions of the report card, reports/peers.md, and records their verdicts, or their times.

Records of a run that was interrupted are continued. The card is made from them: make reports.
"""
import argparse
import subprocess
import sys

IMAGES = """
constant/shape=1x1/type=uint8 noise/shape=37x1/type=uint8/seed=2 noise/shape=1x1x31/type=uint8/levels=4/seed=3
noise/shape=7x5x3/type=uint8/seed=6 noise/shape=13x17/type=float32/seed=6 checkerboard/shape=9x9/type=uint8
noise/shape=12x11x10/type=float32/levels=64/lo=0/step=2e-45/seed=12 between/shape=43x11x7/levels=200/seed=20
""".split()
BINARY = ["betti/at=0/of=checkerboard/shape=1x1x9/type=uint8"] + [f"betti/at=-1/of={image}" for image in IMAGES]
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
    "betti-curves": IMAGES, "eigenmap": GRAPHS, "softecc": [],
}

# Our implementation in the tables of times, where it is not duality, and four sizes in 2D and in 3D.
OURS = {"ecc": "extrema", "ecc-v": "extrema", "eigenmap": "multigrid", "softecc": "binned"}
SIZES = {"2": "256,512,1024,2048", "3": "32,64,128,256"}
SMALLER = {"eigenmap": {"2": "32,64,128,256", "3": "8,16,32,64"}}
LIMITS = {"eigenmap": "15m"}  # with proofs, on one busy core


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("eccbench")
    parser.add_argument("records")
    parser.add_argument("folder", nargs="?", default="peers/bin", help="of make.py (default peers/bin)")
    parser.add_argument("--full", action="store_true", help="all adversarial inputs instead of a few")
    parser.add_argument("--speed", action="store_true", help="times at four sizes in 2D and in 3D instead of verdicts")
    parser.add_argument("--dim", choices=SIZES, help="with --speed: only sizes in 2D or in 3D")
    parser.add_argument("--questions", default=",".join(QUESTIONS), help="a comma-separated list (default all)")
    args = parser.parse_args()
    failed = []
    for question in args.questions.split(","):
        jobs = [["verify", "--impl", "peer:*", "--time-limit", "20s"]]
        jobs[0] += [f"--input={name}" for name in QUESTIONS[question] if not args.full]
        if args.speed:
            jobs = [["run", "--impl", "peer:*," + OURS.get(question, "duality"), "--gen", "grf", "--type", "uint8",
                     "--dim", dim, "--sizes", SMALLER.get(question, SIZES)[dim], "--max-time", "1s",
                     "--time-limit", LIMITS.get(question, "30s")] for dim in args.dim or SIZES]
        for job in jobs:
            job += ["--peers", args.folder, "--workload", question, "--threads", "1", "--quiet", "--admit=false",
                    "--out", args.records, "--resume"]
            done = subprocess.run([args.eccbench, *job], stdout=subprocess.DEVNULL)
            if done.returncode not in (0, 11, 12):
                failed.append(f"{question}: exit code {done.returncode}")
    sys.exit("\n".join(failed))


main()
