// pack:  rows of 64 voxels of both masks; counts the voxels that differ
// tiles: unions of the runs of each tile in shared memory; parent[run] = the root of its tile
// link:  unions of the runs of neighbouring tiles and of both complements
// mark:  each root keeps the masks that meet it; a root that both meet is counted
//
// The matched features of two masks (internal/workloads/assess). In dimension 0 they are the
// components of the union that both masks meet. In the highest dimension they are the groups of
// overlapping components of both complements, except the group of the outside. A run of a word has a
// node. The union and each complement have nodes of their own, and unions join the nodes of both
// complements where their runs overlap.
#pragma once
#include "duality.h"

enum { matched_components, matched_holes, different };

// Whose runs the nodes are. A mask's rest is its complement in the box.
enum { together, rest_of_pred, rest_of_truth, whose };

// A root holds a number above this one, plus a bit for each mask that meets it. Nodes are at most
// this number.
const unsigned unmarked = ~0u - 3;

// The bits of two masks, word by word along the rows, and the nodes of a pair. A tile is 256 words of
// neighbouring rows in up to 16 planes.
struct masks {
  word *bits; // of the prediction, then of the truth
  unsigned *parents;
  int w, h, d, tx, words; // words of a mask
  bool corners; // the union is connected at corners and the complements at faces, not the reverse
  int deep, log_rows; // the logarithms of the planes of a tile and of their rows

  member masks(word *all, unsigned *nodes, int w, int h, int d, int corners, int deep)
      : w(w), h(h), d(d), tx((w + 63) >> 6), words(h * d * ((w + 63) >> 6)), corners(corners), deep(deep), log_rows(8 - deep) {
    int64 pair = planted(fault::pair) ? 0 : block_y();
    bits = all + pair * 2 * words, parents = nodes + pair * (1 + 32 * whose * (int64)words);
  }
  member unsigned node(int of, int k, int start) const {
    return 1 + 32 * (unsigned)(of * words + k) + (unsigned)(start >> 1);
  }
  member word at(int of, int k, int i) const {
    word p = bits[k], t = bits[words + k];
    if (of == together) return p | t;
    int n = w - 64 * i;
    return ~(of == rest_of_pred ? p : t) & (n < 64 ? (1ull << n) - 1 : ~0ull);
  }
};

// The nodes of a tile, 32 for each of its words, in shared memory. The parents of nodes that begin at
// the same bit of 32 words lie in different banks.
struct tile {
  member volatile unsigned &operator[](unsigned a) const { return ((volatile unsigned *)block_changes)[place(a)]; }
  member static unsigned place(unsigned a) { return a ^ (a >> 5 & 31); }
};
inlined unsigned swap_parent(tile, unsigned a, unsigned expected, unsigned v) {
  return compare_swap_shared(shared_address(block_changes) + 4 * tile::place(a), expected, v);
}
inlined void set_parent(tile, unsigned a, unsigned v) {
  exchange_shared(shared_address(block_changes) + 4 * tile::place(a), v);
}

// A word of a thread, and whose it is.
struct word_of {
  int of, k, x, y, z;
  word own, starts;
  member word_of(const masks &m) {
    int n = block_x(), ty = (m.h + (1 << m.log_rows) - 1) >> m.log_rows, tz = (m.d + (1 << m.deep) - 1) >> m.deep;
    x = n % m.tx, n /= m.tx;
    y = n % ty << m.log_rows | (thread_x() & (1 << m.log_rows) - 1), n /= ty;
    z = n % tz << m.deep | thread_x() >> m.log_rows, of = n / tz;
    k = (z * m.h + y) * m.tx + x;
    own = y < m.h && z < m.d ? m.at(of, k, x) : 0;
    starts = starts_of(own);
  }
  member unsigned node(const masks &m, int bit) const { return m.node(of, k, start_in(starts, bit)); }
  member unsigned in_tile(int bit) const { return 32 * thread_x() + (start_in(starts, bit) >> 1); }

