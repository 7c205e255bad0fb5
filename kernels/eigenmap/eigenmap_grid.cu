// compute the links of the voxels, and the coarser levels
// repeat: residual of the equations; a cycle for it; products of all vectors; combine them
//
// The smallest eigenpairs of the graph of voxels by LOBPCG (Knyazev 2001), preconditioned by a
// multigrid cycle (doc/eigenmap.md). x and all results from it are in float64. The directions,
// which are the cycle's solution w and the last change p, are in float32. The host solves the small
// problem of the products. Sums are computed by blocks whose size does not depend on the device,
// and then in the order of the blocks.
#include "cycle.h"

// The links of each voxel to the next voxels along x, y and z. Values are from 0 to 1.
extern "C" __global__ void eigenmap_grid_links(const double *values, SPACE, double over, double floor, double *links) {
  space s = THE_SPACE;
  int i = own_cell(), n = s.cells();
  if (i >= n) return;
  int x = i % nx, y = i / nx % ny, z = i / nx / ny;
  auto link = [&](bool is, int by) {
    if (!is) return 0.;
    double d = values[i] - values[i + by];
    return exponential(d * d * over) + floor;
  };
  links[i] = link(x < nx - 1, 1), links[n + i] = link(y < ny - 1, nx), links[2 * (int64)n + i] = link(z < nz - 1, nx * ny);
}

// The links to voxels that do not share a face.
extern "C" __global__ void eigenmap_grid_beside(const double *values, SPACE, double over, double floor, const int *offsets, int count, double *links) {
  space s = THE_SPACE;
  int i = own_cell(), n = s.cells();
  if (i >= n) return;
  int x = i % nx, y = i / nx % ny, z = i / nx / ny;
  NOT_UNROLLED for (int k = 0; k < count; k++) {
    const int *o = offsets + 4 * k;
    bool is = (unsigned)(x + o[0]) < (unsigned)nx && (unsigned)(y + o[1]) < (unsigned)ny && (unsigned)(z + o[2]) < (unsigned)nz;
    double d = is ? values[i] - values[i + o[3]] : 0;
    links[(int64)k * n + i] = is ? exponential(d * d * over) + floor : 0;
  }
}

// The masses, which are the sums of links, or 1 if plain; and each block's part of their sum.
extern "C" __global__ void eigenmap_grid_masses(const double *links, SPACE, BESIDE, double *mass, int plain, double *parts) {
  space s = THE_SPACE;
  int i = own_cell();
  int64 n = s.cells();
  double sum[1] = {};
  if (i < n) {
    int at[3] = {i % nx, i / nx % ny, i / nx / ny}, stride[3] = {1, nx, nx * ny};
    UNROLL for (int a = 0; a < 3; a++) sum[0] += links[a * n + i] + (at[a] ? links[a * n + i - stride[a]] : 0);
    beside b = THE_BESIDE;
    NOT_UNROLLED for (int k = 0; k < count && !planted(fault::degree); k++) sum[0] += others[k * n + i] + (i >= b.far(k) ? others[k * n + i - b.far(k)] : 0);
    if (plain) sum[0] = 1;
    mass[i] = sum[0];
  }
  over_block(sum);
  if (!thread_x()) parts[block_x()] = sum[0];
}

