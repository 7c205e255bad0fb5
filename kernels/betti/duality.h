// bits:  rows of 64 voxels, those of a tile of 1024 rows together
// tile:  P[run] = a run before it that it touches, or itself; then a union for each other
//        link; components = runs − hooks − successful unions
// face:  a node for each run at a face of the tile: the first one of its component
// seam:  unions of the nodes of neighbouring tiles
//
// Components of the set and of what is around it (doc/betti.md), without a label: what
// counts is how many links joined two components, whatever the order in which they come.
// A tile's runs are joined in shared memory, with parents of 16 bits. Parents are less than
// what they are of, so that nothing is joined twice: a root takes a parent by one
// compare-and-swap, which is counted where it succeeds (Rem's algorithm, Dijkstra 1976).
#pragma once
#include "../swap.h"
#include "fault.h"

#ifdef __clang__
#pragma clang diagnostic ignored "-Wbitwise-op-parentheses"
#pragma clang diagnostic ignored "-Wlogical-op-parentheses"
#endif

extern __shared__ int block_changes[];

typedef unsigned long long word; // 64 voxels of a row, the first in the lowest bit

inlined int ones(word v) { return __builtin_popcountll(v); }
inlined int first_of(word v) { return __builtin_ctzll(v); }
inlined int runs_of(word v, unsigned before) { return ones(v & ~(v << 1 | before)); }
inlined word starts_of(word v) { return v & ~(v << 1); }
// Where the run begins that a bit is of.
inlined int start_of(word v, int bit) { return 63 - __builtin_clzll(starts_of(v) & ((2ull << bit) - 1)); }
// The bits of each run from its lowest chosen bit on; the chosen ones are bits of runs.
inlined word onward(word runs, word chosen) { return ((runs + chosen) ^ runs) & runs | chosen; }

// An image of bits in tiles of 64 voxels, 1024 >> deep rows and 1 << deep planes.
template <int deep> struct volume {
  enum { planes = 1 << deep, log_rows = 10 - deep, rows = 1 << log_rows };
  const word *bits;
  int w, h, d;    // voxels
  int tx, ty, tz; // tiles

  member volume(const word *bits, int w, int h, int d)
      : bits(bits), w(w), h(h), d(d), tx((w + 63) >> 6), ty((h + rows - 1) >> log_rows), tz((d + planes - 1) >> deep) {}
  member int64 tile(int z, int y, int i) const { return ((int64)(z >> deep) * ty + (y >> log_rows)) * tx + i; }
  member static int in_tile(int z, int y) { return (z & (planes - 1)) << log_rows | (y & (rows - 1)); }
  // 0 beyond the tiles.
  member word at(int z, int y, int i) const {
    bool in = (unsigned)z < (unsigned)tz << deep && (unsigned)y < (unsigned)ty << log_rows && (unsigned)i < (unsigned)tx;
    return in ? bits[tile(z, y, i) << 10 | in_tile(z, y)] : 0;
  }
  // What is in the box, but not in the set.
  member word around(int z, int y, int i) const {
    if ((unsigned)z >= (unsigned)d || (unsigned)y >= (unsigned)h || (unsigned)i >= (unsigned)tx) return 0;
    int n = w - 64 * i;
    return ~at(z, y, i) & (n < 64 ? (1ull << n) - 1 : ~0ull);
  }
};

// A tile's number, taken apart.
struct place {
  int x, y, z;
  template <class V> member place(const V &v, unsigned tile) {
    unsigned row = tile / (unsigned)v.tx;
    x = (int)(tile - row * (unsigned)v.tx), z = (int)(row / (unsigned)v.ty), y = (int)(row - (unsigned)z * (unsigned)v.ty);
  }
};

// Nodes of a tile: 0 for all that is outside the box, and 32 for each of its bundles of
// rows, by where runs begin. A claimed root holds more than any of them, the more the lesser
// the number of the face's node that it is.
enum { claims = 65535 };
inlined int node(int bundle, int start) { return 1 + 32 * bundle + (start >> 1); }

