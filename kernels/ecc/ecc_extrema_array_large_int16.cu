// for each plane z: for each set S of the axes x, y: for each cell: s = its least value over S
//   if s(z) > s(z+1): changes[s(z)] ± 1, changes[s(z+1)] ∓ 1
//
// Only extrema count (extrema_3d.h, doc/extrema.md), 32 at a time (extrema_sliced.h). The
// kernels of large int16 arrays of other programs, of three dimensions.
#include "arrays_sliced.h"

ARRAYS_SLICED(_deep, int16, sliced::halved)
