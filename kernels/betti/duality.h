// bits:  rows of 64 voxels, 1024 rows of a tile together
// tile:  P[run] = a previous run that it touches, or itself; then a union for each other link;
//        components = runs − hooks − successful unions
// face:  a node for each run at a face of the tile: the first node of its component
// seam:  unions of the nodes of neighbouring tiles
//
// Components of the set and of the background (doc/betti.md), without labels: only the number of
// links that join two components counts, and it does not depend on their order. The runs of a tile
// are joined in shared memory, with 16-bit parents. A parent is less than its child, so no link is
// counted twice: a root gets a parent by a compare-and-swap, which is counted if it succeeds (Rem's
// algorithm, Dijkstra 1976).
#pragma once
#include "../swap.h"
#include "asked.h"

#ifdef __clang__
#pragma clang diagnostic ignored "-Wbitwise-op-parentheses"
#pragma clang diagnostic ignored "-Wlogical-op-parentheses"
#endif

#ifdef ON_HOST
#define AT_ONCE(threads, blocks)
#else // limits the registers, so that a multiprocessor can hold that many blocks
#define AT_ONCE(threads, blocks) __attribute__((launch_bounds(threads, blocks)))
#endif

// The number of rounds in which runs adopt their grandparents before links are added.
#ifndef FOREGROUND_ROUNDS
#define FOREGROUND_ROUNDS 3
#define BACKGROUND_ROUNDS 1
#endif

extern __shared__ int block_changes[];

typedef unsigned long long word; // 64 voxels of a row, the first one in the lowest bit

inlined int ones(word v) { return __builtin_popcountll(v); }
inlined int first_of(word v) { return __builtin_ctzll(v); }
inlined int runs_of(word v, unsigned before) { return ones(v & ~(v << 1 | before)); }
inlined word starts_of(word v) { return v & ~(v << 1); }
// The start of the run that contains a bit, given the starts of all runs: the last one up to the bit
// in the same half of the word, or else the last one in the lower half.
inlined int start_in(word starts, int bit) {
  unsigned lower = (unsigned)starts, upper = (unsigned)(starts >> 32);
  bool high = bit > 31;
  unsigned before = (high ? upper : lower) & ((2u << (bit & 31)) - 1);
  if (high && !before) before = lower, high = false;
  return (high ? 63 : 31) - __builtin_clz(before);
}
inlined int start_of(word v, int bit) { return start_in(starts_of(v), bit); }
// The bits of each run from its lowest chosen bit on. Chosen bits belong to runs.
template <class W> inlined W onward(W runs, W chosen) { return ((runs + chosen) ^ runs) & runs | chosen; }
inlined word reversed(word v) {
#ifdef __clang__
  return __builtin_bitreverse64(v);
#else
  word to = 0;
  for (int i = 0; i < 64; i++) to |= (v >> i & 1) << (63 - i);
  return to;
#endif
}
// lowest: the lowest chosen bit of each run. whole: all bits of the runs that have a chosen one.
inlined word lowest(word runs, word chosen) { return starts_of(onward(runs, chosen)); }
inlined word whole(word runs, word chosen) {
  word ends = onward(runs, chosen) & runs & ~(runs >> 1);
  return reversed(onward(reversed(runs), reversed(ends)));
}

// A binary image in tiles of 64 voxels × (1024 >> deep) rows × (1 << deep) planes.
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
  // The background inside the box.
  member word around(int z, int y, int i) const {
    if ((unsigned)z >= (unsigned)d || (unsigned)y >= (unsigned)h || (unsigned)i >= (unsigned)tx) return 0;
    int n = w - 64 * i;
    return ~at(z, y, i) & (n < 64 ? (1ull << n) - 1 : ~0ull);
  }
};

// The position of a tile, by its number.
struct place {
  int x, y, z;
  template <class V> member place(const V &v, unsigned tile) {
    unsigned row = tile / (unsigned)v.tx;
    x = (int)(tile - row * (unsigned)v.tx), z = (int)(row / (unsigned)v.ty), y = (int)(row - (unsigned)z * (unsigned)v.ty);
  }
};

// The nodes of a tile: 0 for the outside of the box, and 32 for each bundle of rows, by where runs
// begin. A claimed root holds 65535 − f, where f is the smallest number of a face node of its
// component. This is greater than any node.
enum { claims = 65535 };
inlined int node(int bundle, int start) { return 1 + 32 * bundle + (start >> 1); }

// The parents of a tile's nodes, in shared memory.
struct forest {
  enum { log_pair = 1 };
  volatile uint16 *parent;

  // Replaces the expected parent. It fails if the parent differs or if the other half of its word
  // changes concurrently.
  member bool swap(int at, unsigned expected, unsigned value) const {
    int shift = (at & 1) << 4;
    unsigned address = shared_address(block_changes) + 4 * (at >> log_pair), pair = load_shared(address);
    return (pair >> shift & 0xffff) == expected &&
           compare_swap_shared(address, pair, pair & ~(0xffffu << shift) | value << shift) == pair;
  }
};

// The links of a warp, one per lane, processed in steps of all lanes. A lane that has finished its
// link takes a waiting one. Before finish, a step runs only if at least 32 links wait, so no
// lane is idle in it.
struct queue {
  unsigned *list; // room for 64
  forest of;
  int waiting, joined, a, b; // a = b: the lane is idle

  member void step() {
    int lane = thread_x() & 31;
    unsigned idle = vote(a == b), before = __builtin_popcount(idle & ((1u << lane) - 1)), count = __builtin_popcount(idle);
    if (a == b && (int)before < waiting) {
      unsigned link = list[waiting - 1 - before];
      a = (int)(link >> 16), b = (int)(link & 0xffff);
    }
    waiting = waiting > (int)count ? waiting - (int)count : 0;
    int p = of.parent[a], q = of.parent[b];
    if (p == q) {
      b = a;
    } else {
      int child = p < q ? b : a, over = p < q ? q : p, under = p < q ? p : q;
      b = p < q ? a : b, a = child;
      if (over == child) {
        if (of.swap(child, child, under)) joined++, b = a;
      } else {
        int next = of.parent[over];
        if (next != over) of.parent[child] = (uint16)next;
        a = over;
      }
    }
    sync_warp();
  }
  // Adds a link for each lane with `has`. All lanes call it.
  member void add(bool has, int u, int v) {
    if (has) has = of.parent[u] != of.parent[v];
    unsigned who = vote(has);
    if (has) list[waiting + __builtin_popcount(who & ((1u << (thread_x() & 31)) - 1))] = (unsigned)u << 16 | (unsigned)v;
    waiting += __builtin_popcount(who);
    sync_warp();
    while (waiting >= 32) step();
  }
  member void finish() {
    while (any(waiting > 0 || a != b)) step();
  }
};