// The parents of a tile's nodes, in shared memory.
struct forest {
  enum { log_pair = 1 };
  volatile uint16 *parent;

  member unsigned cas(int at, unsigned expected, unsigned value) const {
    int shift = (at & 1) << 4;
    unsigned address = shared_address(block_changes) + 4 * (at >> log_pair);
    for (;;) {
      unsigned pair = load_shared(address), is = pair >> shift & 0xffff;
      if (is != expected) return is;
      if (compare_swap_shared(address, pair, pair & ~(0xffffu << shift) | value << shift) == pair) return is;
    }
  }
  // Whether two components became one.
  member bool unite(int a, int b) const {
    for (;;) {
      int p = parent[a], q = parent[b];
      if (p == q) return false;
      if (p < q) {
        int t = a;
        a = b, b = t, t = p, p = q, q = t;
      }
      if (a == p) {
        if (cas(a, a, q) == (unsigned)a) return true;
        continue;
      }
      int over = parent[p];
      if (over != p) parent[a] = over;
      a = p;
    }
  }
  member int root(int a) const {
    for (int p = parent[a]; p != a; p = parent[a]) a = p;
    return a;
  }
};

// Links wait until a warp has one for each lane.
struct queue {
  unsigned *list; // of 64
  forest of;
  int waiting, joined;

  member void take(unsigned link, bool has) {
    if (has && of.unite(link >> 16, link & 0xffff)) joined++;
  }
  // All lanes call it, some with a link.
  member void add(bool has, int a, int b) {
    if (has) has = of.parent[a] != of.parent[b];
    unsigned who = vote(has);
    int lane = thread_x() & 31;
    if (has) list[waiting + __builtin_popcount(who & ((1u << lane) - 1))] = (unsigned)a << 16 | (unsigned)b;
    waiting += __builtin_popcount(who);
    sync_warp();
    if (waiting < 32) return;
    waiting -= 32;
    unsigned link = list[waiting + lane];
    take(link, true);
    sync_warp();
  }
  member void finish() {
    int lane = thread_x() & 31;
    sync_warp();
    take(lane < waiting ? list[lane] : 0, lane < waiting);
    waiting = 0;
  }
};

// The nodes of a tile's faces: of the runs of bundles in its first and last planes, then of
// those in its first and last rows, and of those that begin and end its other rows. A tile
// that is flat has no neighbours in front and behind.
template <int log_rows, int log_planes> struct faces {
  enum {
    rows = 1 << log_rows, planes = 1 << log_planes, flat = log_planes == 0,
    in_planes = flat ? 0 : 2 * 32 * rows, in_rows = 2 * 32 * planes, ends = rows * planes, count = in_planes + in_rows + 2 * ends
  };
  // That of a run in row y of plane z, which is at the end of its row where others are not.
  member static int of(int z, int y, int start, bool end) {
    if (!flat && (z == 0 || z == planes - 1)) return ((z ? rows : 0) + y) * 32 + (start >> 1);
    if (y == 0 || y == rows - 1) return in_planes + ((y ? planes : 0) + z) * 32 + (start >> 1);
    return in_planes + in_rows + (end ? ends : 0) + z * rows + y;
  }
  // The bundle and the run that a node is of: the bit where it begins, or −1.
  template <class Any> member static int begin(int f, int &bundle, const Any &any) {
    if (f >= in_planes + in_rows) {
      f -= in_planes + in_rows;
      bool end = f >= ends;
      bundle = f & (ends - 1);
      word v = any(bundle);
      return !(v >> (end ? 63 : 0) & 1) ? -1 : end ? start_of(v, 63) : 0;
    }
    int row = f >> 5;
    if (f < in_planes) bundle = row < rows ? row : ends - 2 * rows + row;
    else row -= in_planes / 32, bundle = row < planes ? row << log_rows : (row - planes) << log_rows | (rows - 1);
    word s = starts_of(any(bundle)) >> (2 * (f & 31)) & 3;
    return s ? 2 * (f & 31) + (s == 2) : -1;
  }
};

