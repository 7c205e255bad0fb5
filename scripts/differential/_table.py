"""Print the table and the explained differences of reports/differential.md from the output of runs.

    python -m differential._table LOG ...
"""

import collections
import re
import sys
import textwrap
from pathlib import Path

TITLES = {
    "bmp": ("BMP", "Pillow"),
    "dicom": ("DICOM", "pydicom"),
    "fits": ("FITS", "Astropy"),
    "mesh": ("Meshes", "trimesh, meshio"),
    "metaimage": ("MetaImage", "SimpleITK"),
    "mrc": ("MRC", "mrcfile"),
    "nifti": ("NIfTI", "nibabel"),
    "npy": ("NumPy npy", "NumPy"),
    "npz": ("NumPy npz", "NumPy"),
    "nrrd": ("NRRD", "pynrrd, SimpleITK"),
    "png": ("PNG", "Pillow"),
    "tiff": ("TIFF", "tifffile"),
    "zarr": ("Zarr", "zarr-python"),
}
HEADER = ["format", "reference", "files", "same voxels", "both reject", "explained", "unexplained"]
AGREED = ("same voxels", "both reject", "UNEXPLAINED")


def runs(paths):
    """Return the number of files of each outcome by format, summed over its runs."""
    found = {}
    for path in paths:
        for name, counts in re.findall(r"^(\w+): \d+ files\n((?: +\d+  .*\n)+)", Path(path).read_text(), re.M):
            outcomes = found.setdefault(name, collections.Counter())
            for n, outcome in re.findall(r"^ +(\d+)  (.*)$", counts, re.M):
                outcomes[outcome] += int(n)
    return found


def main():
    found = runs(sys.argv[1:])
    print(f"| {' | '.join(HEADER)} |\n{'|---' * len(HEADER)}|")
    lists = []
    for name, counts in sorted(found.items()):
        title, library = TITLES[name]
        explained = [f"{outcome} ({n})" for outcome, n in counts.most_common() if outcome not in AGREED]
        same, reject, unexplained = (counts.get(outcome, 0) for outcome in AGREED)
        total = sum(counts.values())
        page = "npy" if name == "npz" else name
        rest = total - same - reject - unexplained
        link = f"[{title}](../doc/formats/{page}.md)"
        print(f"| {link} | {library} | {total} | {same} | {reject} | {rest} | {unexplained} |")
        text = f"- **{title}**: {'; '.join(explained)}."
        lists.append(textwrap.fill(text, 100, subsequent_indent="  ", break_on_hyphens=False))
    print("\nThe explained differences, with the number of files of this run:\n", *lists, sep="\n")


main()