// The nodes of a tile's faces: for the runs of bundles in its first and last planes, then for those
// in its first and last rows, and for the runs at the start and end of its other rows. A flat tile
// has no neighbours in front and behind.
template <int log_rows, int log_planes> struct faces {
  enum {
    rows = 1 << log_rows, planes = 1 << log_planes, flat = log_planes == 0,
    in_planes = flat ? 0 : 2 * 32 * rows, in_rows = 2 * 32 * planes, ends = rows * planes, count = in_planes + in_rows + 2 * ends
  };
  // The node of a run in row y of plane z. In an inner row, end selects the run at the end of the
  // row.
  member static int of(int z, int y, int start, bool end) {
    if (!flat && (z == 0 || z == planes - 1)) return ((z ? rows : 0) + y) * 32 + (start >> 1);
    if (y == 0 || y == rows - 1) return in_planes + ((y ? planes : 0) + z) * 32 + (start >> 1);
    return in_planes + in_rows + (end ? ends : 0) + z * rows + y;
  }
  // The bundle of 32 consecutive nodes, for the first and last planes and rows.
  member static int bundle_of(int row) {
    if (32 * row < in_planes) return row < rows ? row : ends - 2 * rows + row;
    row -= in_planes / 32;
    return row < planes ? row << log_rows : (row - planes) << log_rows | (rows - 1);
  }
  // The bundle of a node at an end of a row, and the bit where its run begins, or −1.
  template <class Any> member static int begin(int f, int &bundle, const Any &any) {
    f -= in_planes + in_rows;
    bool end = f >= ends;
    bundle = f & (ends - 1);
    word v = any(bundle);
    return !(v >> (end ? 63 : 0) & 1) ? -1 : end ? start_of(v, 63) : 0;
  }
};

// any() under a name that no parameter hides.
inlined bool warp_any(bool b) { return any(b); }

// Whether b is true in any thread of the block. All threads call it.
inlined bool any_of_block(bool b) {
#ifdef ON_HOST
  static __shared__ int said;
  if (!thread_x()) said = 0;
  __syncthreads();
  if (b) said = 1;
  __syncthreads();
  bool so = said;
  __syncthreads();
  return so;
#else
  return __nvvm_bar0_or(b);
#endif
}

// The first node of a tile's faces.
template <class F> inlined unsigned first_node(unsigned tile) {
  unsigned n = tile * F::count;
  if (planted(fault::narrow)) n = (uint16)n;
  return 1 + n;
}

// For each lane with `has`: claims the root of node a for a number, unless a smaller number has
// claimed it, and sets the parent of the node to the root. All lanes call it.
inlined void claim_root(forest of, bool has, int a, unsigned number) {
  int from = a;
  unsigned p = 0, value = claims - number;
  // Lanes climb together; otherwise few of them would be active at a time.
  for (bool up = has; warp_any(up);) {
    if (up && ((p = of.parent[a]) == (unsigned)a || p > 32768)) up = false;
    else if (up) a = (int)p;
  }
  if (has && a != from) of.parent[from] = (uint16)a;
  for (bool open = has && a > 0; warp_any(open);) {
    if (open) open = (p = of.parent[a]) < value && !of.swap(a, p, value);
  }
}
// The face node that has claimed the root of node a, or 0 for the outside.
inlined unsigned claimed(forest of, unsigned base, int a) {
  unsigned p = of.parent[a];
  // claim_root has set the parent to the root.
  if (p && p <= 32768) p = of.parent[p];
  return p ? base + claims - p : 0;
}

// Writes the parents of the nodes of a tile's faces: the nodes of one component point to its first
// one. The tile's nodes begin at base. Nodes connected with the outside get parent 0. A thread
// handles the runs that begin in sixteen bits of a row, and then the ends of rows.
template <class F, int block, class Any> inlined void close_tile(forest of, unsigned *nodes, unsigned base, const Any &any) {
  enum { slots = 8, in_rows = F::in_planes + F::in_rows, threads_of_rows = in_rows / slots, each = 2 * F::ends / block };
  static_assert(threads_of_rows <= block && 2 * F::ends % block == 0, "");
  int t = thread_x(), row = t * slots >> 5, first = t * slots & 31, bundle = 0;
  unsigned begins = 0; // in sixteen bits
  if (t < threads_of_rows) {
    bundle = F::bundle_of(row);
    begins = (unsigned)(starts_of(any(bundle)) >> 2 * first) & 0xffff;
  }
  for (unsigned rest = begins; warp_any(rest != 0); rest &= rest - 1) {
    int bit = rest ? __builtin_ctz(rest) : 0;
    claim_root(of, rest != 0, node(bundle, 2 * first + bit), t * slots + (bit >> 1));
  }
  int a[each]; // the nodes at ends, or 0
  NOT_UNROLLED for (int j = 0; j < each; j++) {
    int f = in_rows + j * block + t, at = 0, begin = F::begin(f, at, any);
    a[j] = begin < 0 ? 0 : node(at, begin);
    claim_root(of, a[j] > 0, a[j], f);
  }
  __syncthreads();
  for (; begins; begins &= begins - 1) {
    int bit = __builtin_ctz(begins);
    nodes[base + t * slots + (bit >> 1)] = claimed(of, base, node(bundle, 2 * first + bit));
  }
  NOT_UNROLLED for (int j = 0; j < each; j++)
    if (a[j]) nodes[base + in_rows + j * block + t] = claimed(of, base, a[j]);
}

// The same for a full tile, which has one run per row and one component, with the given root.
template <class F> inlined void close_full_tile(unsigned *nodes, unsigned base, unsigned root) {
  const int before = F::in_planes + F::in_rows, rows = before / 32;
  for (int i = thread_x(); i < rows + 2 * F::ends; i += threads()) nodes[base + (i < rows ? 32 * i : before + i - rows)] = root;
}

