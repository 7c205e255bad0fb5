// The kernels of a type of image: for pairs, for pairs where rows do not begin at
// multiples of four voxels, and for singles.
#pragma once
#include "extrema_2d.h"
#include "extrema_3d.h"
#include "handover.h"

enum { blocks_2d = 3, blocks_3d = 3 }; // that a multiprocessor has registers for

#define KERNEL(name, dim, L, T, aligned)                                                                            \
  extern "C" __global__ __attribute__((launch_bounds(128, blocks_##dim))) void ecc_extrema##name##_##dim##_##T(      \
      const T *image, int width, int height, int slices, int segment, float32 scale, float32 offset, unsigned bias, \
      int64 *copy, unsigned *done, int levels, int least, int affine, float32 lo, float32 inverse, const int *lut,  \
      const float32 *values, int64 *total, int copies) {                                                            \
    __shared__ seam<L> seams[4];                                                                                    \
    ladder l{levels, least, affine, lo, inverse, lut, values};                                                      \
    histogram h = counters<T>(l, total, copies);                                                                    \
    extrema_##dim<L, T, aligned>(image, width, height, slices, segment, scaling{scale, offset, bias}, l, h, seams, \
                                 block_turns{});                                                                    \
    total_up<T>(h, l);                                                                                              \
    hand_over(total, levels, copy, done);                                                                           \
  }
#define PAIRS(T)                                                                     \
  KERNEL(, 2d, pair, T, true) KERNEL(_unaligned, 2d, pair, T, false)                 \
  KERNEL(, 3d, pair, T, true) KERNEL(_unaligned, 3d, pair, T, false)
#define SINGLES(T) KERNEL(_single, 2d, single, T, false) KERNEL(_single, 3d, single, T, false) STRAYS(T)

// Whether a value is a level of its ladder.
inlined bool stands(int v, const ladder &l) { return v >= l.lo && v - l.lo < l.n; }
inlined bool stands(float32 v, const ladder &l) { return l.levels[level(l, v)] == v; }

// Counts the values that are no levels: of an image that has some, only the kernel
// for singles is right.
#define STRAYS(T)                                                                                                     \
  extern "C" __global__ void ecc_extrema_strays_##T(const T *image, int64 voxels, int levels, int least, int affine, \
                                                    float32 lo, float32 inverse, const int *lut,                      \
                                                    const float32 *values, int64 *strays) {                           \
    ladder l{levels, least, affine, lo, inverse, lut, values};                                                        \
    int64 n = 0;                                                                                                      \
    for (int64 i = (int64)block_x() * threads() + thread_x(); i < voxels; i += (int64)blocks() * threads())           \
      n += !stands((in_register<T>::type)image[i], l);                                                                \
    if (n) add_global(strays, n);                                                                                     \
  }
