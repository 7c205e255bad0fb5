// for each step: for each voxel: V' ← V + (μ·(Σ neighbours − 2d·V) − (V − V0)·b), b = |V0|²
//
// The gradient vector flow by plain steps, one launch per step (Smistad et al. 2012, algorithms 1
// and 2). A thread computes every component of its voxels. The kernels:
//  global:            plain loads; a thread has four voxels of a row and, in 3D, marches through
//                     planes and keeps three of them
//  global, unaligned: plain loads; one voxel per thread, for rows that are not aligned to four voxels
//  texture:           loads through the texture cache; one voxel per thread, as in the paper
//  shared:            a tile with its frame is loaded into shared memory, one voxel per thread; only
//                     the inner threads compute: 14 × 14 of 16 × 16, or 6 × 6 × 2 of 8 × 8 × 4
#include "step.h"

// The sum of the neighbours in a row and a column; in 3D the neighbours along z are added to it.
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
  template <class V> member static V read(const V *p) { return *p; }
};
struct through_texture_cache {
#ifdef ON_HOST
  template <class V> member static V read(const V *p) { return *p; }
#else
  member static float32 read(const float32 *p) {
    float32 v;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(p));
    return v;
  }
  template <class V> member static V read(const V *p) { // 16 bits
    short v;
    asm volatile("ld.global.nc.u16 %0, [%1];" : "=h"(v) : "l"(p));
    return as<V>(v);
  }
#endif
};

// One voxel per thread: a warp has 32 voxels of a row.
template <int dim, class From, class Kept, class V = typename Kept::value>
inlined void by_voxel(const V *v, const V *v0, V *to, const shape &s, float32 mu) {
  int segments = (s.w + 31) / 32, warps = threads() >> 5;
  int64 item = (int64)block_x() * warps + (thread_x() >> 5), row = item / segments, plane = s.plane(), n = s.voxels();
  int x = (int)(item % segments) * 32 + (thread_x() & 31), y = (int)(row % s.h), z = (int)(row / s.h);
  if (x >= s.w || z >= s.d) return;
  int64 i = row * s.w + x;
  int64 left = s.before(x, s.w) - x, right = s.after(x, s.w) - x;
  int64 north = (int64)(s.before(y, s.h) - y) * s.w, south = (int64)(s.after(y, s.h) - y) * s.w;
  int64 below = (s.before(z, s.d) - z) * plane, above = (s.after(z, s.d) - z) * plane;
  auto read = [](const V *p) { return Kept::wide(From::read(p)); };
  float32 start[dim];
  UNROLL for (int c = 0; c < dim; c++) start[c] = read(v0 + c * n + i);
  float32 b = magnitude<dim>(start);
  UNROLL for (int c = 0; c < dim; c++) {
    const V *at = v + c * n + i;
    float32 sum = around(read(at + left), read(at + right), read(at + north), read(at + south));
    if (dim > 2) sum = plus(sum, plus(read(at + below), read(at + above)));
    to[c * n + i] = Kept::narrow(stepped<2 * dim>(read(at), sum, start[c], b, mu));
  }
}


// Four voxels per thread, for planes first ≤ z < last: a warp has 128 voxels of a row. A 2D field
// is one plane.
template <int dim, class Kept, class V = typename Kept::value>
inlined void by_quad(const V *v, const V *v0, V *to, const shape &s, float32 mu, int planes) {
  int segments = (s.w + 127) / 128, warps = threads() >> 5, bands = (s.h + warps - 1) / warps;
  int block = block_x(), x = block % segments * 128 + 4 * (thread_x() & 31), y = block / segments % bands * warps + (thread_x() >> 5);
  int first = block / segments / bands * planes, last = shape::least(first + planes, s.d);
  if (x >= s.w || y >= s.h) return;
  typedef typename Kept::four four;
  auto quad_at = [](const V *p) { return Kept::wide(*(const four *)p); };
  // With 16-bit values, the values of the next plane are loaded one plane ahead, because they need
  // few registers.
  const bool early = dim > 2 && sizeof(V) == 2;
  four next_above[dim], next_start[dim];
  auto ask = [&](int z) {
    UNROLL for (int c = 0; c < dim; c++) {
      next_start[c] = *(const four *)(v0 + c * s.voxels() + (int64)y * s.w + x + z * s.plane());
      next_above[c] = *(const four *)(v + c * s.voxels() + (int64)y * s.w + x + s.after(z, s.d) * s.plane());
    }
  };
  int64 plane = s.plane(), n = s.voxels(), at = (int64)y * s.w + x;
  int left = s.before(x, s.w) - x, right = s.after(x + 3, s.w) - x;
  int64 up = (int64)(s.before(y, s.h) - y) * s.w, down = (int64)(s.after(y, s.h) - y) * s.w;
  quad below[dim], here[dim], above[dim];
  UNROLL for (int c = 0; c < dim; c++) {
    const V *p = v + c * n + at;
    here[c] = quad_at(p + first * plane);
    if (dim > 2) below[c] = quad_at(p + s.before(first, s.d) * plane);
  }
  if (early) ask(first);
  for (int z = first; z < last; z++) {
    int64 i = at + z * plane;
    quad start[dim], b;
    UNROLL for (int c = 0; c < dim; c++) {
      start[c] = early ? Kept::wide(next_start[c]) : quad_at(v0 + c * n + i);
      if (dim > 2) above[c] = early ? Kept::wide(next_above[c]) : quad_at(v + c * n + at + s.after(z, s.d) * plane);
    }
    if (early) ask(shape::least(z + 1, last - 1));
    UNROLL for (int k = 0; k < 4; k++) {
      float32 one[dim];
      UNROLL for (int c = 0; c < dim; c++) one[c] = start[c][k];
      b[k] = magnitude<dim>(one);
    }
    // All loads precede all stores; otherwise loads would wait for stores.
    quad north[dim], south[dim], out[dim];
    float32 row[dim][6];
    UNROLL for (int c = 0; c < dim; c++) {
      const V *p = v + c * n + i;
      north[c] = quad_at(p + up), south[c] = quad_at(p + down);
      row[c][0] = Kept::wide(p[left]), row[c][5] = Kept::wide(p[right]);
      UNROLL for (int k = 0; k < 4; k++) row[c][k + 1] = here[c][k];
    }
    UNROLL for (int c = 0; c < dim; c++) {
      UNROLL for (int k = 0; k < 4; k++) {
        float32 sum = around(row[c][k], row[c][k + 2], north[c][k], south[c][k]);
        if (dim > 2) sum = plus(sum, plus(below[c][k], above[c][k]));
        out[c][k] = stepped<2 * dim>(here[c][k], sum, start[c][k], b[k], mu);
      }
      if (planted(fault::edge) && c == 1 && (x + 4) % 128 == 0) out[c][3] = 0;
      if (dim > 2) below[c] = here[c], here[c] = above[c];
    }
    UNROLL for (int c = 0; c < dim; c++) *(typename Kept::four *)(to + c * n + i) = Kept::narrow(out[c]);
  }
}

