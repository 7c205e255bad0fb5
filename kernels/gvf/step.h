// A step of the gradient vector flow of one voxel, and what the kernels have in common
// (doc/gvf.md). A field is a list of its components, each row-major, one after the other.
#pragma once
#include "../rounded.h"
#include "fault.h"

#ifndef ON_HOST
extern __shared__ int block_changes[]; // the block's shared memory
#endif

// Four values of a row, which memory brings together where they begin at a multiple of four.
typedef float32 quad __attribute__((vector_size(16)));

// v + (μ(s − 6v) − (v − v0)b), where s is the sum of the neighbours and 6 is how many they are.
template <int sides> inlined float32 stepped(float32 v, float32 s, float32 v0, float32 b, float32 mu) {
  float32 flow = times(mu, minus(s, times(sides, v)));
  if (planted(fault::fused)) return plus(v, __builtin_fmaf(-minus(v, v0), b, flow));
  return plus(v, minus(flow, times(minus(v, v0), b)));
}

// The shape of a field: columns, rows and planes, 1 of them in 2D; and its boundary, 0 where
// the neighbour beyond the border is the voxel at it, 1 where it is the one before that.
struct shape {
  int w, h, d, third;
  member int64 plane() const { return (int64)w * h; }
  member int64 voxels() const { return plane() * d; }
  // The places beside one of an axis of n.
  member int before(int i, int n) const { return i > 0 ? i - 1 : least(border(), n - 1); }
  member int after(int i, int n) const { return i < n - 1 ? i + 1 : greatest(n - 1 - border(), 0); }
  // Where the value is that a place of an axis of n has, which may be beyond its ends: steps
  // of a field that is mirrored there are those of the boundary, at any distance.
  member int mirrored(int i, int n) const {
    if (i >= 0 && i < n) return i;
    int period = greatest(2 * (n - border()), 1);
    if (i < 0) i = -i - 1 + border();
    i %= period;
    return i < n ? i : period - 1 + border() - i;
  }
  member static int least(int a, int b) { return a < b ? a : b; }
  member static int greatest(int a, int b) { return a > b ? a : b; }
  member int border() const { return planted(fault::border) ? 1 - third : third; }
};
