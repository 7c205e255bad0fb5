// The contribution of one voxel: its level, and the cells that it introduces.
#pragma once
#include "../device.h"
#include "fault.h"

// A value in a register: float32 stays, the integers become int.
template <class T> struct in_register { typedef int type; };
template <> struct in_register<float32> { typedef float32 type; };

// The value of voxels outside of the image, which follow all others in the order.
inlined void outside(int &v) { v = 0x7fffffff; }
inlined void outside(float32 &v) { v = __builtin_huge_valf(); }

// A ladder on the device. An 8- or 16-bit value v has the level lut[v − least], or v − least if lut
// is null. A float32 value has the first level that is not below it, or the last one. On an affine
// ladder the level is estimated and corrected; otherwise it is found by binary search.
struct ladder {
  int n, least, affine; // n: the number of levels; least: the value of lut[0]
  float32 lo, inverse;
  const int *lut;
  const float32 *levels;
};

inlined int level(const ladder &l, int v) { return l.lut ? l.lut[v - l.least] : v - l.least; }

inlined int level(const ladder &l, float32 v) {
  int lo = 0, hi = l.n - 1;
  if (l.affine) {
    int k = (int)((v - l.lo) * l.inverse + 0.5f);
    k = k < 0 ? 0 : k > hi ? hi : k;
    if (l.levels[k] == v) return k;
    while (k > 0 && l.levels[k - 1] >= v) k--;
    while (k < hi && l.levels[k] < v) k++;
    return k;
  }
  while (lo < hi) {
    int mid = (lo + hi) >> 1;
    if (l.levels[mid] < v) lo = mid + 1; else hi = mid;
  }
  return lo;
}

// Whether v precedes u, the voxel of the same column in the previous row.
template <class V> inlined bool before_row(V v, V u) { return planted(fault::tie) ? v <= u : v < u; }

// The signed number of cells that voxel at[4] introduces, given the 3 × 3 voxels of the previous
// plane, its own and the next one. The voxel precedes a neighbour with a smaller row-major position
// if its value is less, and one with a greater position if its value is not greater. The result is
// −cube + squares − edges + vertices (Wang et al. 2022, algorithm 1).
template <class V> inlined int introduced(const V (&before)[9], const V (&at)[9], const V (&after)[9]) {
  V v = at[4];
  bool za = v < before[4], zb = v <= after[4];
  bool ya = before_row(v, at[1]), yb = v <= at[7];
  bool xa = v < at[3], xb = v <= at[5];
  bool zaya = za & ya & (v < before[1]), zayb = za & yb & (v < before[7]);
  bool zbya = zb & ya & (v <= after[1]), zbyb = zb & yb & (v <= after[7]);
  bool zaxa = za & xa & (v < before[3]), zaxb = za & xb & (v < before[5]);
  bool zbxa = zb & xa & (v <= after[3]), zbxb = zb & xb & (v <= after[5]);
  bool yaxa = ya & xa & (v < at[0]), yaxb = ya & xb & (v < at[2]);
  bool ybxa = yb & xa & (v <= at[6]), ybxb = yb & xb & (v <= at[8]);
  int squares = za + zb + ya + yb + xa + xb;
  int edges = zaya + zayb + zbya + zbyb + zaxa + zaxb + zbxa + zbxb + yaxa + yaxb + ybxa + ybxb;
  int vertices = (zaya & zaxa & yaxa & (v < before[0])) + (zaya & zaxb & yaxb & (v < before[2])) +
                 (zayb & zaxa & ybxa & (v < before[6])) + (zayb & zaxb & ybxb & (v < before[8])) +
                 (zbya & zbxa & yaxa & (v <= after[0])) + (zbya & zbxb & yaxb & (v <= after[2])) +
                 (zbyb & zbxa & ybxa & (v <= after[6])) + (zbyb & zbxb & ybxb & (v <= after[8]));
  return squares - edges + vertices - 1;
}

// The same for a pixel of a 2D image, with the rows before, of and after it.
template <class V> inlined int introduced(const V (&before)[3], const V (&at)[3], const V (&after)[3]) {
  V v = at[1];
  bool ya = before_row(v, before[1]), yb = v <= after[1], xa = v < at[0], xb = v <= at[2];
  int vertices = (ya & xa & (v < before[0])) + (ya & xb & (v < before[2])) +
                 (yb & xa & (v <= after[0])) + (yb & xb & (v <= after[2]));
  return 1 - (ya + yb + xa + xb) + vertices;
}