// The first node of a tile's faces.
template <class F> inlined unsigned first_node(unsigned tile) {
  unsigned n = tile * F::count;
  if (planted(fault::narrow)) n = (uint16)n;
  return 1 + n;
}

// Gives the nodes of a tile's faces their parents: those of one component the first of them.
// Nodes follow each other from base on; what is joined with the outside has node 0.
template <class F, int block, class Any> inlined void close_tile(forest of, unsigned *nodes, unsigned base, const Any &any) {
  const int each = (F::count + block - 1) / block;
  int root[each];
  UNROLL for (int j = 0; j < each; j++) {
    int f = j * block + thread_x(), bundle = 0, begin = f < F::count ? F::begin(f, bundle, any) : -1;
    root[j] = -1;
    if (begin < 0) continue;
    int a = node(bundle, begin);
    unsigned p;
    while ((p = of.parent[a]) != (unsigned)a && p <= 32768) a = (int)p;
    root[j] = a;
    if (!a) continue;
    for (unsigned claim = claims - f; p <= 32768 || p < claim;) {
      unsigned was = of.cas(a, p, claim);
      if (was == p) break;
      p = was;
    }
  }
  __syncthreads();
  UNROLL for (int j = 0; j < each; j++)
    if (root[j] >= 0) nodes[base + j * block + thread_x()] = root[j] ? base + claims - of.parent[root[j]] : 0;
}

// Joins two nodes of faces in the device's memory.
inlined bool unite_nodes(volatile unsigned *parent, unsigned a, unsigned b) {
  for (;;) {
    unsigned p = parent[a], q = parent[b];
    if (p == q) return false;
    if (p < q) {
      unsigned t = a;
      a = b, b = t, t = p, p = q, q = t;
    }
    if (a == p) {
      if (compare_swap_global((unsigned *)parent + a, a, q) == a) return true;
      continue;
    }
    unsigned over = parent[p];
    if (over != p) parent[a] = over;
    a = p;
  }
}

// What is summed: components of the set, those around it but the outside, and χ. Blocks add
// to one of 32 copies, of which the host makes the sum.
enum { components, cavities, characteristic, sums, copies = 32 };
inlined void add_all(int64 *to, int what, int v) {
  for (int k = 16; k; k >>= 1) v += from_lane(v, (thread_x() & 31) ^ k);
  static __shared__ int warps[32];
  __syncthreads();
  if (!(thread_x() & 31)) warps[thread_x() >> 5] = v;
  __syncthreads();
  if (thread_x()) return;
  int64 all = 0;
  for (int i = 0; i < threads() >> 5; i++) all += warps[i];
  if (all) add_global(to + (block_x() & (copies - 1)) * sums + what, all);
}

// Packs eight rows of 64 voxels with each warp: bits of what is not above a limit.
template <int deep, class T, class L> inlined void pack(const T *image, int w, int h, int d, L limit, word *bits) {
  volume<deep> v(bits, w, h, d);
  const int each = 8, groups = volume<deep>::rows / each;
  int64 item = (int64)block_x() * (threads() >> 5) + (thread_x() >> 5);
  int lane = thread_x() & 31, i = (int)(item % v.tx);
  int64 row = item / v.tx;
  int y = (int)(row % (v.ty * groups)) * each, z = (int)(row / (v.ty * groups));
  if (z >= v.tz << deep) return;
  T low[each] = {}, high[each] = {};
  int x = 64 * i + lane;
  const T *p = image + ((int64)z * h + y) * w + x;
  UNROLL for (int j = 0; j < each; j++) {
    bool in = z < d && y + j < h;
    if (in && x < w) low[j] = p[(int64)j * w];
    if (in && x + 32 < w) high[j] = p[(int64)j * w + 32];
  }
  word mine = 0;
  UNROLL for (int j = 0; j < each; j++) {
    bool in = z < d && y + j < h;
    word all = (word)vote(in && x + 32 < w && (L)high[j] <= limit) << 32 | vote(in && x < w && (L)low[j] <= limit);
    if (lane == j) mine = all;
  }
  if (lane < each) bits[v.tile(z, y, i) << 10 | v.in_tile(z, y + lane)] = mine;
}

