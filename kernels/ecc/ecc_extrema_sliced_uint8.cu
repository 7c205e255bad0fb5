// for each plane z: for each set S of the axes x, y: for each cell: s = its least value over S
//   if s(z) > s(z+1): changes[s(z)] ± 1, changes[s(z+1)] ∓ 1
//
// Kernels for large 3D uint8 images. Only extrema contribute (extrema_3d.h, doc/extrema.md), 32
// voxels at a time (extrema_sliced.h).
#include "sliced_planes.h"

ROWS(SLICED, uint8)
