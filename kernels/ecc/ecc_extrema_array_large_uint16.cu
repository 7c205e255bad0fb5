// for each plane z: for each set S of the axes x, y: for each cell: s = its least value over S
//   if s(z) > s(z+1): changes[s(z)] ± 1, changes[s(z+1)] ∓ 1
//
// Kernels for large 3D uint16 arrays of other programs. Only extrema contribute (extrema_3d.h,
// doc/extrema.md), 32 voxels at a time (extrema_sliced.h).
#include "arrays_sliced.h"

ARRAYS_SLICED(_deep, uint16, sliced::halved)