  // The runs of a complement that touch a side of the box, at one bit each or more.
  member word sides(const masks &m) const {
    if (of == together) return 0;
    bool last = (y == m.h - 1 || m.d > 1 && z == m.d - 1) && !planted(fault::border);
    word sides = y == 0 || m.d > 1 && z == 0 || last ? starts : 0;
    if (x == 0) sides |= own & 1;
    if (x == m.tx - 1) sides |= own & 1ull << ((m.w - 1) & 63);
    return sides;
  }

  // Calls f for each run of the word and each run before it that touches it, unless other links imply
  // that (doc/proofs/betti.md): of two words of a tile, or of two words that are not. f receives a bit
  // of the run, the number of threads to that of the other word in the tile, whose that word is, its
  // number, and where the other run starts.
  template <class F> member void touches(const masks &m, bool within, const F &f) const {
    if (!own) return;
    bool corners = m.corners == (of == together), first = x == 0, last = x == m.tx - 1;
    word before = first ? 0 : m.at(of, k - 1, x - 1), after = last ? 0 : m.at(of, k + 1, x + 1);
    word above = y > 0 ? m.at(of, k - m.tx, x) : 0, behind = z > 0 ? m.at(of, k - m.h * m.tx, x) : 0;
    // This row, the rows above, behind, above behind and below behind, and the same row of the other
    // complement.
    NOT_UNROLLED for (int i = 0; i < 6; i++) {
      bool itself = i == 0, crossing = i == 5;
      int dy = i == 4 ? 1 : i == 1 || i == 3 ? -1 : 0, dz = i == 2 || i == 3 || i == 4 ? -1 : 0;
      if (y + dy < 0 || y + dy >= m.h || z + dz < 0 || !corners && dy && dz) continue;
      if (crossing && (of != rest_of_truth || planted(fault::crossing))) continue;
      bool near = !crossing && !((y ^ y + dy) >> m.log_rows) && !((z ^ z + dz) >> m.deep);
      if (!near && (within || !crossing && planted(fault::seam))) continue;
      int with = crossing ? rest_of_pred : of, j = k + (dz * m.h + dy) * m.tx;
      word at = m.at(with, j, x);
      word lesser = first ? 0 : m.at(with, j - 1, x - 1), greater = last ? 0 : m.at(with, j + 1, x + 1);
      // The columns where other links imply those with this row.
      word implied = 0;
      if (i == 2 || crossing) implied = y > 0 ? above & m.at(with, j - m.tx, x) : 0;
      else if (i > 2) implied = behind | (i == 3 ? above : m.at(of, k + m.tx, x));
      if (planted(fault::square) && i == 2) implied = above;
      word both = 0, to_lesser = 0, to_greater = 0;
      if (!itself) both = starts_of(own & at & ~whole(own & at, own & at & implied));
      else if (!planted(fault::end)) to_lesser = own & before >> 63;
      if (corners && !itself && !crossing) {
        // A voxel of either row in the same column would join the runs, too.
        to_lesser = own & ~at & (at << 1 | lesser >> 63) & ~(own << 1 | before >> 63);
        to_greater = own & ~at & (at >> 1 | greater << 63) & ~(own >> 1 | after << 63);
        if (i > 2) to_lesser &= ~(implied | implied << 1), to_greater &= ~(implied | implied >> 1);
        if (planted(fault::lesser)) to_lesser = 0;
        if (planted(fault::greater)) to_greater = 0;
      }
      if (near) { // the first bit may lead to the word before, and the last one to the word after
        both = within ? both : 0;
        to_lesser &= within ? ~1ull : 1, to_greater &= within ? ~0ull >> 1 : 1ull << 63;
      }
      NOT_UNROLLED for (int by = -1; by <= 1; by++)
        // A closure would keep the words in memory.
        for (word bits = by < 0 ? to_lesser : by ? to_greater : both; bits; bits &= bits - 1) {
          int bit = first_of(bits), to = bit + by;
          f(bit, dz * (1 << m.log_rows) + dy, with, j + (to >> 6),
            start_of(to < 0 ? lesser : to > 63 ? greater : at, to & 63));
        }
    }
  }
  template <class F> member static void each(word bits, const F &f) {
    for (; bits; bits &= bits - 1) f(first_of(bits));
  }
};

