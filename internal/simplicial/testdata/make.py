"""Writes the files of this folder: a cube of tetrahedra around its middle, and its surface."""
import meshio
import numpy as np
import trimesh

points = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)] + [[0.5, 0.5, 0.5]], dtype=float)
squares = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
triangles = np.array([t for a, b, c, d in squares for t in ((a, b, c), (a, c, d))])
tetrahedra = np.array([[*t, 8] for t in triangles])

solid = meshio.Mesh(points, [("tetra", tetrahedra)])
both = meshio.Mesh(points, [("triangle", triangles), ("tetra", tetrahedra)])
surface = meshio.Mesh(points[:8], [("triangle", triangles)])
both.write("cube22.msh", file_format="gmsh22", binary=False)
solid.write("cube41.msh", file_format="gmsh", binary=False)
meshio.tetgen.write("cube.1.node", solid)
surface.write("surface.off")
surface.write("surface.ply", binary=False)
surface.write("surface-binary.ply", binary=True)
trimesh.Trimesh(points[:8], triangles, process=False).export("surface-trimesh.ply", encoding="binary")
trimesh.Trimesh(points[:8], triangles, process=False).export("surface-trimesh.off")