// Where two bundles of rows meet, whose facing rows are p and q: bits of which each makes a
// link. Of those of both, at that place; of those of one, where the other ends before it.
struct meeting {
  word both, after, before;
  member meeting() : both(0), after(0), before(0) {}
  member meeting(word a, word b, word p, word q, unsigned p_last, unsigned q_last, word closed, bool corners) {
    word facing = p & q, touching = facing;
    after = before = 0;
    if (corners) {
      word one = p & (q << 1 | q_last), other = q & (p << 1 | p_last), covered = facing << 1 | (p_last & q_last);
      touching |= one & b | other & a;
      after = one & ~b & ~covered, before = other & ~a & ~covered;
    }
    both = a & b;
    both = both & ~(both >> 1) & onward(both, touching) & ~onward(both, closed & both);
  }
  // Those of the first column alone that lead to the one before it, or all others.
  member void keep(bool local, bool all) {
    if (all) return;
    if (local) after &= ~1ull, before &= ~1ull;
    else both = 0, after &= 1, before &= 1;
  }
  member void drop() { both = after = before = 0; }
};

// The rows around a bundle of two rows in two planes, which is [2..3][2..3].
template <int deep> struct rows_around {
  word at[4][4];
  unsigned last[4][4]; // the bits before the first
  member rows_around(const volume<deep> &v, int z, int y, int i) {
    UNROLL for (int dz = 0; dz < 4; dz++)
      UNROLL for (int dy = 0; dy < 4; dy++) {
        at[dz][dy] = v.at(z + dz - 2, y + dy - 2, i);
        last[dz][dy] = (unsigned)(v.at(z + dz - 2, y + dy - 2, i - 1) >> 63);
      }
  }
  member word any(int z, int y) const { return at[z][y] | at[z][y + 1] | at[z + 1][y] | at[z + 1][y + 1]; }
  member unsigned any_last(int z, int y) const { return last[z][y] | last[z][y + 1] | last[z + 1][y] | last[z + 1][y + 1]; }

  // Four meetings: of the bundle with the one above, the one behind, and the one of both; and
  // of the one above with the one behind. Where others close a circle none is needed
  // (doc/betti.md).
  member void meet(meeting (&m)[4]) const {
    word down = at[2][2] | at[3][2], up = at[2][1] | at[3][1], front = at[2][2] | at[2][3], back = at[1][2] | at[1][3];
    unsigned down_last = last[2][2] | last[3][2], up_last = last[2][1] | last[3][1];
    unsigned front_last = last[2][2] | last[2][3], back_last = last[1][2] | last[1][3];
    word row = down & up, row_behind = (at[0][2] | at[1][2]) & (at[0][1] | at[1][1]);
    word plane = front & back, plane_above = (at[2][0] | at[2][1]) & (at[1][0] | at[1][1]);
    word mine = any(2, 2), above = any(2, 0), behind = any(0, 2), both = any(0, 0);
    bool corners = !planted(fault::eighteen);
    word closed = row & row_behind & plane_above;
    if (planted(fault::square)) closed = row & plane_above;
    m[0] = meeting(mine, above, down, up, down_last, up_last, 0, true);
    m[1] = meeting(mine, behind, front, back, front_last, back_last, closed, true);
    m[2] = meeting(mine, both, at[2][2], at[1][1], last[2][2], last[1][1], row & plane_above | plane & row_behind, corners);
    m[3] = meeting(above, behind, at[2][1], at[1][2], last[2][1], last[1][2], row & plane | plane_above & row_behind, corners);
  }
  // The column's share of χ: of cells that begin at a row of vertices and differ in whether
  // they span x, the shorter ones are more by one for each run.
  member int characteristic(int z, int y, int h, int d) const {
    int chi = 0;
    UNROLL for (int dz = 2; dz < 4; dz++)
      UNROLL for (int dy = 2; dy < 4; dy++) {
        if (z + dz - 2 >= d || y + dy - 2 >= h) continue;
        word c3 = at[dz][dy], c2 = c3 | at[dz - 1][dy], c1 = c3 | at[dz][dy - 1];
        unsigned l3 = last[dz][dy], l2 = l3 | last[dz - 1][dy], l1 = l3 | last[dz][dy - 1];
        int n0 = runs_of(c1 | c2 | at[dz - 1][dy - 1], l1 | l2 | last[dz - 1][dy - 1]);
        int n1 = runs_of(c1, l1), n2 = runs_of(c2, l2), n3 = runs_of(c3, l3);
        bool bottom = y + dy - 2 == h - 1, end = z + dz - 2 == d - 1;
        chi += n0 - n1 - n2 + n3;
        if (bottom) chi += n2 - n3; // the vertices after the last row, and after the last plane
        if (end) chi += n1 - n3;
        if (bottom && end) chi += n3;
      }
    return chi;
  }
};

