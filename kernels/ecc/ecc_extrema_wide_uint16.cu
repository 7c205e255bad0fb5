// for each set S of all axes but one: for each cell: s = its least value over S
//   if s(z) > s(z+1): changes[s(z)] ± 1, changes[s(z+1)] ∓ 1
//
// Kernels for uint16 images with more levels than the pairs of ecc_extrema_uint16.cu can hold
// (extrema_wide.h). Only extrema contribute (extrema_3d.h, doc/extrema.md).
#include "extrema_wide.h"

WIDE(uint16)
