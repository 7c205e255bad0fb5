#!/usr/bin/env python3
"""Draws the pictures of the manual into doc/pictures. Needs NumPy, Pillow and Debian's mricron-data.

    scripts/pictures.py ECCBENCH

ECCBENCH is the built command. All numbers come from its output.
"""

import csv
import gzip
import io
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image, ImageDraw

BRAIN = "/usr/share/mricron/templates/ch2.nii.gz"
FOLDER = pathlib.Path(__file__).parents[1] / "doc/pictures"
INK, BLUE, ORANGE, GREY = (40, 40, 40), (31, 119, 180), (230, 120, 20), (150, 150, 150)


def eccbench(*args):
    """Standard output of the command."""
    return subprocess.run([sys.argv[1], *args, "-q"], check=True, capture_output=True, text=True).stdout


def rows(text):
    """The rows of a CSV table, without its comment and header, as integers."""
    lines = [line for line in csv.reader(io.StringIO(text)) if not line[0].startswith("#")]
    return np.array([[float(v) for v in line] for line in lines[1:]])


def save(image, name):
    image.quantize(64).save(FOLDER / name, optimize=True)


def beside(panels, gap=6):
    """Grey or colour arrays in a row on white."""
    panels = [p if p.ndim == 3 else np.repeat(p[..., None], 3, 2) for p in panels]
    height = max(p.shape[0] for p in panels)
    out = np.full((height, sum(p.shape[1] + gap for p in panels) - gap, 3), 255, np.uint8)
    x = 0
    for p in panels:
        out[: p.shape[0], x : x + p.shape[1]] = p
        x += p.shape[1] + gap
    return Image.fromarray(out)


def enlarged(labels, colours, by):
    """Labels as squares of by pixels with grid lines."""
    picture = np.array(colours, np.uint8)[labels].repeat(by, 0).repeat(by, 1)
    picture[::by], picture[:, ::by] = 225, 225
    return picture


def lines(series, size=(560, 300), labels=()):
    """Curves of (x, y) arrays in different colours."""
    picture = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(picture)
    xs, ys = (np.concatenate([s[k] for s in series]) for k in (0, 1))
    scale = lambda v, all, a, b: a + (v - all.min()) / (all.max() - all.min()) * (b - a)
    zero = scale(0, ys, size[1] - 15, 15)
    draw.line([(10, zero), (size[0] - 10, zero)], fill=(200, 200, 200))
    for (x, y), colour in zip(series, (INK, BLUE, ORANGE, GREY)):
        points = zip(scale(x, xs, 10, size[0] - 10), scale(y, ys, size[1] - 15, 15))
        draw.line(list(points), fill=colour, width=2)
    for i, (text, colour) in enumerate(zip(labels, (INK, BLUE, ORANGE, GREY))):
        draw.text((20, 15 + 14 * i), text, fill=colour)
    return picture


def brain():
    with gzip.open(BRAIN) as f:
        data = f.read()
    volume = np.frombuffer(data, np.uint8, 181 * 217 * 181, 352).reshape(181, 217, 181)
    grey = volume[90, ::-1]
    sets = [np.where(grey <= level, 60, 235).astype(np.uint8) for level in (40, 100)]
    save(beside([grey, *sets]), "ch2.png")
    eccbench("curve", BRAIN, "--plot", str(FOLDER / "ch2-curve.svg"))
    eccbench("betti", BRAIN, "--plot", str(FOLDER / "ch2-betti.svg"))


def connectivity():
    masks = (["#..#", "#..#", "#..#", "#..#"], ["#..#", "##.#", "#.##", "#..#"], ["#..#", "#..#", ".#.#", ".#.#"])
    labels = [np.array([[c == "#" for c in row] for row in mask]).astype(int) for mask in masks]
    panels = [enlarged(label, [(255,) * 3, BLUE], 32) for label in labels]
    save(beside(panels, 30), "connectivity.png")


def features():
    inputs = [f"{kind}/shape=96x96/type=uint8{more}/seed={seed}" for kind, more in
              (("noise", ""), ("grf", "/smooth=2"), ("grf", "/smooth=5")) for seed in range(1, 21)]
    at = ",".join(str(v) for v in range(0, 256, 5))
    table = np.array([rows(eccbench("curve", name, "--at", at))[:, -1] for name in inputs])
    table = np.sign(table) * np.log1p(np.abs(table))
    shade = np.uint8(255 * (table - table.min()) / (table.max() - table.min()))
    save(Image.fromarray(np.stack([shade, shade // 2 + 60, 255 - shade], 2).repeat(6, 0).repeat(10, 1)), "features.png")


def soft():
    name = "grf/shape=96x96/type=uint8/levels=256/smooth=3/seed=1"
    level, change, chi = rows(eccbench("curve", name, "--all")).T
    tau = np.linspace(level[0], level[-1], 400)
    curves = [(level, chi)]
    for steepness in (100, 30, 10):
        z = np.clip(steepness / (level[-1] - level[0]) * (tau[:, None] - level), -60, 60)
        curves.append((tau, (change / (1 + np.exp(-z))).sum(1)))
    save(lines(curves, labels=["exact", "soft, λ·range = 100".replace("λ", "lambda"), "30", "10"]), "soft.png")


def assess():
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: str(pathlib.Path(folder, name))
        y, x = np.mgrid[:40, :56]
        radius = np.hypot(x - 18, y - 20)
        truth = ((radius < 14) & (radius > 8)) | ((abs(y - 20) < 4) & (x > 28) & (x < 52))
        pred = truth.copy()
        pred[18:23, 38:41], pred[5:8, 44:47], pred[19, 14:20] = False, True, True
        pred[8:12, 17:19] = False
        np.save(path("truth.npy"), truth.astype(np.uint8))
        np.save(path("pred.npy"), pred.astype(np.uint8))
        eccbench("assess", path("pred.npy"), path("truth.npy"), "--connectivity", "8", "--map", path("chi.npy"))
        chi = np.load(path("chi.npy")).reshape(-1, *truth.shape)[-1]
    binary = [(255,) * 3, BLUE]
    change = np.where(chi > 0, 1, np.where(chi < 0, 2, 0))
    panels = [enlarged(truth.astype(int), binary, 5), enlarged(pred.astype(int), binary, 5),
              enlarged(np.where(change, change, np.where(truth, 3, 0)),
                       [(255,) * 3, ORANGE, (200, 30, 30), (215, 228, 240)], 5)]
    save(beside(panels, 16), "assess.png")


def shards():
    parts = []
    for i in range(4):
        y = 20 + 45 * i
        parts.append(f'<rect x="40" y="{y}" width="220" height="{50 if i < 3 else 45}" stroke="#555" '
                     f'fill="{("#cfe2f3", "#f9e0c7")[i % 2]}"/>'
                     f'<text x="272" y="{y + 27}">shard {i + 1}/4 → {i + 1}-of-4.part</text>')
        if i:
            parts.append(f'<rect x="40" y="{y}" width="220" height="5" fill="#d62728"/>')
    parts.append('<text x="40" y="222" fill="#d62728">shared slices: read by both neighbours, counted once</text>')
    (FOLDER / "shards.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="460" height="235" font-family="sans-serif" font-size="13">'
        '<rect width="460" height="235" fill="white"/>' + "".join(parts) + "</svg>\n")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for draw in (brain, connectivity, features, soft, assess, shards):
        draw()