// The node that a bundle's run at a bit is.
inlined int node_of(int bundle, word any, int bit) { return node(bundle, start_of(any, bit)); }

// Adds a link for each bit of a word, between bundles a and b at so many bits before it.
inlined void links(queue &q, word bits, int a, word any_a, int before_a, int b, word any_b, int before_b) {
  while (any(bits != 0)) {
    int u = 0, v = 0;
    bool has = bits != 0;
    if (has) {
      int bit = first_of(bits);
      u = node_of(a, any_a, bit - before_a), v = node_of(b, any_b, bit - before_b);
      bits &= bits - 1;
    }
    q.add(has, u, v);
  }
}
inlined void links(queue &q, const meeting &m, int a, word any_a, int b, word any_b) {
  links(q, m.both, a, any_a, 0, b, any_b, 0);
  links(q, m.after, a, any_a, 0, b, any_b, 1);
  links(q, m.before, a, any_a, 1, b, any_b, 0);
}

inlined int shared_queue(int nodes) { return (nodes + 4) / 2; } // where the queues begin, in words

// A tile of the set, a bundle of 2 × 2 rows a thread.
template <int deep> inlined void foreground_tile(volume<deep> v, unsigned *nodes, int64 *out) {
  typedef faces<volume<deep>::log_rows - 1, deep - 1> F;
  place p(v, (unsigned)block_x());
  int t = thread_x(), r = t & (F::rows - 1), k = t >> (volume<deep>::log_rows - 1);
  int y = p.y * v.rows + 2 * r, z = p.z * v.planes + 2 * k;
  rows_around<deep> rows(v, z, y, p.x);
  int chi = rows.characteristic(z, y, v.h, v.d);
  meeting m[4];
  rows.meet(m);
  m[0].keep(true, false), m[1].keep(true, false), m[2].keep(true, false), m[3].keep(true, false);
  if (!r) m[0].drop();
  if (!k) m[1].drop();
  if (!r || !k) m[2].drop(), m[3].drop();
  word mine = rows.any(2, 2), above = rows.any(2, 0), behind = rows.any(0, 2), both = rows.any(0, 0);

  forest of{(volatile uint16 *)block_changes};
  int roots = 0;
  for (word rest = mine; rest;) {
    word next = rest + (rest & -rest), run = rest & ~next;
    int a = node(t, first_of(rest)), b = a;
    rest &= next;
    word c = m[0].both & run;
    if (c) b = node_of(t - 1, above, first_of(c)), m[0].both &= ~(c & -c);
    else if ((c = m[1].both & run)) b = node_of(t - F::rows, behind, first_of(c)), m[1].both &= ~(c & -c);
    else if ((c = m[2].both & run)) b = node_of(t - F::rows - 1, both, first_of(c)), m[2].both &= ~(c & -c);
    else roots++;
    of.parent[a] = (uint16)b;
  }
  __syncthreads();
  const int rounds = 3;
  for (int round = 0; round < rounds; round++)
    for (word s = starts_of(mine); s; s &= s - 1) {
      int a = node(t, first_of(s));
      of.parent[a] = of.parent[of.parent[a]];
    }
  __syncthreads();
  queue q{(unsigned *)block_changes + shared_queue(32 * F::ends) + 64 * (t >> 5), of, 0, 0};
  links(q, m[0], t, mine, t - 1, above);
  links(q, m[1], t, mine, t - F::rows, behind);
  links(q, m[2], t, mine, t - F::rows - 1, both);
  links(q, m[3], t - 1, above, t - F::rows, behind);
  q.finish();
  __syncthreads();
  auto any_of = [&](int bundle) {
    int y = p.y * v.rows + 2 * (bundle & (F::rows - 1)), z = p.z * v.planes + 2 * (bundle >> (volume<deep>::log_rows - 1));
    return v.at(z, y, p.x) | v.at(z, y + 1, p.x) | v.at(z + 1, y, p.x) | v.at(z + 1, y + 1, p.x);
  };
  close_tile<F, F::ends>(of, nodes, first_node<F>((unsigned)block_x()), any_of);
  add_all(out, components, roots - q.joined);
  add_all(out, characteristic, chi);
}

