"""Meshes against trimesh (OFF, STL) and meshio (PLY, OBJ, VTK, VTU, Gmsh, TetGen).

The reference gives cells. They are made simplices here by the rule of doc/formats/mesh.md, and the
maximal simplices are compared by their coordinates. No reference reads VTK's POLYDATA and .vtp, nor
lines and points of OBJ: there the mesh that was written is the reference, kept beside the file.
"""

import atexit
import base64
import contextlib
import functools
import io
import json
import re
import signal
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

import meshio
import numpy as np
import trimesh.exchange.off
import trimesh.exchange.stl

from . import Rejected

ROOT = Path(__file__).parents[2]
# Cells by their names in meshio: the number of corners, and the types in VTK and Gmsh.
CELLS = {
    "vertex": (1, 1, 15), "line": (2, 3, 1), "triangle": (3, 5, 2), "quad": (4, 9, 3), "tetra": (4, 10, 4), "hexahedron": (8, 12, 5),
    "wedge": (6, 13, 6), "pyramid": (5, 14, 7), "line3": (3, 21, 8), "triangle6": (6, 22, 9), "quad8": (8, 23, 16), "tetra10": (10, 24, 11),
}
CORNERS = {"line3": 2, "triangle6": 3, "quad8": 4, "tetra10": 4}
FLAT = ["vertex", "line", "triangle", "quad"]


def simplices(points, cells):
    """The maximal simplices of cells, by coordinates in units of 1e-4."""
    points, middles, found = [tuple(map(float, p)) + (0.0,) * (3 - len(p)) for p in points], {}, set()

    def middle(key, of):
        if key not in middles:
            middles[key] = len(points)
            points.append(tuple(sum(points[v][k] / len(of) for v in of) for k in range(3)))
        return middles[key]

    def ring(v, *apex):
        if len(v) <= 3:
            return found.add(frozenset([*v, *apex]))
        turns = [tuple(w[i:] + w[:i]) for w in (list(v), list(v)[::-1]) for i in range(len(v))]
        m = middle(min(turns), v)
        for i in range(len(v)):
            found.add(frozenset([v[i], v[(i + 1) % len(v)], m, *apex]))

    def prism(v):
        n = len(v) // 2
        return [v[:n], v[n:], *([v[i], v[(i + 1) % n], v[n + (i + 1) % n], v[n + i]] for i in range(n))]

    for kind, v in cells:
        v = [int(i) for i in v][: CORNERS.get(kind)]
        if len(set(v)) < len(v) or any(not 0 <= i < len(points) for i in v):
            raise Rejected("a cell with a vertex twice, or that is not there")
        if kind in ("hexahedron", "wedge", "pyramid"):
            faces = prism(v) if kind != "pyramid" else [v[:4], *([v[i], v[(i + 1) % 4], v[4]] for i in range(4))]
            centre = middle(("cell", *sorted(v)), v)
            for f in faces:
                ring(f, centre)
        elif kind.startswith("tetra"):
            found.add(frozenset(v))
        else:
            ring(v)
    proper = {s - {v} for s in found for v in s}
    for _ in range(3):
        proper |= {s - {v} for s in proper if len(s) > 1 for v in s}
    names = [" ".join(f"{np.round(x * 1e4) + 0:.0f}" for x in p) for p in points]
    return np.array(sorted({",".join(sorted(names[v] for v in s)) for s in found - proper}), dtype=str)


