// f  = (value − least) / (greatest − least), in double, rounded once
// V0 = ½ (f(next) − f(before)) along each axis, the border repeated; b = |V0|²
//
// The start of the gradient vector flow of an image, with one pass each: the image's extent,
// reduced to one pair per block; then f; then V0 and b.
#include "step.h"

// Maps values to integers in the same order, so that extremes are found as integers. −0 precedes 0.
inlined int turned(int k) { return k ^ (int)((unsigned)(k >> 31) >> 1); } // reverses the order of negative numbers
inlined int order(int v) { return v; }
inlined int order(float32 v) { return turned(as<int>(v)); }
template <class T> inlined double value(int k, const T *) { return k; }
inlined double value(int k, const float32 *) { return as<float32>(turned(k)); }

// The least and greatest values over the threads of a block, in all threads.
inlined void extent_of_block(int &least, int &greatest) {
  __shared__ int all[2][32];
  int lane = thread_x() & 31, warp = thread_x() >> 5;
  UNROLL for (int far = 16; far > 0; far >>= 1) {
    least = shape::least(least, from_lane(least, lane ^ far));
    greatest = shape::greatest(greatest, from_lane(greatest, lane ^ far));
  }
  __syncthreads();
  if (!lane) all[0][warp] = least, all[1][warp] = greatest;
  __syncthreads();
  for (int i = 0; i < threads() >> 5; i++) least = shape::least(least, all[0][i]), greatest = shape::greatest(greatest, all[1][i]);
}

const int lowest = -0x7fffffff - 1, highest = 0x7fffffff;

// Calls each for every place of an image with its value. Several values are loaded at a time.
template <class T, class Each> inlined void each_value(const T *image, int64 n, Each each) {
  enum { together = 4 };
  int64 stride = (int64)blocks() * threads();
  for (int64 i = (int64)block_x() * threads() + thread_x(); i < n; i += together * stride) {
    T values[together];
    UNROLL for (int k = 0; k < together; k++) values[k] = image[i + k * stride < n ? i + k * stride : i];
    UNROLL for (int k = 0; k < together; k++) {
      if (i + k * stride < n) each(i + k * stride, values[k]);
    }
  }
}

template <class T> inlined void extent(const T *image, int64 n, int *parts) {
  int least = highest, greatest = lowest;
  each_value(image, n, [&](int64, T v) { least = shape::least(least, order(v)), greatest = shape::greatest(greatest, order(v)); });
  extent_of_block(least, greatest);
  if (!thread_x()) parts[2 * block_x()] = least, parts[2 * block_x() + 1] = greatest;
}

template <class T> inlined void scale(const T *image, int64 n, const int *parts, int count, float32 *f) {
  int least = highest, greatest = lowest;
  for (int i = thread_x(); i < count; i += threads()) {
    least = shape::least(least, parts[2 * i]), greatest = shape::greatest(greatest, parts[2 * i + 1]);
  }
  extent_of_block(least, greatest);
  double from = value(least, image), span = value(greatest, image) - from;
  each_value(image, n, [=](int64 i, T v) { f[i] = span > 0 ? (float32)(((double)v - from) / span) : 0; });
}

// The squared length of a vector.
inlined float32 magnitude(float32 x, float32 y) { return plus(times(x, x), times(y, y)); }

template <class Each> inlined void each_voxel(const shape &s, Each each) {
  const int across = 32; // adjacent columns of a warp
  int segments = (s.w + across - 1) / across, warps = threads() >> 5;
  // 64-bit division would take longer than all other work.
  unsigned items = (unsigned)segments * s.h * s.d, stride = blocks() * warps;
  for (unsigned i = block_x() * warps + (thread_x() >> 5); i < items;) {
    int x = (int)(i % segments) * across + (thread_x() & 31);
    unsigned row = i / segments;
    if (x < s.w) each(x, (int)(row % s.h), (int)(row / s.h), (int64)row * s.w + x);
    if (items - i <= stride) break; // i + stride could overflow
    i += stride;
  }
}

#define EXTENT(T)                                                                                       \
  extern "C" __global__ void gvf_extent_##T(const T *image, int64 n, int *parts) { extent(image, n, parts); } \
  extern "C" __global__ void gvf_scale_##T(const T *image, int64 n, const int *parts, int count, float32 *f) { \
    scale(image, n, parts, count, f);                                                                   \
  }
EXTENT(uint8)
EXTENT(int16)
EXTENT(uint16)
EXTENT(float32)

// V0 as it is stored, and b of the stored V0.
template <class Kept, class V = typename Kept::value> inlined void gradient(const float32 *f, V *v0, float32 *b, const shape &s) {
  each_voxel(s, [=](int x, int y, int z, int64 i) {
    int64 n = s.voxels(), plane = s.plane();
    auto along = [=](int axis, int64 next, int64 before) {
      V v = Kept::narrow(times(0.5f, minus(f[next], f[before])));
      v0[axis * n + i] = v;
      return Kept::wide(v);
    };
    float32 vx = along(0, i + (x < s.w - 1), i - (x > 0));
    float32 vy = along(1, y < s.h - 1 ? i + s.w : i, y > 0 ? i - s.w : i);
    float32 all = magnitude(vx, vy);
    if (s.d > 1) {
      float32 vz = along(2, z < s.d - 1 ? i + plane : i, z > 0 ? i - plane : i);
      all = plus(all, times(vz, vz));
    }
    b[i] = all;
  });
}

#define GRADIENT(name, Kept)                                                                                      \
  extern "C" __global__ void gvf_gradient##name(const float32 *f, Kept::value *v0, float32 *b, int w, int h, int d) { \
    gradient<Kept>(f, v0, b, shape{w, h, d, 0});                                                                  \
  }
GRADIENT(, in_float32)
GRADIENT(_float16, in_float16)
GRADIENT(_snorm16, in_snorm16)

// b of a given field.
extern "C" __global__ void gvf_magnitude(const float32 *v0, float32 *b, int w, int h, int d) {
  shape s{w, h, d, 0};
  each_voxel(s, [=](int, int, int, int64 i) {
    int64 n = s.voxels();
    float32 all = magnitude(v0[i], v0[n + i]);
    b[i] = d > 1 ? plus(all, times(v0[2 * n + i], v0[2 * n + i])) : all;
  });
}