// The nodes of faces that runs of an image's bundles have.
template <class F, class V> struct nodes_of {
  const V &v;
  int log_rows, log_planes; // of a tile's bundles
  member unsigned at(int k, int r, int i, word any, int bit, bool end) const {
    unsigned tile = ((unsigned)(k >> log_planes) * (unsigned)v.ty + (unsigned)(r >> log_rows)) * (unsigned)v.tx + (unsigned)i;
    return first_node<F>(tile) + F::of(k & (F::planes - 1), r & (F::rows - 1), start_of(any, bit), end);
  }
};

// What a tile of the set shares with those before it, a bundle a thread.
template <int deep> inlined void foreground_seams(volume<deep> v, unsigned *nodes, int64 *out) {
  typedef faces<volume<deep>::log_rows - 1, deep - 1> F;
  place p(v, (unsigned)block_x());
  int t = thread_x(), r = t & (F::rows - 1), k = t >> (volume<deep>::log_rows - 1), joined = 0;
  int y = p.y * v.rows + 2 * r, z = p.z * v.planes + 2 * k;
  if ((p.x > 0 || !r && p.y > 0 || !k && p.z > 0) && y < v.h + 2 && z < v.d + 2 && !planted(fault::seam)) {
    rows_around<deep> rows(v, z, y, p.x);
    meeting m[4];
    rows.meet(m);
    m[0].keep(false, !r), m[1].keep(false, !k), m[2].keep(false, !r || !k), m[3].keep(false, !r || !k);
    nodes_of<F, volume<deep>> of{v, volume<deep>::log_rows - 1, deep - 1};
    int gr = y >> 1, gk = z >> 1;
    auto unite_one = [&](int az, int ay, int abit, int bz, int by, int bbit) {
      auto end = [&](int dz, int dy, int bit) { // bits are of this tile's column; −1 of the one before
        int i = p.x, kk = gk + dz, rr = gr + dy;
        word any;
        if (bit < 0) {
          i--, bit = 63;
          any = v.at(2 * kk, 2 * rr, i) | v.at(2 * kk, 2 * rr + 1, i) | v.at(2 * kk + 1, 2 * rr, i) | v.at(2 * kk + 1, 2 * rr + 1, i);
          return of.at(kk, rr, i, any, bit, true);
        }
        any = dz ? dy ? rows.any(0, 0) : rows.any(0, 2) : dy ? rows.any(2, 0) : rows.any(2, 2);
        return of.at(kk, rr, i, any, bit, false);
      };
      joined += unite_nodes(nodes, end(az, ay, abit), end(bz, by, bbit));
    };
    auto unite_all = [&](const meeting &m, int az, int ay, int bz, int by) {
      for (word c = m.both; c; c &= c - 1) unite_one(az, ay, first_of(c), bz, by, first_of(c));
      for (word c = m.after; c; c &= c - 1) unite_one(az, ay, first_of(c), bz, by, first_of(c) - 1);
      for (word c = m.before; c; c &= c - 1) unite_one(az, ay, first_of(c) - 1, bz, by, first_of(c));
    };
    unite_all(m[0], 0, 0, 0, -1);
    unite_all(m[1], 0, 0, -1, 0);
    unite_all(m[2], 0, 0, -1, -1);
    unite_all(m[3], 0, -1, -1, 0);
    // A run that goes on, unless one above or behind does that it touches on both sides.
    if (rows.any(2, 2) & 1 & rows.any_last(2, 2)) {
      bool above = (rows.at[2][2] | rows.at[3][2]) & (rows.at[2][1] | rows.at[3][1]) & (rows.last[2][2] | rows.last[3][2]) & (rows.last[2][1] | rows.last[3][1]) & 1;
      bool behind = (rows.at[2][2] | rows.at[2][3]) & (rows.at[1][2] | rows.at[1][3]) & (rows.last[2][2] | rows.last[2][3]) & (rows.last[1][2] | rows.last[1][3]) & 1;
      if (!above && !behind && !planted(fault::end)) unite_one(0, 0, 0, 0, 0, -1);
    }
  }
  add_all(out, components, -joined);
}