// A warp packs some words of both masks.
inlined void pack_pair(const uint8 *images, masks m, int64 *out) {
  const int each = 4;
  int lane = thread_x() & 31, first = (block_x() * (threads() >> 5) + (thread_x() >> 5)) * each, differ = 0;
  word both[2][each];
  UNROLL for (int i = 0; i < 2; i++) {
    uint8 low[each], high[each];
    UNROLL for (int j = 0; j < each; j++) {
      int row = (first + j) / m.tx, x = 64 * (first + j - row * m.tx) + lane;
      bool in = first + j < m.words;
      const uint8 *p = images + ((2 * (int64)block_y() + i) * m.d * m.h + row) * m.w + x;
      low[j] = in && x < m.w ? *p : 0, high[j] = in && x + 32 < m.w ? p[32] : 0;
    }
    UNROLL for (int j = 0; j < each; j++) {
      word upper = vote(high[j]);
      both[i][j] = upper << 32 | vote(low[j]);
      if (!lane && first + j < m.words) m.bits[i * m.words + first + j] = both[i][j];
    }
  }
  UNROLL for (int j = 0; j < each; j++) differ += ones(both[0][j] ^ both[1][j]);
  add_all(out, different, lane ? 0 : differ);
}

inlined void join_tiles(masks m) {
  word_of own(m);
  tile nodes;
  if (!block_x() && !thread_x()) m.parents[0] = 0;
  own.each(own.starts, [&](int bit) { nodes[own.in_tile(bit)] = own.in_tile(bit); });
  __syncthreads();
  own.touches(m, true, [&](int bit, int rows, int, int, int start) {
    unite_nodes(nodes, own.in_tile(bit), 32 * (thread_x() + rows) + (start >> 1));
  });
  __syncthreads();
  own.each(own.starts, [&](int bit) {
    unsigned a = own.in_tile(bit), root = a;
    for (unsigned p; (p = nodes[root]) != root;) root = p;
    int row = root >> 5, plane = row >> m.log_rows;
    int y = (own.y >> m.log_rows << m.log_rows) + (row & (1 << m.log_rows) - 1), z = (own.z >> m.deep << m.deep) + plane;
    m.parents[own.node(m, bit)] = m.node(own.of, (z * m.h + y) * m.tx + own.x, 2 * (root & 31));
  });
}

inlined void link_tiles(masks m) {
  word_of own(m);
  own.each(own.sides(m), [&](int bit) { unite_nodes((volatile unsigned *)m.parents, own.node(m, bit), 0u); });
  own.touches(m, false, [&](int bit, int, int with, int k, int start) {
    unite_nodes((volatile unsigned *)m.parents, own.node(m, bit), m.node(with, k, start));
  });
}

// Marks the root of a node with the masks that meet it. Returns whether it is the first time that
// both do. The outside has no marks.
inlined bool meet_root(volatile unsigned *parents, unsigned a, unsigned by) {
  unsigned p;
  while ((p = parents[a]) != a && p <= unmarked) a = p;
  while (a) {
    unsigned had = p == a ? 0 : p - unmarked;
    if ((had | by) == had) return false;
    unsigned was = compare_swap_global((unsigned *)parents + a, p, unmarked + (had | by));
    if (was == p) return (had | by) == 3 || planted(fault::alone) && !had;
    p = was;
  }
  return false;
}

inlined void mark_roots(masks m, int64 *out) {
  word_of own(m);
  int matched[2] = {0, 0};
  if (own.of == together) {
    for (word rest = own.own; rest;) {
      word p = m.bits[own.k], t = m.bits[m.words + own.k];
      word next = rest + (rest & -rest), run = rest & ~next;
      matched[0] += meet_root(m.parents, own.node(m, first_of(rest)), (p & run ? 1 : 0) | (t & run ? 2 : 0));
      rest &= next;
    }
  } else {
    word overlaps = own.own ? own.own & m.at(rest_of_truth, own.k, own.x) : 0;
    own.each(starts_of(overlaps), [&](int bit) { matched[1] += meet_root(m.parents, own.node(m, bit), 3); });
  }
  add_all(out, matched_components, matched[0]), add_all(out, matched_holes, matched[1]);
}