// The same for a bundle that is a single run.
template <class F> inlined void close_whole(forest of, unsigned *nodes, unsigned base, int z, int y, int a) {
  unsigned to = claimed(of, base, a);
  int begin = F::of(z, y, 0, false), end = F::of(z, y, 0, true);
  nodes[base + begin] = to;
  if (end != begin) nodes[base + end] = to;
}

inlined unsigned swap_parent(volatile unsigned *parent, unsigned a, unsigned expected, unsigned v) {
  return compare_swap_global((unsigned *)parent + a, expected, v);
}
inlined void set_parent(volatile unsigned *parent, unsigned a, unsigned v) { parent[a] = v; }

// Joins two nodes. Returns whether they were separate.
template <class P> inlined bool unite_nodes(P parent, unsigned a, unsigned b) {
  for (;;) {
    unsigned p = parent[a], q = parent[b];
    if (p == q) return false;
    if (p < q) {
      unsigned t = a;
      a = b, b = t, t = p, p = q, q = t;
    }
    if (a == p) {
      if (swap_parent(parent, a, a, q) == a) return true;
      continue;
    }
    unsigned over = parent[p];
    if (over != p) set_parent(parent, a, over);
    a = p;
  }
}

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

// The rows of 64 voxels that a warp packs.
template <int deep> struct packed_rows {
  enum { each = 32, groups = volume<deep>::rows / each };
  int x, y, z;
  bool any;
  member packed_rows(const volume<deep> &v) {
    unsigned item = (unsigned)block_x() * (unsigned)(threads() >> 5) + (unsigned)(thread_x() >> 5);
    unsigned row = item / (unsigned)v.tx, plane = row / (unsigned)(v.ty * groups);
    x = (int)(item - row * (unsigned)v.tx);
    y = (int)(row - plane * (unsigned)(v.ty * groups)) * each, z = (int)plane;
    any = z < v.tz << deep;
  }
};

// Each warp packs 32 rows of 64 voxels: a bit is set for a voxel in the set.
template <int deep, class T, class L> inlined void pack(asked<T, L> of, int w, int h, int d, word *bits) {
  volume<deep> v(bits, w, h, d);
  packed_rows<deep> at(v);
  if (!at.any) return;
  const int ahead = 8;
  int lane = thread_x() & 31, x = 64 * at.x + lane;
  const T *p = of.images + of.begin + ((int64)at.z * h + at.y) * w + x;
  word mine = 0;
  NOT_UNROLLED for (int i = 0; i < at.each; i += ahead) {
    T low[ahead] = {}, high[ahead] = {};
    UNROLL for (int j = 0; j < ahead; j++) {
      bool in = at.z < d && at.y + i + j < h;
      if (in && x < w) low[j] = p[(int64)(i + j) * w];
      if (in && x + 32 < w) high[j] = p[(int64)(i + j) * w + 32];
    }
    UNROLL for (int j = 0; j < ahead; j++) {
      bool in = at.z < d && at.y + i + j < h;
      word all = (word)vote(in && x + 32 < w && of.has(high[j])) << 32 | vote(in && x < w && of.has(low[j]));
      if (lane == i + j) mine = all;
    }
  }
  bits[v.tile(at.z, at.y, at.x) << 10 | v.in_tile(at.z, at.y + lane)] = mine;
}

// The highest bit of each of four bytes of v that is not above the limit. low is the limit's lower
// seven bits in each byte, with the highest bit set; high is the limit's highest bit.
inlined unsigned bytes_within(unsigned v, unsigned low, unsigned high) {
  const unsigned tops = 0x80808080;
  unsigned within = low - (v & ~tops);
  return (within & (~v | high) | ~v & high) & tops;
}
// Sixteen bits, from four words of a lane.
inlined unsigned bits_within(const unsigned (&v)[4], unsigned low, unsigned high) {
  unsigned all = 0;
  UNROLL for (int i = 0; i < 4; i++) all |= ((bytes_within(v[i], low, high) >> 7) * 0x01020408u >> 24 & 15) << 4 * i;
  return all;
}

// The same for uint8, with sixteen voxels per lane. Rows may begin anywhere: a lane reads the
// aligned sixteen bytes around its first byte, and the next sixteen unless its first byte is
// aligned.
template <int deep> inlined void pack(asked<uint8, int> of, int w, int h, int d, word *bits) {
  volume<deep> v(bits, w, h, d);
  packed_rows<deep> at(v);
  if (!at.any) return;
  const int ahead = 4, rows = 8; // loads of a lane, and rows that a warp loads at a time
  int lane = thread_x() & 31, x = 64 * at.x + 16 * (lane & 3), left = w - x;
  unsigned low = (unsigned)(of.limit & 0x7f) * 0x01010101u | 0x80808080u, high = of.limit > 0x7f ? 0x80808080u : 0;
  unsigned kept = left >= 16 ? 0xffff : left > 0 ? (1u << left) - 1 : 0;
  if (at.z >= d) kept = 0;
  unsigned within = of.limit < 0 ? 0 : kept, other = of.above ? kept : 0;
  int64 first = of.begin + ((int64)at.z * h + at.y + (lane >> 2)) * w + x;
  unsigned a[ahead][4], b[ahead][4];
  int off[ahead];
  UNROLL for (int j = 0; j < ahead; j++) {
    int64 p = first + (int64)j * rows * w;
    bool in = kept && at.y + (lane >> 2) + j * rows < h;
    off[j] = in ? (int)(p & 15) : -1;
    UNROLL for (int i = 0; i < 4; i++) a[j][i] = b[j][i] = 0;
    load_if(in, a[j], of.images + (p & ~15ll));
    load_if(in && off[j] && (p | 15) + 1 < of.end, b[j], of.images + (p | 15) + 1);
  }
  UNROLL for (int j = 0; j < ahead; j++) {
    unsigned mine = 0;
    if (off[j] >= 0) {
      mine = bits_within(a[j], low, high);
      if (off[j]) mine = (mine | bits_within(b[j], low, high) << 16) >> off[j];
      mine = mine & within ^ other;
    }
    mine |= from_lane(mine, lane ^ 1) << 16; // for even lanes
    unsigned upper = from_lane(mine, lane ^ 2);
    if (!(lane & 3)) bits[v.tile(at.z, at.y, at.x) << 10 | v.in_tile(at.z, at.y + (lane >> 2) + j * rows)] = (word)upper << 32 | mine;
  }
}

