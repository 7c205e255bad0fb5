// for each set S of all axes but one: for each cell: s = its least value over S
//   if s(z) > s(z+1): changes[s(z)] ± 1, changes[s(z+1)] ∓ 1
//
// Only extrema count (extrema_3d.h, doc/extrema.md). The kernels of int16 images with
// more levels than ecc_extrema_int16.cu has pairs for (extrema_wide.h).
#include "extrema_wide.h"

WIDE(int16)
