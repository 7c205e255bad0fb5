// for each plane z: for each set S of the axes x, y: for each cell: s = its least value over S
//   if s(z) > s(z+1): changes[s(z)] ± 1, changes[s(z+1)] ∓ 1
//
// Kernels for large 3D uint16 images with more levels than the pairs of ecc_extrema_wide_uint16.cu
// can hold, up to 65,536. Only extrema contribute (extrema_3d.h, doc/extrema.md), 32 voxels at a
// time (extrema_sliced.h).
#include "sliced_planes.h"

ROWS(DEEP, uint16)