// One tile per block, in shared memory.
template <int dim, class From, class Kept, class V = typename Kept::value>
inlined void by_tile(const V *v, const V *v0, V *to, const shape &s, float32 mu) {
  enum { side = dim > 2 ? 8 : 16, deep = dim > 2 ? 4 : 1, inner = side - 2, inner_deep = dim > 2 ? deep - 2 : 1, frame = dim > 2 ? 1 : 0 };
  __shared__ float32 tile[dim][side * side * deep];
  int across = (s.w + inner - 1) / inner, down = (s.h + inner - 1) / inner, item = block_x(), t = thread_x();
  int tx = t % side, ty = t / side % side, tz = t / (side * side);
  int x = item % across * inner + tx - 1, y = item / across % down * inner + ty - 1, z = item / (across * down) * inner_deep + tz - frame;
  int64 n = s.voxels(), from = s.mirrored(z, s.d) * s.plane() + (int64)s.mirrored(y, s.h) * s.w + s.mirrored(x, s.w);
  auto read = [](const V *p) { return Kept::wide(From::read(p)); };
  UNROLL for (int c = 0; c < dim; c++) tile[c][t] = read(v + c * n + from);
  __syncthreads();
  if (tx == 0 || tx == side - 1 || ty == 0 || ty == side - 1 || tz < frame || tz >= deep - frame || x >= s.w || y >= s.h || z >= s.d) return;
  float32 start[dim];
  UNROLL for (int c = 0; c < dim; c++) start[c] = read(v0 + c * n + from);
  float32 b = magnitude<dim>(start);
  UNROLL for (int c = 0; c < dim; c++) {
    const float32 *at = tile[c] + t;
    float32 sum = around(at[-1], at[1], at[-side], at[side]);
    if (dim > 2) sum = plus(sum, plus(at[-side * side], at[side * side]));
    float32 made = stepped<2 * dim>(*at, sum, start[c], b, mu);
    to[c * n + from] = Kept::narrow(planted(fault::edge) && tx == side - 2 ? 0 : made);
  }
}

#define FIELDS(T) const T *v, const T *v0, T *to, int w, int h, int d, int third, float32 mu
#define STEP(name, dim, Kept)                                                                       \
  extern "C" __global__ void gvf_global_##dim##d##name(FIELDS(Kept::value), int planes) {           \
    by_quad<dim, Kept>(v, v0, to, shape{w, h, d, third}, mu, planes);                               \
  }                                                                                                 \
  extern "C" __global__ void gvf_global_##dim##d##name##_unaligned(FIELDS(Kept::value)) {           \
    by_voxel<dim, plainly, Kept>(v, v0, to, shape{w, h, d, third}, mu);                             \
  }                                                                                                 \
  extern "C" __global__ void gvf_global_shared_##dim##d##name(FIELDS(Kept::value)) {                \
    by_tile<dim, plainly, Kept>(v, v0, to, shape{w, h, d, third}, mu);                              \
  }                                                                                                 \
  extern "C" __global__ void gvf_texture_##dim##d##name(FIELDS(Kept::value)) {                      \
    by_voxel<dim, through_texture_cache, Kept>(v, v0, to, shape{w, h, d, third}, mu);               \
  }                                                                                                 \
  extern "C" __global__ void gvf_texture_shared_##dim##d##name(FIELDS(Kept::value)) {               \
    by_tile<dim, through_texture_cache, Kept>(v, v0, to, shape{w, h, d, third}, mu);                \
  }
#define STEPS(dim)                                                                                  \
  STEP(, dim, in_float32)                                                                           \
  STEP(_float16, dim, in_float16)                                                                   \
  STEP(_snorm16, dim, in_snorm16)
STEPS(2)
STEPS(3)
