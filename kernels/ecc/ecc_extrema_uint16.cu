// for each set S of all axes but one: for each cell: s = its least value over S
//   if s(z) > s(z+1): changes[s(z)] ± 1, changes[s(z+1)] ∓ 1
//
// Kernels for uint16 images. Only extrema contribute (extrema_3d.h, doc/extrema.md).
#include "extrema_kernels.h"
#include "extrema_small.h"

PAIRS(uint16)
SINGLES(uint16)
SMALLS(uint16)
