// The kernels for one type of image: for pairs, for pairs with rows that do not begin at multiples
// of four voxels, and for singles.
#pragma once
#include "extrema_2d.h"
#include "extrema_3d.h"
#include "../handover.h"

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

// Whether a value is a level of the ladder.
inlined bool stands(int v, const ladder &l) { return v >= l.lo && v - l.lo < l.n; }
inlined bool stands(float32 v, const ladder &l) { return l.levels[level(l, v)] == v; }

// Like stands(), without a branch. It may be false for a level if the guess on an affine ladder is
// off by one, and it is false for every value on other float32 ladders.
inlined bool stands_nearby(int v, const ladder &l) { return stands(v, l); }
inlined bool stands_nearby(float32 v, const ladder &l) {
  int k = (int)((v - l.lo) * l.inverse + 0.5f);
  return l.affine && l.levels[k < 0 ? 0 : k < l.n ? k : l.n - 1] == v;
}

// Counts the values that are not levels. An image that has some needs the kernel for singles. At
// most 4,096 float32 levels are looked up in shared memory, where few lanes conflict. A thread
// loads sixteen values at a time.
template <class T> inlined int64 count_strays(const T *image, int64 voxels, ladder l) {
  typedef typename in_register<T>::type V;
  const int few = sizeof(T) == 4 ? 4096 : 1, each = 4, ahead = 4;
  __shared__ float32 levels[few];
  if (sizeof(T) == 4 && l.n <= few) {
    for (int k = thread_x(); k < l.n; k += threads()) levels[k] = l.levels[k];
    __syncthreads();
    l.levels = levels;
  }
  int64 n = 0, first = (int64)block_x() * threads() + thread_x(), all = (int64)blocks() * threads(), whole = voxels / each;
  for (int64 i = first; i < whole; i += ahead * all) {
    four_of<T> v[ahead];
    bool stand = true;
    UNROLL for (int a = 0; a < ahead; a++) v[a] = ((const four_of<T> *)image)[i + a * all < whole ? i + a * all : i];
    UNROLL for (int a = 0; a < ahead; a++)
      UNROLL for (int c = 0; c < each; c++) stand &= stands_nearby((V)v[a][c], l);
    if (stand) continue;
    UNROLL for (int a = 0; a < ahead; a++)
      if (i + a * all < whole)
        for (int c = 0; c < each; c++) n += !stands((V)v[a][c], l);
  }
  for (int64 i = each * whole + first; i < voxels; i += all) n += !stands((V)image[i], l);
  return n;
}

#define STRAYS(T)                                                                                                     \
  extern "C" __global__ void ecc_extrema_strays_##T(const T *image, int64 voxels, int levels, int least, int affine, \
                                                    float32 lo, float32 inverse, const int *lut,                      \
                                                    const float32 *values, int64 *strays) {                           \
    int64 n = count_strays(image, voxels, ladder{levels, least, affine, lo, inverse, lut, values});                   \
    if (n) add_global(strays, n);                                                                                     \
  }
