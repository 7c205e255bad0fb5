// for each set S of all axes but one: for each cell: s = its least value over S
//   if s(z) > s(z+1): changes[s(z)] ± 1, changes[s(z+1)] ∓ 1
//
// Kernels for float32 images with more levels than the pairs of ecc_extrema_wide_float32.cu can
// hold (extrema_ranked.h). Only extrema contribute (extrema_3d.h, doc/extrema.md).
#include "extrema_ranked.h"

RANKED(float32)