// The links between face neighbours, plus a bound of the other links. A link to a voxel n steps
// away, along x, then y, then z, adds n times its weight to each step, because (Σ d)² ≤ n Σ d² for
// n differences.
extern "C" __global__ void eigenmap_grid_support(const double *links, SPACE, BESIDE, double *to) {
  space s = THE_SPACE;
  int i = own_cell();
  int64 n = s.cells();
  if (i >= n) return;
  int own[3] = {i % nx, i / nx % ny, i / nx / ny}, size[3] = {nx, ny, nz};
  NOT_UNROLLED for (int a = 0; a < 3; a++) {
    double sum = links[a * n + i];
    NOT_UNROLLED for (int k = 0; k < count; k++) {
      const int *o = offsets + 4 * k;
      int steps = 0, along = o[a] < 0 ? -o[a] : o[a];
      UNROLL for (int b = 0; b < 3; b++) steps += o[b] < 0 ? -o[b] : o[b];
      NOT_UNROLLED for (int t = 0; t < along; t++) { // the cell where a path begins that contains this step
        int at[3], shift = 0;
        bool is = true;
        UNROLL for (int b = 0; b < 3; b++) {
          int gone = b < a ? o[b] : b > a ? 0 : o[a] > 0 ? t : -1 - t;
          at[b] = own[b] - gone;
          is = is && (unsigned)at[b] < (unsigned)size[b];
        }
        shift = (at[2] * ny + at[1]) * nx + at[0];
        if (is) sum += steps * others[k * n + shift];
      }
    }
    to[a * n + i] = sum;
  }
}

// The links in float32, and the inverse of their sum.
extern "C" __global__ void eigenmap_grid_ready(const double *links, SPACE, float32 *narrow, float32 *inv) {
  space s = THE_SPACE;
  int i = own_cell();
  int64 n = s.cells();
  if (i >= n) return;
  int at[3] = {i % nx, i / nx % ny, i / nx / ny}, stride[3] = {1, nx, nx * ny};
  double sum = 0;
  UNROLL for (int a = 0; a < 3; a++) {
    double link = links[a * n + i];
    narrow[a * n + i] = (float32)link;
    sum += link + (at[a] ? links[a * n + i - stride[a]] : 0);
  }
  inv[i] = sum > 0 ? (float32)(1 / sum) : 0;
}

// Sums up parts, with one block per number.
extern "C" __global__ void eigenmap_grid_sums(const double *parts, int each, double *totals, int at) {
  double sum[1] = {};
  for (int i = thread_x(); i < each; i += threads()) {
    if (planted(fault::part) && i == each - 1 && each > 1) continue;
    sum[0] += parts[(int64)block_x() * each + i];
  }
  over_block(sum);
  if (!thread_x()) totals[at + block_x()] = sum[0];
}

// Random numbers from −½ to ½: outputs of SplitMix64, by seed.
extern "C" __global__ void eigenmap_grid_random(int cells, int64 seed, quad *to) {
  int i = own_cell();
  if (i >= cells) return;
  quad v;
  UNROLL for (int k = 0; k < 4; k++) {
    unsigned long long h = seed + ((unsigned long long)i * 4 + k + 1) * 0x9e3779b97f4a7c15ull;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ h >> 27) * 0x94d049bb133111ebull;
    v[k] = (float32)((double)(int64)((h ^ h >> 31) >> 11) / 9007199254740992.0 - 0.5);
  }
  to[i] = v;
}

// The residual A x − λ·mass·x, and the squares of each vector's residual in the normalised form.
template <class Others>
inlined void residual(const space &s, const wide *x, const double *links, const double *mass, const wide &values, quad *to, double *parts, const Others &others) {
  double sum[4] = {};
  march(s, links, [&](int i) { return x[i]; }, [&](int i, bool inside, const wide &here, const wide &flow) {
    if (!inside) return;
    double m = mass[i];
    wide rest = flow - m * values * here, share = rest * rest / m;
    to[i] = narrowed(rest);
    UNROLL for (int k = 0; k < 4; k++) sum[k] += share[k];
  }, others);
  over_block(sum);
  if (!thread_x()) UNROLL for (int k = 0; k < 4; k++) parts[(int64)k * blocks() + block_x()] = sum[k];
}

#define RESIDUAL SPACE, const wide *x, const double *links, const double *mass, double v0, double v1, double v2, double v3, quad *to, double *parts
extern "C" __global__ void eigenmap_grid_residual(RESIDUAL) {
  residual(THE_SPACE, x, links, mass, wide{v0, v1, v2, v3}, to, parts, none_beside());
}
extern "C" __global__ void eigenmap_grid_residual_beside(RESIDUAL, BESIDE) {
  residual(THE_SPACE, x, links, mass, wide{v0, v1, v2, v3}, to, parts, THE_BESIDE);
}

