// for each image: for each set S of all axes but one: for each cell: s = its least value over S
//   if s(z) > s(z+1): changes[image][s(z)] ± 1, changes[image][s(z+1)] ∓ 1
//
// Kernels for many small int16 images in one launch (extrema_batch.h, doc/extrema.md).
#include "extrema_batch.h"
#include "extrema_kernels.h"

BATCHES(2d, int16)
BATCHES(3d, int16)
BATCHES_OF_SINGLES(int16)
