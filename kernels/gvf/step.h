// One step of the gradient vector flow at a voxel, and code that all kernels share (doc/gvf.md). A
// field is a list of components, each contiguous in row-major order.
#pragma once
#include "../rounded.h"
#include "fault.h"

#ifndef ON_HOST
extern __shared__ int block_changes[]; // the block's shared memory
#endif

// Four values of a row, loaded together if they begin at a multiple of four.
typedef float32 quad __attribute__((vector_size(16)));

// How the values of a field are stored between steps, singly and in groups of four, and their
// conversion from and to float32.
struct in_float32 {
  typedef float32 value;
  typedef quad four;
  member static float32 wide(value v) { return v; }
  member static value narrow(float32 v) { return v; }
  member static quad wide(const four &v) { return v; }
  member static four narrow(const quad &v) { return v; }
};

// Halves, rounded to nearest, ties to even.
struct in_float16 {
  typedef _Float16 value;
  struct alignas(8) four { unsigned two[2]; };
  member static float32 wide(value v) { return (float32)v; }
  member static value narrow(float32 v) { return (value)v; }
  member static quad wide(const four &v) {
    quad q;
    UNROLL for (int i = 0; i < 4; i++) q[i] = (float32)as<_Float16>((unsigned short)(v.two[i / 2] >> (i % 2 ? 16 : 0)));
    return q;
  }
  member static four narrow(const quad &q) {
    four v;
    UNROLL for (int i = 0; i < 2; i++) v.two[i] = both(q[2 * i], q[2 * i + 1]);
    return v;
  }
#ifdef ON_HOST
  member static unsigned both(float32 a, float32 b) {
    return (unsigned)as<unsigned short>((value)b) << 16 | as<unsigned short>((value)a);
  }
#else
  member static unsigned both(float32 a, float32 b) {
    unsigned d;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(b), "f"(a));
    return d;
  }
#endif
};

// Numbers from −1 to 1 in units of 1/32767, rounded to nearest, ties to even.
struct in_snorm16 {
  typedef int16 value;
  struct alignas(8) four { int16 each[4]; };
  member static float32 wide(value v) { return (float32)((double)v * (1. / 32767)); } // no quotient is near a tie
  member static value narrow(float32 v) {
    const double whole = 6755399441055744.0; // doubles near it are integers
    double n = (double)(v > 1 ? 1 : v < -1 ? -1 : v) * 32767;
    return (value)(int)(n + whole - whole);
  }
  member static quad wide(const four &v) {
    quad q;
    UNROLL for (int i = 0; i < 4; i++) q[i] = wide(v.each[i]);
    return q;
  }
  member static four narrow(const quad &q) {
    four v;
    UNROLL for (int i = 0; i < 4; i++) v.each[i] = narrow(q[i]);
    return v;
  }
};

// v + (μ(s − n·v) − (v − v0)b), where s is the sum of the n neighbours (sides).
template <int sides> inlined float32 stepped(float32 v, float32 s, float32 v0, float32 b, float32 mu) {
  float32 flow = times(mu, minus(s, times(sides, v)));
  if (planted(fault::fused)) return plus(v, __builtin_fmaf(-minus(v, v0), b, flow));
  return plus(v, minus(flow, times(minus(v, v0), b)));
}

// The shape of a field: columns, rows and planes (1 in 2D); and its boundary condition. third = 0:
// the neighbour beyond the border is the voxel at the border. third = 1: it is the voxel before
// that.
struct shape {
  int w, h, d, third;
  member int64 plane() const { return (int64)w * h; }
  member int64 voxels() const { return plane() * d; }
  // The positions before and after i on an axis of n.
  member int before(int i, int n) const { return i > 0 ? i - 1 : least(border(), n - 1); }
  member int after(int i, int n) const { return i < n - 1 ? i + 1 : greatest(n - 1 - border(), 0); }
  // The position of the value at i, which may be beyond the ends of an axis of n. Steps of a field
  // that is mirrored this way agree with the boundary condition at any distance.
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
