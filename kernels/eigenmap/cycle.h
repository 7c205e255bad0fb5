// start, sweep: approximate the solution of A u = f    remain: the residual
// restricts: to the next coarser level                 interpolate: from there, then sweep again
//
// A V-cycle in float32. The smoother is Chebyshev's method of the fourth kind. Its only parameter
// is a bound of the eigenvalues of diagonal⁻¹·A, which is 2 for a graph Laplacian (Lottes 2023). A
// cell of the coarser level is two cells along each axis that has more than one cell. A fine cell
// is interpolated from its own coarse cell and, with a share per axis, from the next coarse cell.
// The shares follow from the same resistances as the coarse links.
#pragma once
#include "grid.h"

// Coefficients of a sweep: for the previous change, and for the scaled residual.
inlined float32 goes_on(int sweep) { return (float32)(2 * sweep - 3) / (float32)(2 * sweep + 1); }
inlined float32 goes_along(int sweep) { return (float32)(4 * sweep - 2) / (float32)(2 * sweep + 1); }

// The first two sweeps, from 0.
extern "C" __global__ void eigenmap_grid_start(SPACE, const float32 *links, const float32 *inv, const quad *f, quad *to) {
  float32 first = goes_along(1), on = 1 + goes_on(2), along = goes_along(2);
  march(THE_SPACE, links, [&](int i) { return (first * inv[i]) * f[i]; }, [&](int i, bool inside, const quad &here, const quad &flow) {
    if (inside) to[i] = on * here + (along * inv[i]) * (f[i] - flow);
  });
}

// One sweep. to holds the iterate before from, and receives the next one. Sweep 1 uses no previous
// iterate; with anew, the previous one is recomputed from f, for the third sweep from 0.
extern "C" __global__ void eigenmap_grid_sweep(SPACE, const float32 *links, const float32 *inv, const quad *f, const quad *from, quad *to, int sweep, int anew) {
  float32 on = goes_on(sweep), along = goes_along(sweep);
  march(THE_SPACE, links, [&](int i) { return from[i]; }, [&](int i, bool inside, const quad &here, const quad &flow) {
    if (!inside) return;
    quad next = here + (along * inv[i]) * (f[i] - flow);
    if (sweep > 1) next += on * (here - (anew ? (goes_along(1) * inv[i]) * f[i] : to[i]));
    to[i] = next;
  });
}

extern "C" __global__ void eigenmap_grid_remain(SPACE, const float32 *links, const quad *f, const quad *from, quad *to) {
  march(THE_SPACE, links, [&](int i) { return from[i]; }, [&](int i, bool inside, const quad &here, const quad &flow) {
    if (inside) to[i] = f[i] - flow;
  });
}

// The number of cells of a level that a coarse cell has along an axis, and the number of coarse
// cells.
inlined int fold(int n) { return n > 1 ? 2 : 1; }
inlined int folded(int n) { return (n + 1) / 2; }

// The sizes of a level (n) and of the next one (m), and the shares along x, then y, then z.
struct folding {
  int n[3], m[3];
  const float32 *shares;
  member folding(int nx, int ny, int nz, const float32 *shares) : n{nx, ny, nz}, m{folded(nx), folded(ny), folded(nz)}, shares(shares) {}
  member int64 fine() const { return (int64)n[0] * n[1] * n[2]; }
  member int coarse() const { return m[0] * m[1] * m[2]; }
};

