// for each plane of a column: what a cell has more than the six around it
//
// A level of the graph of voxels, and what all passes over it have in common. Four vectors lie side
// by side: a cell has four numbers of float32, or four of float64. A link lies at the cell before it;
// those along an axis come one after the other, of x, of y and of z, and are 0 at the far border. An
// image has its rows along z, so that threads go through them as through planes.
#pragma once
#include "weight.h"

// The numbers of a cell.
typedef float32 quad __attribute__((vector_size(16)));
typedef double wide __attribute__((vector_size(32)));
inlined wide widened(const wide &v) { return v; }
inlined wide widened(const quad &v) { return wide{v[0], v[1], v[2], v[3]}; }
inlined quad narrowed(const wide &v) { return quad{(float32)v[0], (float32)v[1], (float32)v[2], (float32)v[3]}; }

inlined int lesser(int a, int b) { return a < b ? a : b; }

// How many cells there are along the axes, and how blocks take them: threads side by side along x, as
// a power of two, the others along y, or in an image along z; each goes through a run of planes.
struct space {
  int nx, ny, nz, across, length;
  member int plane() const { return nx * ny; }
  member int cells() const { return plane() * nz; }
};
#define SPACE int nx, int ny, int nz, int across, int length
#define THE_SPACE space{nx, ny, nz, across, length}

// The cell that a thread of a launch has, of those without an order.
inlined int own_cell() { return block_x() * threads() + thread_x(); }

// Where a thread begins, and how far it is to the cells around, which stand for themselves beyond a
// border. All threads of a block go through as many planes, of which some may be behind the last.
struct walk {
  int x, y, z, planes, left, right, north, south;
  bool inside;
  member explicit walk(const space &s) {
    int high = threads() >> s.across, tiles = ((s.nx - 1) >> s.across) + 1, rows = (s.ny + high - 1) / high, b = block_x(), row = thread_x() >> s.across;
    x = (b % tiles << s.across) + (thread_x() & ((1 << s.across) - 1)), y = 0, planes = s.length;
    if (s.ny == 1) {
      z = (b / tiles * high + row) * s.length;
    } else {
      y = b / tiles % rows * high + row, z = b / tiles / rows * s.length;
      planes = lesser(s.length, s.nz - z);
    }
    inside = x < s.nx && y < s.ny;
    x = lesser(x, s.nx - 1), y = lesser(y, s.ny - 1);
    left = x > 0 ? -1 : 0, right = x < s.nx - 1 ? 1 : 0, north = y > 0 ? -s.nx : 0, south = y < s.ny - 1 ? s.nx : 0;
  }
  // The cell on a plane, or on the nearest one that there is.
  member int at(const space &s, int z) const { return (z < 0 ? 0 : lesser(z, s.nz - 1)) * s.plane() + y * s.nx + x; }
};

// Links to cells that share no face: of each offset three numbers of cells along the axes, and how far
// that is in memory; and the links of all cells to those so far away, 0 where there are none.
struct beside {
  const int *offsets;
  int count;
  const double *links;
  member int far(int k) const { return offsets[4 * k + 3]; }
  // What flows along them from a cell of n.
  template <class V, class Flow, class Read> member void add(int i, int n, const V &here, Flow &flow, Read read) const {
    NOT_UNROLLED for (int k = 0; k < count; k++) {
      const double *link = links + (int64)k * n;
      int by = far(k);
      double ahead = link[i], behind = i >= by ? link[i - by] : 0;
      if (ahead > 0) flow = flow + ahead * (here - read(i + by));
      if (behind > 0) flow = flow + behind * (here - read(i - by));
    }
  }
};
#define BESIDE const int *offsets, int count, const double *others
#define THE_BESIDE beside{offsets, count, others}

struct none_beside {
  template <class V, class Flow, class Read> member void add(int, int, const V &, Flow &, Read) const {}
};

// Goes through the cells of a block, plane by plane. What is read at a cell is any number of vectors;
// each is given the cell, whether it is one or stands for what is beyond the border, what was read
// there, and what flows from it, Σ link·(here − there), in the links' precision. All threads of a
// block come to each plane.
template <class N, class Read, class Each, class Others = none_beside>
inlined void march(const space &s, const N *links, Read read, Each each, const Others &others = Others()) {
  walk w(s);
  const N *lx = links, *ly = lx + s.cells(), *lz = ly + s.cells();
  auto before = read(w.at(s, w.z - 1)), here = read(w.at(s, w.z));
  N behind = w.z > 0 && !planted(fault::plane) ? lz[w.at(s, w.z - 1)] : 0;
  for (int k = 0; k < w.planes; k++) {
    int z = w.z + k, i = w.at(s, z);
    auto after = read(w.at(s, z + 1));
    N ahead = lz[i], west = w.left ? lx[i - 1] : 0, east = lx[i];
    auto flow = west * (here - read(i + w.left)) + east * (here - read(i + w.right));
    if (s.ny > 1) {
      N above = w.north ? ly[i - s.nx] : 0, below = ly[i];
      flow = flow + (above * (here - read(i + w.north)) + below * (here - read(i + w.south)));
    }
    flow = flow + (behind * (here - before) + ahead * (here - after));
    others.add(i, s.cells(), here, flow, read);
    each(i, w.inside && z < s.nz, here, flow);
    before = here, here = after, behind = ahead;
  }
}

// The sums of numbers of all threads of a block, in its first thread.
template <int n> inlined void over_block(double (&v)[n]) {
  __shared__ double warps[32][n];
  UNROLL for (int k = 0; k < n; k++) v[k] = over_lanes(v[k]);
  __syncthreads();
  if (!(thread_x() & 31)) UNROLL for (int k = 0; k < n; k++) warps[thread_x() >> 5][k] = v[k];
  __syncthreads();
  if (thread_x() >= 32) return;
  UNROLL for (int k = 0; k < n; k++) v[k] = over_lanes(thread_x() < (threads() + 31) / 32 ? warps[thread_x()][k] : 0);
}
