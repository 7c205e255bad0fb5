// Pairs for up to 31,744 levels: level k is the half with the pattern k, and the last one is below
// +infinity. One block uses all registers and shared memory of a multiprocessor.
#pragma once
#include "extrema_2d.h"
#include "extrema_3d.h"

const int alone = 384; // threads of the only block of a multiprocessor

struct wide {
  struct value { unsigned levels; };
  typedef half2 number;
  static const int voxels = 2;

  inlined value outside() { return {pair::outside()}; }
  inlined value least(value a, value b) { return {pair::least(a.levels, b.levels)}; }
  inlined half2 greater(value a, value b) { return pair::greater(a.levels, b.levels); }
  inlined half2 equal(value a, value b) { return pair::equal(a.levels, b.levels); }
  inlined half2 fma(half2 a, half2 b, half2 c) { return pair::fma(a, b, c); }
  inlined half2 bias() { return pair::bias(); }
  inlined half2 times(float32 v) { return pair::times(v); }
};

inlined void lanes(wide::value *out, four_of<float32> a, four_of<float32> b, const scaling &s) {
  unsigned levels[4];
  lanes(levels, a, b, s);
  UNROLL for (int c = 0; c < 4; c++) out[c] = {levels[c]};
}
inlined void lanes(wide::value *out, four_of<uint16> a, four_of<uint16> b, const scaling &s) {
  words u = as<words>(a), v = as<words>(b);
  UNROLL for (int c = 0; c < 4; c++) out[c] = {permute(u[c / 2], v[c / 2], c & 1 ? 0x7632 : 0x5410) - s.bias};
}
inlined void lanes(wide::value *out, four_of<int16> a, four_of<int16> b, const scaling &s) {
  words u = as<words>(a), v = as<words>(b);
  UNROLL for (int c = 0; c < 4; c++)
    out[c] = {(permute(u[c / 2], v[c / 2], c & 1 ? 0x7632 : 0x5410) ^ 0x80008000) - s.bias};
}
inlined wide::value mark(wide::value v, unsigned outer) { return {mark(v.levels, outer)}; }

template <class T> inlined wide::value no_level(const ladder &l, wide) {
  return {0x10001u * (unsigned)(l.n + (thread_x() & 31))};
}
template <class T> inlined void add(wide::value v, half2 biased, wide::value nowhere, const histogram &, const ladder &) {
  unsigned numbers = as<unsigned>(biased), none = where_equal_halves(numbers, 0x66006600);
  unsigned at = (v.levels & ~none) | (nowhere.levels & none), counters = shared_address(block_changes);
  add_shared(counters + 4 * (at & 0xffff), (int)permute(numbers, 0, 0x8880));
  add_shared(counters + 4 * (at >> 16), (int)permute(numbers, 0, 0xaaa2));
}

#define KERNEL_ALONE(name, dim, L, T, aligned, start, finish)                                                       \
  extern "C" __global__ __attribute__((launch_bounds(alone, 1))) void ecc_extrema##name##_##dim##_##T(               \
      const T *image, int width, int height, int slices, int segment, float32 scale, float32 offset, unsigned bias, \
      int levels, int least, int affine, float32 lo, float32 inverse, const int *lut, const float32 *values,        \
      int64 *total, int copies) {                                                                                   \
    __shared__ seam<L> seams[alone / 32];                                                                           \
    ladder l{levels, least, affine, lo, inverse, lut, values};                                                      \
    auto h = start;                                                                                                 \
    extrema_##dim<L, T, aligned>(image, width, height, slices, segment, scaling{scale, offset, bias}, l, h, seams, \
                                 queue_turns{});                                                                    \
    finish;                                                                                                         \
  }
#define ALIGNMENTS(name, L, T, start, finish)                                                                        \
  KERNEL_ALONE(name, 2d, L, T, true, start, finish) KERNEL_ALONE(name##_unaligned, 2d, L, T, false, start, finish)   \
  KERNEL_ALONE(name, 3d, L, T, true, start, finish) KERNEL_ALONE(name##_unaligned, 3d, L, T, false, start, finish)
#define WIDE(T) ALIGNMENTS(_wide, wide, T, counters<T>(l, total, 1), total_up<T>(h, l))