// The share of each cell along each axis: its weight of the next coarse cell, in addition to its
// own coarse cell.
extern "C" __global__ void eigenmap_grid_shares(int nx, int ny, int nz, const double *links, float32 *shares) {
  int i = own_cell();
  int64 n = (int64)nx * ny * nz;
  if (i >= n) return;
  int at[3] = {i % nx, i / nx % ny, i / nx / ny}, size[3] = {nx, ny, nz}, stride[3] = {1, nx, nx * ny};
  float32 share[3] = {}, sum = 0;
  UNROLL for (int a = 0; a < 3; a++) {
    const double *link = links + a * n + i;
    int k = at[a], by = stride[a];
    if (k & 1 && k + 1 < size[a]) { // the second of a pair, followed by another cell
      double before = 0.5 / link[-by], after = k + 2 < size[a] ? 0.5 / link[by] : 0;
      share[a] = (float32)(before / (before + 1 / link[0] + after));
    } else if (!(k & 1) && k > 0) { // the first of a pair, preceded by another pair
      double before = 0.5 / link[-2 * by], after = k + 1 < size[a] ? 0.5 / link[0] : 0;
      share[a] = (float32)(after / (before + 1 / link[-by] + after));
    }
    sum += share[a];
  }
  UNROLL for (int a = 0; a < 3; a++) shares[a * n + i] = sum > 1 ? share[a] / sum : share[a];
}

// A applied to the interpolated position along an axis, at cell i. The position of a cell is its
// share, before (−) or behind (+) the centre of its coarse cell.
inlined double pull(const folding &f, const double *links, int axis, int i) {
  int at[3] = {i % f.n[0], i / f.n[0] % f.n[1], i / f.n[0] / f.n[1]}, stride[3] = {1, f.n[0], f.n[0] * f.n[1]};
  int64 n = f.fine();
  const float32 *share = f.shares + axis * n;
  bool odd = at[axis] & 1;
  auto place = [&](int j, bool odd) { return odd ? (double)share[j] : -(double)share[j]; };
  double here = place(i, odd), sum = 0;
  UNROLL for (int a = 0; a < 3; a++) {
    double before = at[a] ? links[a * n + i - stride[a]] : 0, after = links[a * n + i];
    bool along = a == axis;
    if (before > 0) sum += before * (here - place(i - stride[a], odd != along) + (along && !odd ? 1 : 0));
    if (after > 0) sum += after * (here - place(i + stride[a], odd != along) - (along && odd ? 1 : 0));
  }
  return sum;
}

// The links and masses of the next level. A link combines the resistances between the centres of
// two coarse cells: in series along a line of cells, with all lines in parallel. It is at least
// half of the link that would give the interpolated position the same energy on both levels. The
// resistances alone are far too weak where the shares differ from the currents, as in thin tubes.
extern "C" __global__ void eigenmap_grid_coarsen(int nx, int ny, int nz, const double *links, const float32 *shares, const double *mass, double *to, double *masses) {
  folding f(nx, ny, nz, shares);
  int c = own_cell();
  if (c >= f.coarse()) return;
  int at[3] = {c % f.m[0], c / f.m[0] % f.m[1], c / f.m[0] / f.m[1]}, stride[3] = {1, nx, nx * ny};
  int64 n = f.fine();
  double sum = 0, link[3] = {}, energy[3] = {};
  NOT_UNROLLED for (int part = 0; part < 8; part++) {
    int k[3] = {2 * at[0] + (part & 1), 2 * at[1] + (part >> 1 & 1), 2 * at[2] + (part >> 2)};
    if (k[0] >= nx || k[1] >= ny || k[2] >= nz) continue;
    int i = (k[2] * ny + k[1]) * nx + k[0];
    sum += mass[i];
    UNROLL for (int a = 0; a < 3; a++) {
      if (!(k[a] & 1) || k[a] + 1 >= f.n[a]) continue;
      const double *w = links + a * n + i;
      const float32 *share = shares + a * n + i;
      link[a] += 1 / (0.5 / w[-stride[a]] + 1 / w[0] + (k[a] + 2 < f.n[a] ? 0.5 / w[stride[a]] : 0));
      double here = share[0], there = share[stride[a]];
      energy[a] += here * pull(f, links, a, i) + w[0] * (1 - here - there) - there * pull(f, links, a, i + stride[a]);
    }
  }
  masses[c] = sum;
  UNROLL for (int a = 0; a < 3; a++) {
    double half = planted(fault::weak) ? 0 : energy[a] / 2;
    to[a * (int64)f.coarse() + c] = link[a] > half ? link[a] : half;
  }
}