// Three groups of four vectors, as stored and as differences in float64.
struct trio { wide a, b, c; };
inlined trio operator+(const trio &s, const trio &t) { return {s.a + t.a, s.b + t.b, s.c + t.c}; }
inlined trio operator*(double f, const trio &t) { return {f * t.a, f * t.b, f * t.c}; }
template <class A, class B, class C> struct three {
  A a;
  B b;
  C c;
};
template <class A, class B, class C> inlined trio operator-(const three<A, B, C> &s, const three<A, B, C> &t) {
  return {widened(s.a) - widened(t.a), widened(s.b) - widened(t.b), widened(s.c) - widened(t.c)};
}

// The products of three groups of four vectors, each with itself and the following ones: weighted
// by mass, and of one with A times the other; and the sums of each vector weighted by mass. A plane
// of cells is in shared memory. A team of threads computes the products of two groups.
enum { gram_threads = 224, team = 16, pairs = 6, roles = 2 * pairs + 1 };

template <class A, class B, class C, class Others>
inlined void gram(const space &s, const double *links, const double *mass, const A *a, const B *b, const C *c, double *parts, const Others &others) {
  __shared__ double of[25][gram_threads]; // the vectors, A times the vectors, and the masses
  const int t = thread_x(), lane = t % team, role = t / team, pair = role % pairs;
  const bool energy = role >= pairs;
  const int one = pair < 3 ? 0 : pair < 5 ? 1 : 2, other = pair < 3 ? pair : pair < 5 ? pair - 2 : 2;
  const double(*left)[gram_threads] = of + 4 * one, (*right)[gram_threads] = of + 4 * other + (energy ? 12 : 0);
  double sums[16] = {};
  march(s, links, [&](int i) { return three<A, B, C>{a[i], b[i], c[i]}; }, [&](int i, bool inside, const three<A, B, C> &here, const trio &flow) {
    wide v[6] = {widened(here.a), widened(here.b), widened(here.c), flow.a, flow.b, flow.c};
    __syncthreads(); // all teams have read the previous plane
    UNROLL for (int k = 0; k < 24; k++) of[k][t] = inside ? v[k / 4][k % 4] : 0;
    of[24][t] = inside ? mass[i] : 0;
    __syncthreads();
    if (role < roles - 1) {
      NOT_UNROLLED for (int j = lane; j < gram_threads; j += team) {
        double m = energy ? 1 : of[24][j], r[4];
        UNROLL for (int k = 0; k < 4; k++) r[k] = right[k][j];
        UNROLL for (int k = 0; k < 4; k++) {
          double l = m * left[k][j];
          UNROLL for (int q = 0; q < 4; q++) sums[4 * k + q] = __builtin_fma(l, r[q], sums[4 * k + q]);
        }
      }
    } else if (role == roles - 1) {
      NOT_UNROLLED for (int j = lane; j < gram_threads; j += team) {
        double m = of[24][j];
        UNROLL for (int k = 0; k < 12; k++) sums[k] = __builtin_fma(m, of[k][j], sums[k]);
      }
    }
  }, others);
  UNROLL for (int k = 0; k < 16; k++) {
    double sum = sums[k];
    UNROLL for (int far = team / 2; far; far /= 2) sum += from_lane_of(sum, (t & 31) ^ far);
    if (!lane && role < roles) parts[(int64)(16 * role + k) * blocks() + block_x()] = sum;
  }
}

#define GRAM(name, A, B, C)                                                                                                      \
  extern "C" __global__ __attribute__((launch_bounds(gram_threads, 2))) void eigenmap_grid_gram_##name(                          \
    const A *a, const B *b, const C *c, SPACE, const double *links, const double *mass, double *parts) {                         \
    gram(THE_SPACE, links, mass, a, b, c, parts, none_beside());                                                                 \
  }                                                                                                                              \
  extern "C" __global__ __attribute__((launch_bounds(gram_threads, 2))) void eigenmap_grid_gram_##name##_beside(                 \
    const A *a, const B *b, const C *c, SPACE, const double *links, const double *mass, double *parts, BESIDE) {                 \
    gram(THE_SPACE, links, mass, a, b, c, parts, THE_BESIDE);                                                                    \
  }
