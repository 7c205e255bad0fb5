// for each plane of a column: the differences of a cell to its six neighbours
//
// A level of the graph of voxels, and the pass over its cells that all kernels share. Four vectors
// are interleaved: a cell has four numbers, in float32 or float64. A link is stored at the first of
// its two cells; links along x, y and z are in three consecutive lists, and are 0 at the far
// border. A 2D image has its rows along z, so that threads march through rows as through planes.
#pragma once
#include "weight.h"

// The numbers of a cell.
typedef float32 quad __attribute__((vector_size(16)));
typedef double wide __attribute__((vector_size(32)));
inlined wide widened(const wide &v) { return v; }
inlined wide widened(const quad &v) { return wide{v[0], v[1], v[2], v[3]}; }
inlined quad narrowed(const wide &v) { return quad{(float32)v[0], (float32)v[1], (float32)v[2], (float32)v[3]}; }

inlined int lesser(int a, int b) { return a < b ? a : b; }

// The number of cells along the axes, and their division among blocks. 2^across threads are
// adjacent along x, the others along y, or in a 2D image along z. Each thread marches through
// `length` planes.
struct space {
  int nx, ny, nz, across, length;
  member int plane() const { return nx * ny; }
  member int cells() const { return plane() * nz; }
};
#define SPACE int nx, int ny, int nz, int across, int length
#define THE_SPACE space{nx, ny, nz, across, length}

// The cell of a thread in launches without an order of cells.
inlined int own_cell() { return block_x() * threads() + thread_x(); }

// The start of a thread's march, and the distances to the neighbouring cells, which are 0 beyond a
// border. All threads of a block make the same number of steps, so some may be beyond the last
// plane.
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
  // The cell on plane z, or on the nearest existing plane.
  member int at(const space &s, int z) const { return (z < 0 ? 0 : lesser(z, s.nz - 1)) * s.plane() + y * s.nx + x; }
};

// Links to cells that share no face. Each offset has three numbers of cells along the axes, and
// their distance in memory. links has the links of all cells for each offset, 0 if the other cell
// does not exist.
struct beside {
  const int *offsets;
  int count;
  const double *links;
  member int far(int k) const { return offsets[4 * k + 3]; }
  // Adds the flow along these links from cell i of n.
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

// Marches through the cells of a block, plane by plane. read(i) returns one or several vectors.
// each receives the cell, whether it exists, its vectors, and its outflow Σ link·(here − there) in
// the precision of the links. All threads of a block call each for every plane, so it may contain
// barriers.
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

// Sums numbers over all threads of a block. The first thread receives the result.
template <int n> inlined void over_block(double (&v)[n]) {
  __shared__ double warps[32][n];
  UNROLL for (int k = 0; k < n; k++) v[k] = over_lanes(v[k]);
  __syncthreads();
  if (!(thread_x() & 31)) UNROLL for (int k = 0; k < n; k++) warps[thread_x() >> 5][k] = v[k];
  __syncthreads();
  if (thread_x() >= 32) return;
  UNROLL for (int k = 0; k < n; k++) v[k] = over_lanes(thread_x() < (threads() + 31) / 32 ? warps[thread_x()][k] : 0);
}
