// for each step: for each voxel: V' ← V + (μ·(Σ neighbours − 2d·V) − (V − V0)·b), b = |V0|²
//
// The gradient vector flow by plain steps, one launch for each (Smistad et al. 2012,
// algorithms 1 and 2), every component of a voxel in one thread. global reads plain buffers: a
// thread has four voxels of a row and goes through planes, in 3D, of which it keeps three.
// texture reads through the texture cache, a voxel a thread, as its authors have it; so does
// global where rows do not begin at multiples of four voxels, from plain buffers.
#include "step.h"

// What the neighbours in a row and those in a column add up to, in 3D in a pillar, too.
inlined float32 around(float32 left, float32 right, float32 north, float32 south) {
  return plus(plus(left, right), plus(north, south));
}

// b of a voxel.
template <int dim, class V> inlined float32 magnitude(const V (&v0)[dim]) {
  float32 all = plus(times(v0[0], v0[0]), times(v0[1], v0[1]));
  if (dim > 2) all = plus(all, times(v0[dim - 1], v0[dim - 1]));
  return all;
}

struct plainly {
  member static float32 read(const float32 *p) { return *p; }
};
struct through_texture_cache {
#ifdef ON_HOST
  member static float32 read(const float32 *p) { return *p; }
#else
  member static float32 read(const float32 *p) {
    float32 v;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(p));
    return v;
  }
#endif
};

// A voxel a thread: a warp has 32 of a row.
template <int dim, class From> inlined void by_voxel(const float32 *v, const float32 *v0, float32 *to, const shape &s, float32 mu) {
  int segments = (s.w + 31) / 32, warps = threads() >> 5;
  int64 item = (int64)block_x() * warps + (thread_x() >> 5), row = item / segments, plane = s.plane(), n = s.voxels();
  int x = (int)(item % segments) * 32 + (thread_x() & 31), y = (int)(row % s.h), z = (int)(row / s.h);
  if (x >= s.w || z >= s.d) return;
  int64 i = row * s.w + x;
  int64 left = s.before(x, s.w) - x, right = s.after(x, s.w) - x;
  int64 north = (int64)(s.before(y, s.h) - y) * s.w, south = (int64)(s.after(y, s.h) - y) * s.w;
  int64 below = (s.before(z, s.d) - z) * plane, above = (s.after(z, s.d) - z) * plane;
  float32 start[dim];
  UNROLL for (int c = 0; c < dim; c++) start[c] = From::read(v0 + c * n + i);
  float32 b = magnitude<dim>(start);
  UNROLL for (int c = 0; c < dim; c++) {
    const float32 *at = v + c * n + i;
    float32 sum = around(From::read(at + left), From::read(at + right), From::read(at + north), From::read(at + south));
    if (dim > 2) sum = plus(sum, plus(From::read(at + below), From::read(at + above)));
    to[c * n + i] = stepped<2 * dim>(From::read(at), sum, start[c], b, mu);
  }
}

inlined quad quad_at(const float32 *p) { return *(const quad *)p; }

// Four voxels a thread, of planes first ≤ z < last: a warp has 128 of a row. In 2D there is
// one plane.
template <int dim> inlined void by_quad(const float32 *v, const float32 *v0, float32 *to, const shape &s, float32 mu, int planes) {
  int segments = (s.w + 127) / 128, warps = threads() >> 5, bands = (s.h + warps - 1) / warps;
  int block = block_x(), x = block % segments * 128 + 4 * (thread_x() & 31), y = block / segments % bands * warps + (thread_x() >> 5);
  int first = block / segments / bands * planes, last = shape::least(first + planes, s.d);
  if (x >= s.w || y >= s.h) return;
  int64 plane = s.plane(), n = s.voxels(), at = (int64)y * s.w + x;
  int left = s.before(x, s.w) - x, right = s.after(x + 3, s.w) - x;
  int64 north = (int64)(s.before(y, s.h) - y) * s.w, south = (int64)(s.after(y, s.h) - y) * s.w;
  quad below[dim], here[dim], above[dim];
  UNROLL for (int c = 0; c < dim; c++) {
    const float32 *p = v + c * n + at;
    here[c] = quad_at(p + first * plane);
    if (dim > 2) below[c] = quad_at(p + s.before(first, s.d) * plane);
  }
  for (int z = first; z < last; z++) {
    int64 i = at + z * plane;
    quad start[dim], b;
    UNROLL for (int c = 0; c < dim; c++) {
      start[c] = quad_at(v0 + c * n + i);
      if (dim > 2) above[c] = quad_at(v + c * n + at + s.after(z, s.d) * plane);
    }
    UNROLL for (int k = 0; k < 4; k++) {
      float32 one[dim];
      UNROLL for (int c = 0; c < dim; c++) one[c] = start[c][k];
      b[k] = magnitude<dim>(one);
    }
    UNROLL for (int c = 0; c < dim; c++) {
      const float32 *p = v + c * n + i;
      quad up = quad_at(p + north), down = quad_at(p + south), out;
      float32 row[6] = {p[left], here[c][0], here[c][1], here[c][2], here[c][3], p[right]};
      UNROLL for (int k = 0; k < 4; k++) {
        float32 sum = around(row[k], row[k + 2], up[k], down[k]);
        if (dim > 2) sum = plus(sum, plus(below[c][k], above[c][k]));
        out[k] = stepped<2 * dim>(here[c][k], sum, start[c][k], b[k], mu);
      }
      if (planted(fault::edge) && c == 1 && (x + 4) % 128 == 0) out[3] = 0;
      *(quad *)(to + c * n + i) = out;
      if (dim > 2) below[c] = here[c], here[c] = above[c];
    }
  }
}

#define STEP(dim)                                                                                                       \
  extern "C" __global__ void gvf_global_##dim##d(const float32 *v, const float32 *v0, float32 *to, int w, int h, int d,  \
                                                 int third, float32 mu, int planes) {                                   \
    by_quad<dim>(v, v0, to, shape{w, h, d, third}, mu, planes);                                                         \
  }                                                                                                                     \
  extern "C" __global__ void gvf_global_##dim##d_unaligned(const float32 *v, const float32 *v0, float32 *to, int w,      \
                                                           int h, int d, int third, float32 mu) {                       \
    by_voxel<dim, plainly>(v, v0, to, shape{w, h, d, third}, mu);                                                       \
  }                                                                                                                     \
  extern "C" __global__ void gvf_texture_##dim##d(const float32 *v, const float32 *v0, float32 *to, int w, int h, int d, \
                                                  int third, float32 mu) {                                              \
    by_voxel<dim, through_texture_cache>(v, v0, to, shape{w, h, d, third}, mu);                                         \
  }
STEP(2)
STEP(3)