// A tile of what is around the set, two rows a thread.
const int around_block = 512;
inlined void background_tile(volume<5> v, unsigned *nodes, int64 *out) {
  typedef faces<5, 5> F;
  const int each = 1024 / around_block;
  place p(v, (unsigned)block_x());
  int t = thread_x(), roots = 0;
  forest of{(volatile uint16 *)block_changes};
  if (!t) of.parent[0] = 0;
  if (!t && !block_x()) nodes[0] = 0;
  word mine[each], up[each], back[each], rows[each], planes[each];
  UNROLL for (int j = 0; j < each; j++) {
    int bundle = j * around_block + t, ly = bundle & 31, lz = bundle >> 5, y = p.y * 32 + ly, z = p.z * 32 + lz;
    mine[j] = v.around(z, y, p.x);
    up[j] = ly ? v.around(z, y - 1, p.x) : 0;
    back[j] = lz ? v.around(z - 1, y, p.x) : 0;
    word both = ly && lz ? v.around(z - 1, y - 1, p.x) : 0;
    rows[j] = mine[j] & up[j], planes[j] = mine[j] & back[j];
    word closed = planes[j] & up[j] & both;
    if (planted(fault::square)) closed = planes[j] & up[j];
    rows[j] &= ~(rows[j] >> 1);
    planes[j] = planes[j] & ~(planes[j] >> 1) & ~onward(planes[j], closed);
    bool at_row = y == 0 || y == v.h - 1, at_plane = z == 0 || z == v.d - 1;
    word sides = at_row != at_plane || at_row && !planted(fault::edges) ? mine[j] : 0;
    if (!planted(fault::edges) || !at_row && !at_plane) {
      if (p.x == 0) sides |= mine[j] & 1;
      if (p.x == v.tx - 1) sides |= mine[j] & 1ull << ((v.w - 1) & 63);
    }
    for (word rest = mine[j]; rest;) {
      word next = rest + (rest & -rest), run = rest & ~next;
      int a = node(bundle, first_of(rest)), b = a;
      rest &= next;
      word c;
      if (sides & run) b = 0;
      else if ((c = rows[j] & run)) b = node_of(bundle - 1, up[j], first_of(c)), rows[j] &= ~(c & -c);
      else if ((c = planes[j] & run)) b = node_of(bundle - 32, back[j], first_of(c)), planes[j] &= ~(c & -c);
      else roots++;
      of.parent[a] = (uint16)b;
    }
  }
  __syncthreads();
  UNROLL for (int j = 0; j < each; j++)
    for (word s = starts_of(mine[j]); s; s &= s - 1) {
      int a = node(j * around_block + t, first_of(s));
      of.parent[a] = of.parent[of.parent[a]];
    }
  __syncthreads();
  queue q{(unsigned *)block_changes + shared_queue(32 * F::ends) + 64 * (t >> 5), of, 0, 0};
  UNROLL for (int j = 0; j < each; j++) {
    int bundle = j * around_block + t;
    links(q, rows[j], bundle, mine[j], 0, bundle - 1, up[j], 0);
    links(q, planes[j], bundle, mine[j], 0, bundle - 32, back[j], 0);
  }
  q.finish();
  __syncthreads();
  close_tile<F, around_block>(of, nodes, first_node<F>((unsigned)block_x()),
                              [&](int bundle) { return v.around(p.z * 32 + (bundle >> 5), p.y * 32 + (bundle & 31), p.x); });
  if (planted(fault::outside) && !t && !block_x()) roots++;
  add_all(out, cavities, roots - q.joined);
}

