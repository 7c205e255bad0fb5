// for each set S of all axes but one: for each cell: s = its least value over S
//   if s(z) > s(z+1): changes[s(z)] ± 1, changes[s(z+1)] ∓ 1
//
// Only extrema count (extrema_3d.h, doc/extrema.md). The kernels of float32 images.
#include "extrema_kernels.h"
#include "extrema_small.h"

PAIRS(float32)
SINGLES(float32)
SMALLS(float32)