// The links of two bundles whose facing rows are p and q, one per bit. both: the runs of a and b
// that contain the bit. after: a's run at the bit, and b's run that ends one bit before it. before:
// the reverse.
template <class W> struct meeting {
  W both, after, before;
  member meeting() : both(0), after(0), before(0) {}
  member meeting(W a, W b, W p, W q, unsigned p_last, unsigned q_last, W closed, bool corners) {
    W facing = p & q, touching = facing;
    after = before = 0;
    if (corners) {
      W one = p & (q << 1 | q_last), other = q & (p << 1 | p_last), covered = facing << 1 | (p_last & q_last);
      touching |= one & b | other & a;
      after = one & ~b & ~covered, before = other & ~a & ~covered;
    }
    both = a & b;
    both = both & ~(both >> 1) & onward(both, touching) & ~onward(both, closed & both);
  }
  // Drops the links to the previous column of tiles.
  member void keep() { after &= ~(W)1, before &= ~(W)1; }
  member void drop() { both = after = before = 0; }
};

// The rows around a bundle of two rows in two planes, which is at [2..3][2..3]. If each row is full
// or empty, W may be a word with one bit per row.
template <int deep, class W = word> struct rows_around {
  W at[4][4];
  unsigned last[4][4]; // the bits before the first one
  member rows_around(const rows_around<deep> &rows) {
    UNROLL for (int a = 0; a < 4; a++)
      UNROLL for (int b = 0; b < 4; b++) at[a][b] = (W)(rows.at[a][b] & 1), last[a][b] = rows.last[a][b];
  }
  member rows_around(const volume<deep> &v, int z, int y, int i) {
    UNROLL for (int a = 0; a < 4; a += 2)
      UNROLL for (int b = 0; b < 4; b += 2) {
        bool in = z + a >= 2 && y + b >= 2;
        const word *p = v.bits + (v.tile(z + a - 2, y + b - 2, i) << 10 | v.in_tile(z + a - 2, y + b - 2));
        UNROLL for (int dz = 0; dz < 2; dz++)
          UNROLL for (int dy = 0; dy < 2; dy++) {
            at[a + dz][b + dy] = in ? p[(dz << volume<deep>::log_rows) + dy] : 0;
            last[a + dz][b + dy] = in && i ? (unsigned)(p[(dz << volume<deep>::log_rows) + dy - 1024] >> 63) : 0;
          }
      }
  }
  member W any(int z, int y) const { return at[z][y] | at[z][y + 1] | at[z + 1][y] | at[z + 1][y + 1]; }
  member unsigned any_last(int z, int y) const { return last[z][y] | last[z][y + 1] | last[z + 1][y] | last[z + 1][y + 1]; }

  // Four meetings: of the bundle with the one above, with the one behind, and with the one above
  // and behind; and of the one above with the one behind. A link is skipped where other links close
  // a cycle with it (doc/betti.md).
  member void meet(meeting<W> (&m)[4]) const {
    W down = at[2][2] | at[3][2], up = at[2][1] | at[3][1], front = at[2][2] | at[2][3], back = at[1][2] | at[1][3];
    unsigned down_last = last[2][2] | last[3][2], up_last = last[2][1] | last[3][1];
    unsigned front_last = last[2][2] | last[2][3], back_last = last[1][2] | last[1][3];
    W row = down & up, row_behind = (at[0][2] | at[1][2]) & (at[0][1] | at[1][1]);
    W plane = front & back, plane_above = (at[2][0] | at[2][1]) & (at[1][0] | at[1][1]);
    W mine = any(2, 2), above = any(2, 0), behind = any(0, 2), both = any(0, 0);
    bool corners = !planted(fault::eighteen);
    W closed = row & row_behind & plane_above;
    if (planted(fault::square)) closed = row & plane_above;
    m[0] = meeting<W>(mine, above, down, up, down_last, up_last, 0, true);
    m[1] = meeting<W>(mine, behind, front, back, front_last, back_last, closed, true);
    m[2] = meeting<W>(mine, both, at[2][2], at[1][1], last[2][2], last[1][1], row & plane_above | plane & row_behind, corners);
    m[3] = meeting<W>(above, behind, at[2][1], at[1][2], last[2][1], last[1][2], row & plane | plane_above & row_behind, corners);
  }
  // The contribution of this column of words to χ. Along a row in x, cells that do not span x
  // outnumber the others by one per run.
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

// The node of the run that contains a bit.
inlined int node_of(int bundle, word any, int bit) { return node(bundle, start_of(any, bit)); }

// Adds a link for each bit of a word: between the runs of bundles a and b that contain the bit
// minus before_a or before_b, given where their runs begin.
inlined void links(queue &q, word bits, int a, word starts_a, int before_a, int b, word starts_b, int before_b) {
  while (any(bits != 0)) {
    int u = 0, v = 0;
    bool has = bits != 0;
    if (has) {
      int bit = first_of(bits);
      u = node(a, start_in(starts_a, bit - before_a)), v = node(b, start_in(starts_b, bit - before_b));
      bits &= bits - 1;
    }
    q.add(has, u, v);
  }
}

inlined int shared_queue(int nodes) { return (nodes + 4) / 2; } // where the queues begin, in words

// A tile of the set, with one bundle of 2 × 2 rows per thread.
template <int deep> inlined void foreground_tile(volume<deep> v, unsigned *nodes, int64 *out) {
  typedef faces<volume<deep>::log_rows - 1, deep - 1> F;
  place p(v, (unsigned)block_x());
  int t = thread_x(), r = t & (F::rows - 1), k = t >> (volume<deep>::log_rows - 1);
  int y = p.y * v.rows + 2 * r, z = p.z * v.planes + 2 * k;
  rows_around<deep> rows(v, z, y, p.x);
  int chi = rows.characteristic(z, y, v.h, v.d);
  // Full and empty tiles are quick, and so are tiles whose rows are all full or empty.
  word row = v.w - 64 * p.x < 64 ? (1ull << (v.w - 64 * p.x)) - 1 : ~0ull, part = 0;
  UNROLL for (int dz = 2; dz < 4; dz++)
    UNROLL for (int dy = 2; dy < 4; dy++) part |= rows.at[dz][dy] ^ (rows.at[dz][dy] & 1 ? row : 0);
  bool some = any_of_block(rows.any(2, 2) != 0), full = some && !any_of_block(~(rows.at[2][2] & rows.at[2][3] & rows.at[3][2] & rows.at[3][3]) != 0);
  if (!some || full) {
    unsigned base = first_node<F>((unsigned)block_x());
    if (full) close_full_tile<F>(nodes, base, base);
    add_all(out, components, full && !t && !planted(fault::full));
    add_all(out, characteristic, chi);
    return;
  }
  auto within = [&](auto (&m)[4]) { // drops the links to other tiles
    UNROLL for (int i = 0; i < 4; i++) m[i].keep();
    if (!r) m[0].drop();
    if (!k) m[1].drop();
    if (!r || !k) m[2].drop(), m[3].drop();
  };
  forest of{(volatile uint16 *)block_changes};
  queue q{(unsigned *)block_changes + shared_queue(32 * F::ends) + 64 * (t >> 5), of, 0, 0, 0, 0};
  int roots = 0;
  const int to_above = t - 1, to_behind = t - F::rows, to_both = t - F::rows - 1;
  if (!any_of_block(part != 0)) {
    meeting<unsigned> m[4];
    rows_around<deep, unsigned> whole_rows(rows);
    whole_rows.meet(m);
    within(m);
    int a = node(t, 0), b = a;
    bool mine = whole_rows.any(2, 2);
    if (mine) {
      if (m[0].both) b = node(to_above, 0), m[0].both = 0;
      else if (m[1].both) b = node(to_behind, 0), m[1].both = 0;
      else if (m[2].both) b = node(to_both, 0), m[2].both = 0;
      else roots++;
      of.parent[a] = (uint16)b;
    }
    __syncthreads();
    NOT_UNROLLED for (int round = 0; round < FOREGROUND_ROUNDS; round++)
      if (mine) of.parent[a] = of.parent[of.parent[a]];
    __syncthreads();
    unsigned links = m[1].both | m[2].both << 1 | m[3].both << 2; // the first link upward is already the run's parent
    NOT_UNROLLED for (int i = 0; i < 3; i++)
      q.add(links >> i & 1 && !planted(fault::whole), i < 2 ? a : node(to_above, 0), node(i == 1 ? to_both : to_behind, 0));
    q.finish();
    __syncthreads();
    unsigned base = first_node<F>((unsigned)block_x());
    claim_root(of, mine, a, F::of(k, r, 0, false));
    __syncthreads();
    if (mine) close_whole<F>(of, nodes, base, k, r, a);
    add_all(out, components, roots - q.joined);
    add_all(out, characteristic, chi);
    return;
  }
  meeting<word> m[4];
  rows.meet(m);
  within(m);
  word mine = rows.any(2, 2), above = rows.any(2, 0), behind = rows.any(0, 2), both = rows.any(0, 0);

  for (word rest = mine; rest;) {
    word next = rest + (rest & -rest), run = rest & ~next;
    int a = node(t, first_of(rest)), b = a;
    rest &= next;
    word c = m[0].both & run;
    if (c) b = node_of(to_above, above, first_of(c)), m[0].both &= ~(c & -c);
    else if ((c = m[1].both & run)) b = node_of(to_behind, behind, first_of(c)), m[1].both &= ~(c & -c);
    else if ((c = m[2].both & run)) b = node_of(to_both, both, first_of(c)), m[2].both &= ~(c & -c);
    else roots++;
    of.parent[a] = (uint16)b;
  }
  __syncthreads();
  NOT_UNROLLED for (int round = 0; round < FOREGROUND_ROUNDS; round++)
    for (word s = starts_of(mine); s; s &= s - 1) {
      int a = node(t, first_of(s));
      of.parent[a] = of.parent[of.parent[a]];
    }
  __syncthreads();
  // One loop for all links: unrolled code would not fit the instruction cache.
  word bits[12], starts_a[4] = {starts_of(mine), starts_of(mine), starts_of(mine), starts_of(above)};
  word starts_b[4] = {starts_of(above), starts_of(behind), starts_of(both), starts_of(behind)};
  int of_a[4] = {t, t, t, to_above}, of_b[4] = {to_above, to_behind, to_both, to_behind};
  UNROLL for (int i = 0; i < 4; i++) bits[3 * i] = m[i].both, bits[3 * i + 1] = m[i].after, bits[3 * i + 2] = m[i].before;
  NOT_UNROLLED for (int i = 0; i < 12; i++) {
    int side = i / 3, which = i - 3 * side;
    links(q, bits[i], of_a[side], starts_a[side], which == 2, of_b[side], starts_b[side], which == 1);
  }
  q.finish();
  __syncthreads();
  const word *rows_of = v.bits + ((int64)block_x() << 10);
  auto any_of = [&](int bundle) {
    const word *p = rows_of + ((bundle >> (volume<deep>::log_rows - 1)) << (volume<deep>::log_rows + 1) | (bundle & (F::rows - 1)) << 1);
    return p[0] | p[1] | p[volume<deep>::rows] | p[volume<deep>::rows + 1];
  };
  close_tile<F, F::ends>(of, nodes, first_node<F>((unsigned)block_x()), any_of);
  add_all(out, components, roots - q.joined);
  add_all(out, characteristic, chi);
}

// The face nodes of the runs of an image's bundles.
template <class F, class V> struct nodes_of {
  const V &v;
  int log_rows, log_planes; // of a tile's bundles
  member unsigned at(int k, int r, int i, word any, int bit, bool end) const { return starting(k, r, i, start_of(any, bit), end); }
  member unsigned starting(int k, int r, int i, int start, bool end) const {
    unsigned tile = ((unsigned)(k >> log_planes) * (unsigned)v.ty + (unsigned)(r >> log_rows)) * (unsigned)v.tx + (unsigned)i;
    return first_node<F>(tile) + F::of(k & (F::planes - 1), r & (F::rows - 1), start, end);
  }
};

// Pairs of nodes that the threads of a block join together. They are collected in shared memory,
// and are joined at once if there is no room left.
struct pairs {
  enum { most = 2000 };
  unsigned *nodes;
  int joined;

  member pairs(unsigned *nodes) : nodes(nodes), joined(0) {
    if (!thread_x()) block_changes[0] = 0;
    __syncthreads();
  }
  member void add(unsigned a, unsigned b) {
    unsigned n = fetch_add_shared(shared_address(block_changes), 1);
    if (n >= most) joined += unite_nodes((volatile unsigned *)nodes, a, b);
    else block_changes[2 * n + 1] = (int)a, block_changes[2 * n + 2] = (int)b;
  }
  member void finish() {
    __syncthreads();
    int n = block_changes[0] < most ? block_changes[0] : most;
    for (int i = thread_x(); i < n; i += threads())
      joined += unite_nodes((volatile unsigned *)nodes, (unsigned)block_changes[2 * i + 1], (unsigned)block_changes[2 * i + 2]);
  }
};

// The links between tiles of the set, for the bundles of a tile.
template <int deep> struct set_seams {
  typedef faces<volume<deep>::log_rows - 1, deep - 1> F;
  const volume<deep> &v;
  pairs &to;
  int i; // the column of tiles

  member unsigned node_in(int k, int r, int i, int start, bool end) const {
    nodes_of<F, volume<deep>> of{v, volume<deep>::log_rows - 1, deep - 1};
    return of.starting(k, r, i, start, end);
  }
  // The node of the run at the end of the previous column.
  member unsigned node_before(int k, int r) const {
    int y = 2 * r, z = 2 * k;
    return node_in(k, r, i - 1, start_of(v.at(z, y, i - 1) | v.at(z, y + 1, i - 1) | v.at(z + 1, y, i - 1) | v.at(z + 1, y + 1, i - 1), 63), true);
  }
  // Joins a bundle with those above and behind it in other tiles of this column.
  member void beside(int k, int r, bool rows_too, bool planes_too) const {
    rows_around<deep> rows(v, 2 * k, 2 * r, i);
    meeting<word> m[4];
    rows.meet(m);
    UNROLL for (int side = 0; side < 4; side++) m[side].keep();
    if (!rows_too) m[0].drop();
    if (!planes_too) m[1].drop();
    word mine = starts_of(rows.any(2, 2)), above = starts_of(rows.any(2, 0)), behind = starts_of(rows.any(0, 2)), both = starts_of(rows.any(0, 0));
    NOT_UNROLLED for (int side = 0; side < 4; side++) {
      int ay = side == 3 ? -1 : 0, bz = side ? -1 : 0, by = side == 0 || side == 2 ? -1 : 0;
      word starts_a = side == 3 ? above : mine, starts_b = side == 0 ? above : side == 2 ? both : behind;
      for (word c = m[side].both | m[side].after | m[side].before; c; c &= c - 1) {
        int bit = first_of(c);
        auto join = [&](int before_a, int before_b) {
          to.add(node_in(k, r + ay, i, start_in(starts_a, bit - before_a), false), node_in(k + bz, r + by, i, start_in(starts_b, bit - before_b), false));
        };
        if (m[side].both >> bit & 1) join(0, 0);
        if (m[side].after >> bit & 1) join(0, 1);
        if (m[side].before >> bit & 1) join(1, 0);
      }
    }
  }
  // Joins a bundle of this column of tiles, and the one above it, with those of the previous
  // column. Only the first bit of each row and the last bit of each row of the previous column
  // matter.
  member void across(int k, int r) const {
    const int rows = 1 << volume<deep>::log_rows;
    unsigned first = 0, last = 0; // one bit for each of 4 × 4 rows
    UNROLL for (int a = 0; a < 4; a += 2)
      UNROLL for (int b = 0; b < 4; b += 2) {
        int z = 2 * k + a - 2, y = 2 * r + b - 2;
        if (z < 0 || y < 0) continue;
        const word *p = v.bits + (v.tile(z, y, i) << 10 | v.in_tile(z, y));
        UNROLL for (int dz = 0; dz < 2; dz++)
          UNROLL for (int dy = 0; dy < 2; dy++) {
            int n = 4 * (a + dz) + b + dy;
            first |= (unsigned)(p[dz * rows + dy] & 1) << n, last |= (unsigned)(p[dz * rows + dy - 1024] >> 63) << n;
          }
      }
    // The rows of each bundle; below, the ones facing another bundle.
    const unsigned mine = 0xcc00, above = 0x3300, behind = 0x00cc, both = 0x0033;
    auto side = [&](unsigned a, unsigned p, unsigned b, unsigned q, int ay, int bz, int by, bool corners) {
      bool p_first = first & p, q_first = first & q, p_last = last & p, q_last = last & q;
      if (!corners) return;
      if (p_first && q_last && !(first & b) && !p_last) to.add(node_in(k, r + ay, i, 0, false), node_before(k + bz, r + by));
      if (q_first && p_last && !(first & a) && !q_last) to.add(node_before(k, r + ay), node_in(k + bz, r + by, i, 0, false));
    };
    const unsigned down = 0x4400, up = 0x2200, front = 0x0c00, back = 0x00c0;
    bool corners = !planted(fault::eighteen);
    side(mine, down, above, up, 0, 0, -1, true);
    side(mine, front, behind, back, 0, -1, 0, true);
    side(mine, 0x0400, both, 0x0020, 0, -1, -1, corners);
    side(above, 0x0200, behind, 0x0040, -1, -1, 0, corners);
    // A run that continues into the previous column, unless a run above or behind also does and
    // touches it on both sides.
    bool with_above = first & down && first & up && last & down && last & up;
    bool with_behind = first & front && first & back && last & front && last & back;
    if (first & mine && last & mine && !with_above && !with_behind && !planted(fault::end)) to.add(node_in(k, r, i, 0, false), node_before(k, r));
  }
};

// Joins a tile of the set with those before it: the bundles of its first rows and planes, then all
// bundles with the previous column of tiles.
template <int deep> inlined void foreground_seams(volume<deep> v, unsigned *nodes, int64 *out) {
  typedef faces<volume<deep>::log_rows - 1, deep - 1> F;
  place p(v, (unsigned)block_x());
  pairs to(nodes);
  set_seams<deep> of{v, to, p.x};
  int first_r = p.y << (volume<deep>::log_rows - 1), first_k = p.z << (deep - 1);
  const int ends = F::rows + F::planes - 1, ends_of_warps = (ends + 31) / 32 * 32;
  for (int n = thread_x(); n < ends_of_warps + F::ends && !planted(fault::seam); n += threads()) {
    int t = n - ends_of_warps;
    if (t >= 0 && p.x > 0) of.across(first_k + (t >> (volume<deep>::log_rows - 1)), first_r + (t & (F::rows - 1)));
    if (n >= ends || !(p.y > 0 || p.z > 0)) continue;
    int r = n < F::rows ? n : 0, k = n < F::rows ? 0 : n - F::rows + 1;
    of.beside(first_k + k, first_r + r, !r, !k);
  }
  to.finish();
  add_all(out, components, -to.joined);
}

// A tile of the background in which each row is full or empty. A plane is a word of 32 bits, one
// per row, and a warp handles two planes. A run of such a word has the node of its first row.
const int around_block = 512;
template <class F, class Row> inlined void background_of_planes(forest of, queue &q, unsigned base, unsigned *nodes, int &roots, const Row &row_at) {
  const int each = 1024 / around_block, warps = around_block / 32, rounds = 3;
  int lane = thread_x() & 31, warp = thread_x() >> 5;
  const unsigned bit = 1u << lane, last_row = 1u << 31;
  unsigned plane[each], links = 0, ends = 0; // links and ends have one bit per plane
  int mine[each], other[each];               // nodes of runs: of this row, and of the row behind it
  NOT_UNROLLED for (int j = 0; j < each; j++) {
    int z = j * warps + warp;
    bool side = false, not_used;
    unsigned cur = vote(row_at(z, lane, side)), sides = vote(side), back = z ? vote(row_at(z - 1, lane, not_used)) : 0;
    auto begin = [&](unsigned v) { return 31 - __builtin_clz(v & ~(v << 1) & (bit | (bit - 1)) | 1); };
    int s = begin(cur), s_back = begin(back);
    unsigned run = cur & ~(cur + (1u << s)), both = cur & back, meets = both & ~(both << 1) & run;
    plane[j] = cur, mine[j] = node(32 * z + s, 0), other[j] = node(32 * z - 32 + s_back, 0);
    // The parent of a run is the outside, the first run behind that it meets, or itself.
    if (cur & bit && s == lane) ends |= 1u << j;
    bool hooks = !(run & sides) && meets;
    int first = __builtin_ctz(meets | last_row), to = node(32 * z - 32 + (31 - __builtin_clz(back & ~(back << 1) & (2u << first) - 1 | 1)), 0);
    if (ends >> j & 1) {
      of.parent[mine[j]] = (uint16)(run & sides ? 0 : hooks ? to : mine[j]);
      if (!(run & sides) && !hooks) roots++;
    }
    if (cur & meets & bit && !(hooks && first == lane)) links |= 1u << j;
  }
  __syncthreads();
  NOT_UNROLLED for (int j = 0; j < each * rounds; j++)
    if (int k = j & (each - 1); ends >> k & 1) of.parent[mine[k]] = of.parent[of.parent[mine[k]]];
  __syncthreads();
  NOT_UNROLLED for (int j = 0; j < each; j++) q.add(links >> j & 1 && !planted(fault::whole), mine[j], other[j]);
  q.finish();
  __syncthreads();
  // The smallest node number of a run is that of its first row, or that of the tile's last row.
  NOT_UNROLLED for (int j = 0; j < each; j++) {
    int z = j * warps + warp, begin = F::of(z, lane, 0, false), last = F::of(z, 31, 0, false);
    bool long_one = plane[j] + bit < plane[j] ; // the run from this row on reaches the tile's last row
    claim_root(of, ends >> j & 1, mine[j], long_one && last < begin ? last : begin);
  }
  __syncthreads();
  NOT_UNROLLED for (int j = 0; j < each; j++)
    if (plane[j] & bit) close_whole<F>(of, nodes, base, j * warps + warp, lane, mine[j]);
}

// A tile of the background, with two rows per thread. Bit 0 of ends: the image continues before its
// first plane; bit 1: after its last one.
inlined void background_tile(volume<5> v, int ends, unsigned *nodes, int64 *out) {
  typedef faces<5, 5> F;
  const int each = 1024 / around_block;
  if (planted(fault::cut)) ends = 0;
  place p(v, (unsigned)block_x());
  int t = thread_x(), roots = 0;
  forest of{(volatile uint16 *)block_changes};
  if (!t) of.parent[0] = 0;
  if (!t && !block_x()) nodes[0] = 0;
  // Full and empty tiles are quick, and so are tiles whose rows are all full or empty.
  word all = ~0ull, some = 0, part = 0, row = v.w - 64 * p.x < 64 ? (1ull << (v.w - 64 * p.x)) - 1 : ~0ull;
  UNROLL for (int j = 0; j < each; j++) {
    int bundle = j * around_block + t;
    word mine = v.around(p.z * 32 + (bundle >> 5), p.y * 32 + (bundle & 31), p.x);
    all &= mine, some |= mine, part |= mine ^ (mine & 1 ? row : 0);
  }
  if (!any_of_block(some != 0)) return;
  if (!any_of_block(~all != 0)) {
    unsigned base = first_node<F>((unsigned)block_x());
    bool side = !p.x || !p.y || p.x == v.tx - 1 || p.y == v.ty - 1 || !p.z && !(ends & 1) || p.z == v.tz - 1 && !(ends & 2);
    close_full_tile<F>(nodes, base, side ? 0 : base);
    add_all(out, cavities, !side && !t && !planted(fault::full));
    return;
  }
  queue q{(unsigned *)block_changes + shared_queue(32 * F::ends) + 64 * (t >> 5), of, 0, 0, 0, 0};
  // The bits of a row that are next to the outside.
  auto sides_of = [&](word mine, int y, int z) {
    bool at_row = y == 0 || y == v.h - 1, at_plane = z == 0 && !(ends & 1) || z == v.d - 1 && !(ends & 2);
    word sides = at_row != at_plane || at_row && !planted(fault::edges) ? mine : 0;
    if (!planted(fault::edges) || !at_row && !at_plane) {
      if (p.x == 0) sides |= mine & 1;
      if (p.x == v.tx - 1) sides |= mine & 1ull << ((v.w - 1) & 63);
    }
    return sides;
  };
  if (!any_of_block(part != 0)) {
    background_of_planes<F>(of, q, first_node<F>((unsigned)block_x()), nodes, roots, [&](int z, int y, bool &side) {
      word mine = v.around(p.z * 32 + z, p.y * 32 + y, p.x);
      side = sides_of(mine, p.y * 32 + y, p.z * 32 + z) != 0;
      return mine != 0;
    });
    add_all(out, cavities, roots - q.joined);
    return;
  }
  word bits[2 * each], starts[each], starts_b[2 * each]; // by row, then by plane
  NOT_UNROLLED for (int j = 0; j < each; j++) {
    int bundle = j * around_block + t, ly = bundle & 31, lz = bundle >> 5, y = p.y * 32 + ly, z = p.z * 32 + lz;
    word mine = v.around(z, y, p.x), up = ly ? v.around(z, y - 1, p.x) : 0, back = lz ? v.around(z - 1, y, p.x) : 0;
    word rows = mine & up, planes = mine & back, closed = planes & up & (ly && lz ? v.around(z - 1, y - 1, p.x) : 0);
    if (planted(fault::square)) closed = planes & up;
    rows &= ~(rows >> 1);
    planes = planes & ~(planes >> 1) & ~onward(planes, closed);
    word sides = sides_of(mine, y, z);
    starts[j] = starts_of(mine), starts_b[2 * j] = starts_of(up), starts_b[2 * j + 1] = starts_of(back);
    // The parent of a run is the first of: the outside, a run of the previous row, a run of the
    // previous plane, or itself.
    auto hook = [&](word from, int to, word starts_to) {
      for (; from; from &= from - 1) {
        int bit = first_of(from);
        of.parent[node(bundle, start_in(starts[j], bit))] = (uint16)node(to, start_in(starts_to, bit));
      }
    };
    word left = mine & ~whole(mine, sides);
    for (word s = starts[j] & ~left; s; s &= s - 1) of.parent[node(bundle, first_of(s))] = 0;
    word first = lowest(left, rows & left);
    rows &= ~first;
    hook(first, bundle - 1, starts_b[2 * j]);
    left &= ~whole(left, first);
    first = lowest(left, planes & left);
    planes &= ~first;
    hook(first, bundle - 32, starts_b[2 * j + 1]);
    left &= ~whole(left, first);
    hook(starts_of(left), bundle, starts[j]);
    roots += ones(starts_of(left));
    bits[2 * j] = rows, bits[2 * j + 1] = planes;
  }
  __syncthreads();
  NOT_UNROLLED for (int j = 0; j < each * BACKGROUND_ROUNDS; j++)
    for (word s = starts[j & (each - 1)]; s; s &= s - 1) {
      int a = node((j & (each - 1)) * around_block + t, first_of(s));
      of.parent[a] = of.parent[of.parent[a]];
    }
  __syncthreads();
  NOT_UNROLLED for (int i = 0; i < 2 * each; i++) {
    int bundle = (i >> 1) * around_block + t;
    links(q, bits[i], bundle, starts[i >> 1], 0, bundle - (i & 1 ? 32 : 1), starts_b[i], 0);
  }
  q.finish();
  __syncthreads();
  const word *rows_of = v.bits + ((int64)block_x() << 10);
  word within = v.w - 64 * p.x < 64 ? (1ull << (v.w - 64 * p.x)) - 1 : ~0ull;
  int high = v.h - p.y * 32, deep = v.d - p.z * 32;
  close_tile<F, around_block>(of, nodes, first_node<F>((unsigned)block_x()),
                              [&](int bundle) { return (bundle & 31) < high && bundle >> 5 < deep ? ~rows_of[bundle] & within : 0; });
  if (planted(fault::outside) && !t && !block_x()) roots++;
  add_all(out, cavities, roots - q.joined);
}

// Joins a tile of the background with those before it. For the rows of a plane that continue into
// the next tile, one warp forms a word.
inlined void background_seams(volume<5> v, unsigned *nodes, int64 *out) {
  typedef faces<5, 5> F;
  place p(v, (unsigned)block_x());
  nodes_of<F, volume<5>> of{v, 5, 5};
  int lane = thread_x() & 31, warp = thread_x() >> 5;
  pairs to(nodes);
  int y0 = p.y * 32, z0 = p.z * 32;
  if (p.x > 0) {
    const int each = 8; // planes of a warp; it also reads the one before them
    word mine[each + 1], before[each + 1];
    int y = y0 + lane, z = z0 + warp * each - 1;
    UNROLL for (int k = 0; k <= each; k++) mine[k] = v.around(z + k, y, p.x), before[k] = v.around(z + k, y, p.x - 1);
    unsigned behind = 0;
    UNROLL for (int k = 0; k <= each; k++) {
      unsigned both = vote(mine[k] & before[k] >> 63 & 1), closed = both & behind;
      // The last row of each run, unless a row of the run has the same link one plane behind.
      unsigned ends = both & ~(both >> 1) & ~(((both + closed) ^ both) & both | closed);
      if (k && ends >> lane & 1) to.add(of.at(z + k, y, p.x, mine[k], 0, false), of.at(z + k, y, p.x - 1, before[k], 63, true));
      behind = both;
    }
  }
  if (warp == 0 && p.y > 0) { // rows of the tile above
    int z = z0 + lane;
    word mine = v.around(z, y0, p.x), up = v.around(z, y0 - 1, p.x), both = mine & up;
    for (word c = both & ~(both >> 1); c; c &= c - 1)
      to.add(of.at(z, y0, p.x, mine, first_of(c), false), of.at(z, y0 - 1, p.x, up, first_of(c), false));
  }
  if (warp == 1 && p.z > 0) { // planes of the tile behind
    int y = y0 + lane;
    word mine = v.around(z0, y, p.x), back = v.around(z0 - 1, y, p.x), both = mine & back;
    word closed = both & v.around(z0, y - 1, p.x) & v.around(z0 - 1, y - 1, p.x);
    for (word c = both & ~(both >> 1) & ~onward(both, closed); c; c &= c - 1)
      to.add(of.at(z0, y, p.x, mine, first_of(c), false), of.at(z0 - 1, y, p.x, back, first_of(c), false));
  }
  to.finish();
  add_all(out, cavities, planted(fault::twice) ? -2 * to.joined : -to.joined);
}