GRAM(0, quad, quad, quad)
GRAM(1, wide, quad, quad)
GRAM(2, wide, wide, quad)
GRAM(3, wide, wide, wide)

// Computes the next p from w and p, and the next x from x and p, minus their kernel components. The
// coefficients are three matrices by rows, for x, w and p, followed by the components to subtract
// from x and from p.
template <int fours> struct lists {
  wide *x[fours];
  const quad *w[fours];
  quad *p[fours];
};
template <int fours> inlined void combine(int cells, const lists<fours> &of, const double *coefficients, int with_w, int with_p) {
  enum { n = 4 * fours };
  __shared__ double c[3 * n * n + 2 * n];
  for (int k = thread_x(); k < 3 * n * n + 2 * n; k += threads()) c[k] = coefficients[k];
  __syncthreads();
  int i = own_cell();
  if (i >= cells) return;
  double x[n], p[n];
  UNROLL for (int k = 0; k < n; k++) x[k] = -c[3 * n * n + k], p[k] = -c[3 * n * n + n + k];
  UNROLL for (int q = 0; q < fours; q++) {
    wide vx = of.x[q][i], vw{}, vp{};
    if (with_w) vw = widened(of.w[q][i]);
    if (with_p) vp = widened(of.p[q][i]);
    UNROLL for (int k = 0; k < 4; k++) {
      const double *row = c + (4 * q + k) * n;
      UNROLL for (int to = 0; to < n; to++) {
        x[to] = __builtin_fma(vx[k], row[to], x[to]);
        p[to] = __builtin_fma(vw[k], row[n * n + to], p[to]);
        p[to] = __builtin_fma(vp[k], row[2 * n * n + to], p[to]);
      }
    }
  }
  UNROLL for (int q = 0; q < fours; q++) {
    wide vx, vp;
    UNROLL for (int k = 0; k < 4; k++) vx[k] = x[4 * q + k] + p[4 * q + k], vp[k] = p[4 * q + k];
    of.x[q][i] = vx;
    if (with_w) of.p[q][i] = narrowed(vp);
  }
}

extern "C" __global__ void eigenmap_grid_combine_1(wide *x0, const quad *w0, quad *p0, int cells, const double *c, int with_w, int with_p) {
  combine<1>(cells, {{x0}, {w0}, {p0}}, c, with_w, with_p);
}
extern "C" __global__ void eigenmap_grid_combine_2(
  wide *x0, wide *x1, const quad *w0, const quad *w1, quad *p0, quad *p1, int cells, const double *c, int with_w, int with_p) {
  combine<2>(cells, {{x0, x1}, {w0, w1}, {p0, p1}}, c, with_w, with_p);
}
extern "C" __global__ void eigenmap_grid_combine_3(
  wide *x0, wide *x1, wide *x2, const quad *w0, const quad *w1, const quad *w2, quad *p0, quad *p1, quad *p2, int cells, const double *c, int with_w, int with_p) {
  combine<3>(cells, {{x0, x1, x2}, {w0, w1, w2}, {p0, p1, p2}}, c, with_w, with_p);
}

// The answer: vectors k = from … end − 1 of a group of four, times the square root of the mass, each
// stored as vector behind + k. If kernel > 0, vector 0 is stored too: kernel times that root.
extern "C" __global__ void eigenmap_grid_answer(const wide *x, int cells, const double *mass, double kernel, int from, int end, int behind, double *to) {
  int64 i = own_cell(), n = cells;
  if (i >= n) return;
  double m = root(mass[i]);
  if (kernel > 0) to[i] = m * kernel;
  wide v = x[i];
  UNROLL for (int k = 0; k < 4; k++) if (k >= from && k < end) to[(behind + k) * n + i] = m * v[k];
}