@functools.cache
def reader():
    """The process that reads by eccbench."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    program = Path(folder.name, "meshes")
    subprocess.run(["go", "build", "-o", program, "./scripts/differential/meshes"], cwd=ROOT, check=True)
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", errors="backslashreplace")
    atexit.register(process.kill)
    return process


def read(opened):
    process = reader()
    process.stdin.write(opened + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"the reader ended at {opened}")
    if line.startswith("!"):
        return Rejected(line[1:-1])
    return np.array([s for s in line[:-1].split(";") if s], dtype=str)


# The files: written.json next to each file has its points and cells, its fault, and whether a library reads its kind.

wrote = {}


def drawn(rng, kinds, least=0):
    """Distinct points, and cells of the kinds."""
    n = int(rng.integers(10, 21))
    points = rng.permutation(4096)[:n]
    points = np.stack([points // 256, points // 16 % 16, points % 16], 1) - 8.0
    cells = []
    for _ in range(int(rng.integers(least, 9))):
        kind = str(rng.choice(kinds))
        k = int(rng.integers(5, 8)) if kind == "polygon" else CELLS[kind][0]
        cells.append((kind, [int(v) for v in rng.permutation(n)[:k]]))
    if cells and rng.integers(3) == 0:  # a cell twice, from another vertex on
        kind, v = cells[0]
        cells.append((kind, v[1:] + v[:1] if kind in ("quad", "polygon", "triangle") else v))
    wrote.update(points=points.tolist(), cells=cells, wrong="", library=True)
    return points, cells


def off(rng, folder):
    points, cells = drawn(rng, ["triangle", "quad", "polygon"])
    kind = str(rng.choice(["OFF", "OFF", "OFF", "COFF", "NOFF", "CNOFF", "STOFF", "4OFF", "nOFF"]))
    wrote["wrong"] = "dimension" if kind in ("4OFF", "nOFF") else ""
    extra = " 1" * {"C": 4, "N": 3, "S": 2}.get(kind[0], 0)
    counts = f"{len(points)} {len(cells) + miscount(rng)} 0"
    lines = [kind + str(rng.choice(["\n", " ", "", "\n# note\n\n"])) + counts]
    lines += [" ".join(map(number(rng), p)) + extra for p in points]
    lines += [f"{len(v)} {' '.join(map(str, v))}" + str(rng.choice(["", "  ", " 255 0 0"])) for _, v in cells]
    return write(rng, folder / "mesh.off", lines, "#")


def stl(rng, folder):
    points, cells = drawn(rng, ["triangle"], 1)
    triangles = [[points[i] for i in v] for _, v in cells]
    if rng.integers(4) == 0:
        triangles[0][1] = triangles[0][0]  # a triangle that is an edge
        cells[0] = ("line", cells[0][1][::2])
    if rng.integers(2):
        head = b"solid binary".ljust(80) if rng.integers(2) else rng.bytes(80)
        data = head + struct.pack("<I", max(0, len(triangles) + miscount(rng)))
        for t in triangles:
            data += struct.pack("<12fH", 0, 0, 1, *np.ravel(t), int(rng.integers(65536)))
        return write(rng, folder / "mesh.stl", data)
    lines = ["solid name"]
    for i, t in enumerate(triangles):
        if i and rng.integers(6) == 0:
            lines += ["endsolid", "solid"]
        lines += ["facet normal 0 0 1", " outer loop"]
        lines += ["  vertex " + " ".join(map(number(rng), p)) for p in t] + [" endloop", "endfacet"]
    lines = [*lines, "endsolid name"]
    return write(rng, folder / "mesh.stl", [x.upper() for x in lines] if rng.integers(4) == 0 else lines)


def obj(rng, folder):
    odd = rng.integers(2) == 0  # what meshio does not read
    points, cells = drawn(rng, ["triangle", "quad", "polygon"] + ["line", "vertex"] * int(odd))
    lines, later = ["mtllib a.mtl", "o thing"], [f"v {' '.join(map(number(rng), p))}" + " 1" * int(odd) for p in points]
    half = int(rng.integers(len(points))) if odd else len(points)
    lines, later = lines + later[:half], later[half:]
    form = str(rng.choice(["{0}", "{0}/1", "{0}//1", "{0}/1/1"]))
    end = []
    for kind, v in cells:
        far = max(v) >= half
        relative = odd and not far and rng.integers(2)
        words = [form.format(i - half if relative else i + 1) for i in v]
        letter = {"line": "l", "vertex": "p"}.get(kind, "f")
        (end if far and rng.integers(2) else lines).append(str(rng.choice([" ", " \\\n  ", " \\\r\n"]) if odd else " ").join([letter, *words]))
    lines += [*later, *end, *["vn 0 0 1", "vt 0 0"] * len(points), "s off", "usemtl x"]
    if rng.integers(12) == 0:
        lines.append("cstype bezier")
        wrote["wrong"] = "surface"
    wrote["library"] = not odd
    return write(rng, folder / "mesh.obj", lines, "#")


TYPES = {"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4", "double": "f8"}


def ply(rng, folder):
    points, cells = drawn(rng, ["triangle", "quad", "polygon"])
    form = str(rng.choice(["ascii", "binary_little_endian", "binary_big_endian"]))
    order = ">" if form.endswith("big_endian") else "<"
    point, index = str(rng.choice(["float", "double", "char", "short", "int"])), str(rng.choice(["uchar", "int", "uint", "short"]))
    head = ["ply", f"format {form} 1.0", "comment a mesh", f"element vertex {len(points)}", *(f"property {point} {x}" for x in "xyz")]
    head += ["property uchar red"] + [f"element face {max(0, len(cells) + miscount(rng))}", f"property list uchar {index} vertex_indices", "end_header"]
    if form == "ascii":
        lines = head + [" ".join(map(number(rng, not point.startswith(("f", "d"))), p)) + " 7" for p in points]
        return write(rng, folder / "mesh.ply", lines + [f"{len(v)} {' '.join(map(str, v))}" for _, v in cells])
    data = "\n".join([*head, ""]).encode()
    for p in points:
        data += p.astype(order + TYPES[point]).tobytes() + b"\7"
    for _, v in cells:
        data += bytes([len(v)]) + np.array(v, order + TYPES[index]).tobytes()
    return write(rng, folder / "mesh.ply", data)


def gmsh(rng, folder):
    points, cells = drawn(rng, list(CELLS), 1)
    cells = [c for kind in CELLS for c in cells if c[0] == kind]
    ids = [int(i) + 1 for i in (np.arange(len(points)) if rng.integers(2) else np.arange(len(points)) * 3)]
    wrong = miscount(rng)
    word = number(rng)
    if rng.integers(2):
        lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", str(len(ids))]
        lines += [f"{i} {' '.join(map(word, p))}" for i, p in zip(ids, points)]
        lines += ["$EndNodes", "$Elements", str(len(cells) + wrong)]
        lines += [f"{k + 1} {CELLS[kind][2]} 2 1 1 {' '.join(str(ids[i]) for i in v)}" for k, (kind, v) in enumerate(cells)]
    else:
        lines = ["$MeshFormat", "4.1 0 8", "$EndMeshFormat", "$Nodes", f"1 {len(ids)} 1 {ids[-1]}", f"3 1 0 {len(ids)}", *map(str, ids)]
        lines += [" ".join(map(word, p)) for p in points]
        blocks = [(kind, [v for k, v in cells if k == kind]) for kind in dict(cells)]
        lines += ["$EndNodes", "$Elements", f"{len(blocks)} {len(cells) + wrong} 1 {len(cells)}"]
        for kind, of in blocks:
            lines.append(f"3 1 {CELLS[kind][2]} {len(of)}")
            lines += [f"{k + 1} {' '.join(str(ids[i]) for i in v)}" for k, v in enumerate(of)]
    return write(rng, folder / "mesh.msh", [*lines, "$EndElements"])


def tetgen(rng, folder):
    points, cells = drawn(rng, ["tetra"], 1)
    base = int(rng.integers(2))
    nodes = [f"{len(points)} 3 0 0", *(f"{i + base} {' '.join(map(number(rng), p))}" for i, p in enumerate(points))]
    write(rng, folder / "mesh.node", nodes, damage=False)
    lines = [f"{len(cells) + miscount(rng)} 4 0", *(f"{k + base} {' '.join(str(i + base) for i in v)}" for k, (_, v) in enumerate(cells))]
    return write(rng, folder / "mesh.ele", lines)


def vtk(rng, folder):
    """Legacy files of version 3 and 5.1, as text and bytes."""
    polydata, version = rng.integers(3) == 0, str(rng.choice(["3.0", "4.2", "5.1"]))
    points, cells = drawn(rng, [*FLAT, "polygon"] if polydata else [k for k in CELLS], 1)
    binary, data = bool(rng.integers(2)), b""
    kind = str(rng.choice(["float", "double", "int", "short"]))
    word = number(rng, kind in ("int", "short"))

    def put(head, numbers, dtype):
        nonlocal data
        data += head.encode() + b"\n"
        if binary:
            data += np.asarray(numbers).astype(dtype).tobytes() + b"\n"
        else:
            rows = np.asarray(numbers).ravel().tolist()
            data += " ".join(word(x) if head.startswith("POINTS") else str(int(x)) for x in rows).encode() + b"\n"

    def lists(name, of):
        nonlocal data
        ends = np.cumsum([0] + [len(v) for v in of])
        flat = [i for v in of for i in v]
        if version == "5.1":
            data += f"{name} {len(ends)} {len(flat)}\n".encode()
            wide = rng.integers(2)
            put("OFFSETS vtktypeint64" if wide else "OFFSETS int", ends, ">i8" if wide else ">i4")
            put("CONNECTIVITY vtktypeint64", flat, ">i8")
        else:
            put(f"{name} {len(of) + miscount(rng)} {len(flat) + len(of)}", [i for v in of for i in (len(v), *v)], ">i4")

    put(f"# vtk DataFile Version {version}\na mesh\n{'BINARY' if binary else 'ASCII'}\nDATASET {'POLYDATA' if polydata else 'UNSTRUCTURED_GRID'}\n"
        f"POINTS {len(points)} {kind}", points, {"float": ">f4", "double": ">f8", "int": ">i4", "short": ">i2"}[kind])
    if rng.integers(4) == 0 and version == "5.1":
        data += b"METADATA\nINFORMATION 0\n\n"
    if polydata:
        for name, kinds in (("VERTICES", ["vertex"]), ("LINES", ["line"]), ("POLYGONS", ["triangle", "quad", "polygon"])):
            of = [v for k, v in cells if k in kinds]
            if of:
                lists(name, of)
        wrote["library"] = False
    else:
        lists("CELLS", [v for _, v in cells])
        put(f"CELL_TYPES {len(cells)}", [CELLS[k][1] for k, _ in cells], ">i4")
    if rng.integers(2):
        put(f"CELL_DATA {len(cells)}\nSCALARS a int 1\nLOOKUP_TABLE default", np.arange(len(cells)), ">i4")
    return write(rng, folder / "mesh.vtk", data)


def vtkxml(rng, folder):
    """.vtu and .vtp files of all encodings."""
    polydata = rng.integers(3) == 0
    points, cells = drawn(rng, [*FLAT, "polygon"] if polydata else [k for k in CELLS], 1)
    order = str(rng.choice(["<", ">"]))
    header = str(rng.choice(["u4", "u8"]))
    zipped = bool(rng.integers(2))
    form = str(rng.choice(["ascii", "binary", "raw", "base64"]))
    appended = b""

    def block(values):
        plain, size = values.tobytes(), int(rng.choice([8, 24, 32768]))
        if not zipped:
            return np.array([len(plain)], order + header).tobytes(), plain
        blocks = [plain[i : i + size] for i in range(0, len(plain), size)]
        packed = [zlib.compress(b) for b in blocks]
        last = len(plain) % size
        sizes = [len(blocks), size, last, *map(len, packed)]
        return np.array(sizes, order + header).tobytes(), b"".join(packed)

    def array(name, values, types, extra=""):
        nonlocal appended
        dtype = np.dtype(order + str(rng.choice(types)))
        values = np.asarray(values).ravel().astype(dtype)
        of = {"i": "Int", "u": "UInt", "f": "Float"}[dtype.kind] + str(8 * dtype.itemsize)
        tag = f'<DataArray type="{of}" Name="{name}" {extra}'
        if form == "ascii":
            return f'{tag} format="ascii">\n{" ".join(map(str, values.tolist()))}\n</DataArray>'
        head, body = block(values)
        split = base64.b64encode(head) + base64.b64encode(body) if zipped or rng.integers(2) else base64.b64encode(head + body)
        if form == "binary":
            return f'{tag} format="binary">\n  {split.decode()}\n</DataArray>'
        tag = f'{tag} format="appended" offset="{len(appended)}"/>'
        appended += head + body if form == "raw" else split
        return tag

    def lists(of):
        return array("connectivity", [i for v in of for i in v], ["i4", "i8"]) + array("offsets", np.cumsum([len(v) for v in of]) if of else [], ["i4", "i8"])

    kind = "PolyData" if polydata else "UnstructuredGrid"
    counts, body = f'NumberOfPoints="{len(points)}"', f"<Points>{array('Points', points, ['f4', 'f8'], 'NumberOfComponents=' + chr(34) + '3' + chr(34))}</Points>"
    if polydata:
        for name, kinds in (("Verts", ["vertex"]), ("Lines", ["line"]), ("Strips", []), ("Polys", ["triangle", "quad", "polygon"])):
            of = [v for k, v in cells if k in kinds]
            counts += f' NumberOf{name}="{len(of)}"'
            body += f"<{name}>{lists(of)}</{name}>"
        wrote["library"] = False
    else:
        counts += f' NumberOfCells="{len(cells) + miscount(rng)}"'
        body += f"<Cells>{lists([v for _, v in cells])}{array('types', [CELLS[k][1] for k, _ in cells], ['u1', 'i4', 'i8'])}</Cells>"
    start = f'<?xml version="1.0"?>\n<VTKFile type="{kind}" version="1.0" byte_order="{"LittleEndian" if order == "<" else "BigEndian"}" header_type="UInt{8 * int(header[1])}"'
    if zipped and form != "ascii":
        start += ' compressor="vtkZLibDataCompressor"'
    data = f"{start}>\n<{kind}>\n<Piece {counts}>{body}</Piece>\n</{kind}>\n".encode()
    if form in ("raw", "base64"):
        data += f'<AppendedData encoding="{form}">\n_'.encode() + appended + b"\n</AppendedData>\n"
    return write(rng, folder / ("mesh.vtp" if polydata else "mesh.vtu"), data + b"</VTKFile>\n")


def number(rng, whole=False):
    """A way to write numbers."""
    if whole:
        return lambda x: str(int(x))
    return [lambda x: str(float(x)), lambda x: f"{x:e}", lambda x: f"{x:.3f}", lambda x: str(int(x))][int(rng.integers(4))]


def miscount(rng):
    """How many elements the header says too many, mostly none."""
    n = int(rng.choice([-1, 0, 1], p=[0.04, 0.92, 0.04]))
    if n:
        wrote["wrong"] = "count"
    return n


def write(rng, path, data, comment="", damage=True):
    """Write lines or bytes. A few files are cut or have something behind their end."""
    if isinstance(data, list):
        if comment and rng.integers(4) == 0:
            data.insert(int(rng.integers(1, len(data) + 1)), comment + " a comment")
        data = (str(rng.choice(["\n", "\n", "\r\n"])).join(data) + str(rng.choice(["\n", ""]))).encode()
    odd = int(rng.integers(30)) if damage else 9
    if odd < 2:
        data = data[: int(rng.integers(0, len(data)))]
    elif odd == 2:
        data += BEHIND
    if odd <= 2:
        wrote["wrong"] = "cut" if odd < 2 else "longer"
    (path.parent / "written.json").write_text(json.dumps(wrote))
    path.write_bytes(data)
    return str(path)


def generate(rng, folder):
    return [off, stl, obj, ply, gmsh, tetgen, vtk, vtkxml][int(rng.integers(8))](rng, folder)


# What the references read.


class Faces(list):
    """Faces of any length, where trimesh would cut them into triangles."""

    def min(self):
        return min((v for f in self for v in f), default=0)

    def max(self):
        return max((v for f in self for v in f), default=0)


trimesh.exchange.off.triangulate_quads = lambda faces: Faces([[int(v) for v in f] for f in faces])


def information(opened):
    return json.loads((Path(opened).parent / "written.json").read_text())


def late(*_):
    raise TimeoutError("the reference does not end")


signal.signal(signal.SIGALRM, late)


def reference(opened):
    path, written = Path(opened), information(opened)
    if not written["library"]:
        if written["wrong"]:
            raise Rejected(f"wrong: {written['wrong']}")
        return simplices(written["points"], written["cells"])
    signal.setitimer(signal.ITIMER_REAL, 2)  # meshio reads some files that are cut for ever
    try:
        if path.suffix == ".off":
            mesh = trimesh.exchange.off.load_off(io.BytesIO(path.read_bytes()))
            return simplices(mesh["vertices"], [("polygon", f) for f in mesh["faces"]])
        if path.suffix == ".stl":
            return soup(trimesh.exchange.stl.load_stl(io.BytesIO(path.read_bytes())))
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            mesh = meshio.read(opened)
        return simplices(mesh.points, [(block.type, v) for block in mesh.cells for v in block.data])
    except (Exception, SystemExit) as e:  # whatever a damaged file makes of them
        raise Rejected(f"{type(e).__name__}: {e}") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def soup(mesh):
    parts = mesh.get("geometry", {"": mesh} if "faces" in mesh else {}).values()
    ids, triangles = {}, []
    for part in parts:
        for f in np.asarray(part["faces"]):
            corners = [ids.setdefault(tuple(np.asarray(part["vertices"][v], float) + 0.0), len(ids)) for v in f]
            triangles.append(("polygon", list(dict.fromkeys(corners))))
    return simplices(list(ids), triangles)


BEHIND = b"3 0 1 2\n"  # a face of OFF

WRONG = {
    "count": "not as many elements as the header states: rejected",
    "longer": "something behind the end: rejected",
    "cut": "a file that ends too early: rejected",
    "surface": "curves and surfaces of OBJ: rejected",
    "dimension": "4OFF and nOFF have no points in space: rejected",
}


def explain(opened, ours, theirs):
    written, suffix = information(opened), Path(opened).suffix
    if isinstance(ours, Rejected):
        return "a file without simplices is rejected" if not written["cells"] else WRONG.get(written["wrong"])
    if np.array_equal(ours, simplices(written["points"], written["cells"])):
        return "read as it was written, but not by the reference" + (" (nothing of the mesh is damaged)" if written["wrong"] else "")
    if suffix == ".obj" and written["wrong"] in ("cut", "longer"):
        return "OBJ counts nothing: what is there is read"
    if suffix == ".vtk" and written["wrong"] == "cut":
        return "VTK does not count its sections or the digits of its last number: what is there is read"
    header = re.search(rb"OFF\s+\d+\s+(\d+)", Path(opened).read_bytes())
    longer = written["wrong"] == "longer"
    if longer and header and int(header[1]) == len(written["cells"]) + 1:
        return "the header counts the face behind the end: it is read"
    if longer and suffix == ".off" and not Path(opened).read_bytes().removesuffix(BEHIND).endswith(b"\n"):
        *cells, (kind, v) = written["cells"]
        joined = [*v[:-1], int(f"{v[-1]}{BEHIND.split()[0].decode()}")]
        others = set(range(len(written["points"]))).difference(v[:-1])
        if joined[-1] in others and np.array_equal(ours, simplices(written["points"], [*cells, (kind, joined)])):
            return "a byte behind the end without a line break is a digit of the last number: it is read"
    return None
