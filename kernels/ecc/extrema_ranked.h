// For more levels than pairs of halves can distinguish. The counters are 16 bits wide (packed.h),
// so a block holds twice as many as its shared memory has words.
#pragma once
#include "extrema_wide.h"
#include "packed.h"

// One voxel of a column by its level: the float32 with the pattern first_level + 16·level. Positive
// floats compare like their patterns, and so do subnormal ones.
struct ranked {
  struct value { unsigned pattern; };
  typedef float32 number;
  static const int voxels = 1;

  inlined value outside() { return {0x7f800000}; }
  inlined value least(value a, value b) { return as<value>(single::least(as<float32>(a), as<float32>(b))); }
  inlined float32 greater(value a, value b) { return single::greater(as<float32>(a), as<float32>(b)); }
  inlined float32 equal(value a, value b) { return single::equal(as<float32>(a), as<float32>(b)); }
  inlined float32 fma(float32 a, float32 b, float32 c) { return single::fma(a, b, c); }
  inlined float32 bias() { return 0; }
  inlined float32 times(float32 v) { return v; }
};

// The pattern of level 0. For float32 it is that of 2²³ + 2¹⁶, where consecutive patterns are
// consecutive integers. For integer types it is 0, because converting integers to floats is slow.
template <class T> inlined unsigned first_level() { return 0; }
template <> member unsigned first_level<float32>() { return 0x4b010000; }

inlined void lanes(ranked::value *out, four_of<float32> a, four_of<float32>, const scaling &s) {
  UNROLL for (int c = 0; c < 4; c++) out[c] = as<ranked::value>(__builtin_fmaf(a[c], s.scale, s.offset));
}
inlined void lanes(ranked::value *out, four_of<uint16> a, four_of<uint16>, const scaling &s) {
  words u = as<words>(a);
  UNROLL for (int c = 0; c < 4; c++) out[c] = {16 * permute(u[c / 2], 0, c & 1 ? 0x4432 : 0x4410) - s.bias};
}
inlined void lanes(ranked::value *out, four_of<int16> a, four_of<int16>, const scaling &s) {
  words u = as<words>(a); // sign-extended
  UNROLL for (int c = 0; c < 4; c++) out[c] = {16 * permute(u[c / 2], 0, c & 1 ? 0xbb32 : 0x9910) - s.bias};
}
inlined ranked::value mark(ranked::value v, unsigned outer) { return outer & 1 ? ranked::outside() : v; }

// A cell changes each of the 4 images (2D: 2) by at most 1, and its change goes to one voxel. So in
// a plane or row a thread adds at most 36 in total: for 8 voxels of each image (32), and up to 4
// handed over by neighbouring lanes.
static_assert(packed::holds(36, alone), "a counter of 16 bits may wrap");

const int spare = 32; // words for changes of 0, so that the warp does not diverge

template <class T> inlined ranked::value no_level(const ladder &l, ranked) {
  return {first_level<T>() + 32 * (unsigned)(packed::words(l.n) + (thread_x() & (spare - 1)))};
}
template <class T> inlined void add(ranked::value v, float32 change, ranked::value nowhere, const packed &h, const ladder &) {
  unsigned at = (change != 0 ? v : nowhere).pattern;
  packed::add(h, (at >> 5) - first_level<T>() / 32, at, (int)change);
}

template <class T, int n> inlined void relieve(const packed &h, const ranked::value (&v)[n]) {
  UNROLL for (int c = 0; c < n; c++) packed::relieve(h, (v[c].pattern - first_level<T>()) >> 5);
}
template <class T, int n, int m> inlined void relieve(const packed &h, const ranked::value (&v)[n][m]) {
  UNROLL for (int r = 0; r < n; r++) relieve<T>(h, v[r]);
}
template <class T, class V> inlined void settle(const packed &h, const V &v) {
  if (packed::due(h)) relieve<T>(h, v);
  h.seen = 0;
}

#define RANKED(T) ALIGNMENTS(_ranked, ranked, T, packed::start(total, levels, spare), packed::finish(h))
