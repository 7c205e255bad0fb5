// for each voxel v: for each face c of v: if v introduced c: changes[level(v)] += (−1)^dim(c)
//
// One launch over a whole resident image, or over a slab of a streamed one: the slices
// that are counted, with a collar of one slice on either side where the image goes on.
// Warps load rows of 32 voxels in 128-byte transactions and keep the planes they march
// through in registers; each block adds up its changes in shared memory, a copy for each
// warp or few of them, and adds those to the curve's once, at its end (Saxena et al. 2025,
// section 3.1). Slabs are streamed as by Wang et al. 2022, section 4.4, but swept like
// this, not by their algorithm 2, which is that of ecc_tiled.cu.
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
