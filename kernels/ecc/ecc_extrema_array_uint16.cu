// for each set S of all axes but one: for each cell: s = its least value over S
//   if s(z) > s(z+1): changes[s(z)] ± 1, changes[s(z+1)] ∓ 1
//
// Only extrema count (extrema_3d.h, doc/extrema.md). The kernels of uint16 arrays of other programs.
#include "extrema_arrays.h"

ARRAY_SINGLES(uint16)
ARRAYS_RANKED(uint16)
