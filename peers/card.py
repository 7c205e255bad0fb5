#!/usr/bin/env python3
"""Prints the report card of peers, reports/peers.md: which answers of theirs eccbench verifies.

    card.py ECCBENCH [FOLDER] > reports/peers.md     FOLDER of make.py, default bin beside this file
    card.py --full ECCBENCH [FOLDER]                 all adversarial inputs instead of the few below
"""
import re
import subprocess
import sys
from pathlib import Path

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
HEAD = """# Peers

Results of other people's programs on our questions. Each program is a peer: an adapter in `peers/adapters` passes the
question to one library, and declares its convention and version. An answer is VERIFIED if an independent witness
confirms it, and WRONG if one contradicts it. It is SKIPPED if the adapter does not claim such images or the library
rejects them. No library is a witness of another.

To repeat it, or to try another version: `make build peers && peers/card.py bin/eccbench > reports/peers.md`.
To contest a row, run the line that reproduces it; `--keep-failing DIR` saves the image. If the adapter calls the
library wrongly, change the adapter. If the answer is right by the
[definition of the question](../doc/conventions.md), report the image with your answer as a fault of `eccbench`.
"""


def folded(text):
    """The table without the number of witnesses, for which a busy machine has less time, and the first failure of each
    peer with how many more there are like it."""
    table, *rest = text.strip().split("\n\npeer:")
    table = re.sub(r"^((?:\|[^|]*){2})\|[^|]*", r"\1", table, flags=re.M)
    kept, more = [], {}
    for block in rest:
        peer, status = re.match(r"(\S+?)(?:,.*?)? ?\S*: (WRONG|CRASHED|TIMEOUT|SKIPPED|UNVERIFIED)", block).group(1, 2)
        if status == "SKIPPED":
            continue
        key = peer, status
        of = re.search(r" \((\d+) inputs\)$", block.splitlines()[0])
        if key not in more:
            kept.append((key, "peer:" + (block.replace(of.group(), "", 1) if of else block)))
        more[key] = more.get(key, 0) + (int(of.group(1)) if of else 1)
    lines = [table.strip(), ""]
    for key, block in kept:
        first, *others = block.splitlines()
        again = f" (and {more[key] - 1} more)" if more[key] > 1 else ""
        lines += ["- " + first.strip() + again] + [f"  `{o.strip()}`" for o in others if o.strip().startswith("reproduce:")]
    return "\n".join(lines).strip()


def main(args):
    full = "--full" in args
    args = [a for a in args if a != "--full"]
    folder = args[1] if len(args) > 1 else str(Path(__file__).resolve().parent / "bin")
    peers = ["--peers", folder, "--impl", "peer:*", "--threads", "1"]
    print(HEAD)
    for question, inputs in QUESTIONS.items():
        command = [args[0], "verify", "--workload", question, "--format", "md", "--time-limit", "5s", "--quiet"]
        command += ["--admit=false"] + peers
        for name in [] if full else inputs:
            command += ["--input", name]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 11, 12):
            sys.exit(f"{question}: {done.stderr}")
        print(f"## {question}\n\n{folded(done.stdout)}\n".replace(folder + "/", "peers/bin/"), flush=True)


main(sys.argv[1:])
