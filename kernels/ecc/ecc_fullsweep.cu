// for each voxel v: for each face c of v: if v introduced c: changes[level(v)] += (−1)^dim(c)
//
// One launch counts a whole resident image, or a slab of a streamed one. A slab has a collar of one
// slice on each side where the image continues. Warps load rows of 32 voxels in 128-byte
// transactions and keep the planes around the current one in registers. Each block collects its
// changes in shared memory, in one copy per warp or per few warps, and adds them to the curve once,
// at its end (Saxena et al. 2025, section 3.1). Slabs are streamed as in Wang et al. 2022, section
// 4.4, but are not counted by their algorithm 2, which ecc_tiled.cu implements.
#include "sweep.h"

#define KERNEL(dim, type)                                                                              \
  extern "C" __global__ void ecc_fullsweep_##dim##_##type(                                              \
      const type *image, int width, int height, int slices, int first, int last, int levels, int least, \
      int affine, float32 lo, float32 inverse, const int *lut, const float32 *values, int64 *total, int copies) { \
    histogram h = histogram::start(total, levels, copies);                                             \
    sweep_##dim(image, slab{width, height, slices, first, last},                                       \
                ladder{levels, least, affine, lo, inverse, lut, values}, h);                           \
    histogram::finish(h);                                                                              \
  }

KERNELS(KERNEL)
