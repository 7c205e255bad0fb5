// for each voxel v: for each face c of v: if v introduced c: changes[level(v)] += (−1)^dim(c)
//
// One slab of a streamed image at a time: the slices that are counted, with a
// collar of one slice on either side where the image goes on. One stream copies
// slabs and another launches this kernel, so that copies and kernels overlap (Wang et
// al. 2022, section 4.4, of which it is the streaming). Within a slab it is the sweep
// of ecc_fullsweep.cu, not their algorithm 2, which is that of ecc_tiled.cu.
#include "sweep.h"

#define KERNEL(dim, type)                                                                              \
  extern "C" __global__ void ecc_chunked_##dim##_##type(                                                \
      const type *image, int width, int height, int slices, int first, int last, int levels, int least, \
      int affine, float32 lo, float32 inverse, const int *lut, const float32 *values, int64 *total, int copies) { \
    histogram h = histogram::start(total, levels, copies);                                             \
    sweep_##dim(image, slab{width, height, slices, first, last},                                       \
                ladder{levels, least, affine, lo, inverse, lut, values}, h);                           \
    histogram::finish(h);                                                                              \
  }

KERNELS(KERNEL)