// The restriction of the residual, the transpose of the interpolation. Each coarse cell sums the
// contributions of its own cells and of the cells next to them, in the order of the axes.
inlined quad restricted(const folding &f, int c, const quad *from) {
  int at[3] = {c % f.m[0], c / f.m[0] % f.m[1], c / f.m[0] / f.m[1]}, stride[3] = {1, f.n[0], f.n[0] * f.n[1]};
  int64 n = f.fine();
  quad sum = {};
  UNROLL for (int part = 0; part < 8; part++) {
    int k[3] = {2 * at[0] + (part & 1), 2 * at[1] + (part >> 1 & 1), 2 * at[2] + (part >> 2)};
    if (k[0] >= f.n[0] || k[1] >= f.n[1] || k[2] >= f.n[2]) continue;
    int i = (k[2] * f.n[1] + k[1]) * f.n[0] + k[0];
    float32 given = (f.shares[i] + f.shares[n + i]) + f.shares[2 * n + i];
    sum += (planted(fault::adjoint) ? 1 : 1 - given) * from[i];
    UNROLL for (int a = 0; a < 3; a++) {
      int beside = k[a] & 1 ? 1 : -1; // away from the cells of c
      if (f.n[a] == 1 || k[a] + beside < 0 || k[a] + beside >= f.n[a]) continue;
      sum += f.shares[a * n + i + beside * stride[a]] * from[i + beside * stride[a]];
    }
  }
  return sum;
}

extern "C" __global__ void eigenmap_grid_restricts(int nx, int ny, int nz, const float32 *shares, const quad *from, quad *to) {
  folding f(nx, ny, nz, shares);
  int c = own_cell();
  if (c < f.coarse()) to[c] = restricted(f, c, from);
}

// The interpolated value of a fine cell.
template <class V, class N> inlined V interpolated(const folding &f, int i, const V *from) {
  int at[3] = {i % f.n[0], i / f.n[0] % f.n[1], i / f.n[0] / f.n[1]}, stride[3] = {1, f.m[0], f.m[0] * f.m[1]};
  int64 n = f.fine();
  int c = (at[2] / 2 * f.m[1] + at[1] / 2) * f.m[0] + at[0] / 2;
  float32 share[3] = {f.shares[i], f.shares[n + i], f.shares[2 * n + i]};
  V sum = (N)(1 - ((share[0] + share[1]) + share[2])) * from[c];
  UNROLL for (int a = 0; a < 3; a++) {
    int beside = at[a] & 1 ? 1 : -1, next = at[a] / 2 + beside;
    if (next >= 0 && next < f.m[a]) sum += (N)share[a] * from[c + beside * stride[a]]; // also if the share is 0
  }
  return sum;
}

// Adds the interpolated correction.
inlined void correct(const folding &f, int i, const quad *from, quad *to) {
  quad added = interpolated<quad, float32>(f, i, from);
  to[i] += planted(fault::sign) ? -added : added;
}

extern "C" __global__ void eigenmap_grid_interpolate(int nx, int ny, int nz, const float32 *shares, const quad *from, quad *to) {
  folding f(nx, ny, nz, shares);
  int i = own_cell();
  if (i < f.fine()) correct(f, i, from, to);
}

// The first guess of a level is interpolated from the next one.
extern "C" __global__ void eigenmap_grid_guess(int nx, int ny, int nz, const float32 *shares, const wide *from, wide *to) {
  folding f(nx, ny, nz, shares);
  int i = own_cell();
  if (i < f.fine()) to[i] = interpolated<wide, double>(f, i, from);
}

// The cycle of all levels with few cells, in one block. known has the constants of each level, one
// level after the other: links, the inverse of their sum, and shares. work has three vectors for
// each level: its right-hand side, its values and the previous values.
enum { tail_threads = 1024, most_levels = 32 };

