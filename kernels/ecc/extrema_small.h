// For small images, where a multiprocessor counts only one or two parts and the fixed costs of a
// launch are as large as the counting. A multiprocessor has one block, and all its warps share the
// counters, so there are fewer additions to the totals. The parts (extrema_batch.h) of each warp
// are fixed, without a queue. The totals are int32, which suffices for 2²⁷ voxels with at most 9
// changes each.
#pragma once
#include "extrema_batch.h"
#include "../handover.h"

template <class View, class L, class T>
inlined void extrema_small(const T *image, int width, int height, int slices, int segment, const scaling &s, const ladder &l,
                           int *total, seam<L> *seams, const bounds &to = bounds{}) {
  const int counters = sizeof(T) == 1 ? 256 : l.n;
  histogram h = histogram::start(0, counters, 1);
  int warp = thread_x() >> 5, warps = threads() >> 5, parts = View::parts(width, height, slices, segment);
  for (int part = block_x() + warp * blocks(); part < parts; part += warps * blocks())
    View::count_part(part, image, width, height, slices, segment, s, l, h, seams + warp, to);
  __syncthreads();
  for (int k = thread_x(); k < (planted(fault::flush) && counters > 512 ? 512 : counters); k += threads()) {
    int sum = block_changes[k];
    if (sum) add_global(total + (sizeof(T) == 1 && l.lut ? l.lut[k] : k), sum);
  }
}

const int small_warps = 12; // limited by the registers of a multiprocessor

#define SMALL(name, dim, view, T)                                                                                    \
  extern "C" __global__ __attribute__((launch_bounds(32 * small_warps, 1))) void ecc_extrema_small##name##_##dim##_##T( \
      const T *image, int width, int height, int slices, int segment, float32 scale, float32 offset, unsigned bias,  \
      int64 *copy, unsigned *done, int levels, int least, int affine, float32 lo, float32 inverse, const int *lut,   \
      const float32 *values, int *total, int) {                                                                      \
    __shared__ seam<pair> seams[small_warps];                                                                        \
    ladder l{levels, least, affine, lo, inverse, lut, values};                                                       \
    extrema_small<view##_##dim<pair, T, true>, pair, T>(image, width, height, slices, segment,                       \
                                                        scaling{scale, offset, bias}, l, total, seams);              \
    hand_over(total, levels, copy, done);                                                                            \
  }
#define SMALLS(T) SMALL(_narrow, 2d, narrow, T) SMALL(_narrow, 3d, narrow, T) SMALL(, 2d, wide, T) SMALL(, 3d, wide, T)