// What a tile around the set shares with those before it. Of a plane's rows that go on in the
// next tile one warp makes a word.
inlined void background_seams(volume<5> v, unsigned *nodes, int64 *out) {
  typedef faces<5, 5> F;
  place p(v, (unsigned)block_x());
  nodes_of<F, volume<5>> of{v, 5, 5};
  int lane = thread_x() & 31, warp = thread_x() >> 5, warps = threads() >> 5, joined = 0;
  int y0 = p.y * 32, z0 = p.z * 32;
  if (p.x > 0) {
    int each = 32 / warps;
    unsigned behind = 0;
    for (int k = warp * each - 1; k < warp * each + each; k++) {
      int y = y0 + lane, z = z0 + k;
      word mine = v.around(z, y, p.x), before = v.around(z, y, p.x - 1);
      unsigned both = vote(mine & before >> 63 & 1);
      unsigned closed = both & behind;
      // The last of each run of rows, unless one of them has the same behind it.
      unsigned ends = both & ~(both >> 1) & ~(((both + closed) ^ both) & both | closed);
      if (k >= warp * each && ends >> lane & 1)
        joined += unite_nodes(nodes, of.at(z, y, p.x, mine, 0, false), of.at(z, y, p.x - 1, before, 63, true));
      behind = both;
    }
  }
  if (warp == 0 && p.y > 0) { // rows
    int z = z0 + lane;
    word mine = v.around(z, y0, p.x), up = v.around(z, y0 - 1, p.x), both = mine & up;
    for (word c = both & ~(both >> 1); c; c &= c - 1)
      joined += unite_nodes(nodes, of.at(z, y0, p.x, mine, first_of(c), false), of.at(z, y0 - 1, p.x, up, first_of(c), false));
  }
  if (warp == 1 && p.z > 0) { // planes
    int y = y0 + lane;
    word mine = v.around(z0, y, p.x), back = v.around(z0 - 1, y, p.x), both = mine & back;
    word closed = both & v.around(z0, y - 1, p.x) & v.around(z0 - 1, y - 1, p.x);
    for (word c = both & ~(both >> 1) & ~onward(both, closed); c; c &= c - 1)
      joined += unite_nodes(nodes, of.at(z0, y, p.x, mine, first_of(c), false), of.at(z0 - 1, y, p.x, back, first_of(c), false));
  }
  if (planted(fault::twice)) joined *= 2;
  add_all(out, cavities, -joined);
}