struct few_cells {
  int n[3], cells;
  const float32 *links, *inv, *shares;
  const quad *f;
  quad *u, *end;
  member few_cells(const int *size, int level, const float32 *known, const quad *given, quad *work, quad *to) : n{size[0], size[1], size[2]}, cells(n[0] * n[1] * n[2]) {
    links = known + 7 * (int64)size[3], inv = links + 3 * cells, shares = inv + cells;
    work += 3 * (int64)size[3];
    f = level ? work : given, u = work + cells, end = level ? work + 2 * cells : to;
  }
  // Calls each for all cells, with the value and the outflow of a cell. It ends with a barrier.
  template <class Read, class Each> member void pass(Read read, Each each) const {
    for (int i = thread_x(); i < cells; i += threads()) {
      int at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]}, stride[3] = {1, n[0], n[0] * n[1]};
      quad here = read(i), flow = {};
      UNROLL for (int a = 0; a < 3; a++) {
        if (at[a]) flow += links[a * cells + i - stride[a]] * (here - read(i - stride[a]));
        if (at[a] + 1 < n[a]) flow += links[a * cells + i] * (here - read(i + stride[a]));
      }
      each(i, here, flow);
    }
    __syncthreads();
  }
};

extern "C" __global__ __attribute__((launch_bounds(tail_threads, 1))) void eigenmap_grid_tail(
  int nx, int ny, int nz, const float32 *known, int skip, const quad *given, quad *work, quad *to) {
  __shared__ int sizes[most_levels][4]; // along the axes, and the number of cells of all levels before
  if (!thread_x()) {
    int n[3] = {nx, ny, nz}, before = skip;
    for (int k = 0; k < most_levels; k++) {
      UNROLL for (int a = 0; a < 3; a++) sizes[k][a] = n[a], n[a] = folded(n[a]);
      sizes[k][3] = before, before += sizes[k][0] * sizes[k][1] * sizes[k][2];
    }
  }
  __syncthreads();
  auto level = [&](int k) { return few_cells(sizes[k], k, known, given, work, to); };
  int last = 0;
  for (;; last++) {
    few_cells l = level(last);
    if (l.cells == 1) break;
    float32 first = goes_along(1), on = 1 + goes_on(2), along = goes_along(2);
    l.pass([&](int i) { return (first * l.inv[i]) * l.f[i]; }, [&](int i, const quad &here, const quad &flow) { l.end[i] = on * here + (along * l.inv[i]) * (l.f[i] - flow); });
    l.pass([&](int i) { return l.end[i]; }, [&](int i, const quad &here, const quad &flow) {
      l.u[i] = here + (goes_along(3) * l.inv[i]) * (l.f[i] - flow) + goes_on(3) * (here - (first * l.inv[i]) * l.f[i]);
    });
    l.pass([&](int i) { return l.u[i]; }, [&](int i, const quad &, const quad &flow) { l.end[i] = l.f[i] - flow; });
    folding f(l.n[0], l.n[1], l.n[2], l.shares);
    quad *next = const_cast<quad *>(level(last + 1).f);
    for (int c = thread_x(); c < f.coarse(); c += threads()) next[c] = restricted(f, c, l.end);
    __syncthreads();
  }
  if (!thread_x()) level(last).end[0] = quad{}; // a single cell: any constant is a solution
  __syncthreads();
  for (int k = last - 1; k >= 0; k--) {
    few_cells l = level(k), c = level(k + 1);
    folding f(l.n[0], l.n[1], l.n[2], l.shares);
    for (int i = thread_x(); i < l.cells; i += threads()) correct(f, i, c.end, l.u);
    __syncthreads();
    NOT_UNROLLED for (int sweep = 1; sweep <= (planted(fault::brief) ? 2 : 3); sweep++) {
      const quad *from = sweep & 1 ? l.u : l.end;
      quad *other = sweep & 1 ? l.end : l.u;
      float32 on = goes_on(sweep), along = goes_along(sweep);
      l.pass([&](int i) { return from[i]; }, [&](int i, const quad &here, const quad &flow) {
        quad v = here + (along * l.inv[i]) * (l.f[i] - flow);
        if (sweep > 1) v += on * (here - other[i]);
        other[i] = v;
      });
    }
  }
}
