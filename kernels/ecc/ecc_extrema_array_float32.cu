// for each set S of all axes but one: for each cell: s = its least value over S
//   if s(z) > s(z+1): changes[s(z)] ± 1, changes[s(z+1)] ∓ 1
//
// Kernels for float32 arrays of other programs. Only extrema contribute (extrema_3d.h,
// doc/extrema.md).
#include "extrema_arrays.h"

ARRAY_PAIRS(float32)
ARRAY_SINGLES(float32)
ARRAYS_SMALL(float32)
