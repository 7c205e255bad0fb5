// keys:     the level of each voxel
// compare:  bits of the 13 neighbours before a voxel that are not above it
// scan:     for 32 voxels at a time, by operations on words: minima, saddles, and the descent of the
//           other voxels; for an image that is not hollow, the change of χ
// join:     for each saddle: the minima to which its link descends, and their unions; for a hollow
//           image, the change of χ
// deaths:   the levels at which minima were joined to others
//
// Betti curves (doc/betti.md): minima minus unions at saddles, for the sets and for their
// background. The result does not depend on the order in which edges arrive. Each minimum has at
// most one edge, to a minimum of lower rank: these edges are a minimal spanning forest. The minima
// that an edge joins at its level are found by following edges that are not above it. If a minimum
// already has an edge above the new one, a compare-and-swap replaces it, and the old edge is joined
// again from its own target (triplet merge trees, Smirnov and Morozov 2017). Ranks are scrambled
// numbers, so that paths are short. The levels of the edges are those of any minimal spanning
// forest.
#pragma once
#include "../swap.h"
#include "fault.h"

#ifdef __clang__
#pragma clang diagnostic ignored "-Wbitwise-op-parentheses"
#endif

extern __shared__ int block_changes[];

// A word of 32 voxels for each of the 27 places around a voxel, with x fastest and z slowest.
typedef unsigned places[27];
enum { middle = 13, most_minima = 16 };
// The descent of a voxel, as a number of four bits: 0 to 7 is a corner (the bits are x, y and z), 8
// to 13 a face, and 14 a minimum, which does not descend. 15 means an edge in the set, whose number
// is in a second list, and the outside in the background.
enum : unsigned { to_nowhere = 14, to_edge = 15, to_outside = 15 };
typedef unsigned four_words __attribute__((vector_size(16)));

inlined int ones(unsigned v) { return __builtin_popcount(v); }
inlined int first_of(unsigned v) { return __builtin_ctz(v); }

// The places of the 6 faces, of the 12 edges and of the 8 corners around a voxel.
inlined int face(int n) { return n < 3 ? n == 0 ? 4 : n == 1 ? 10 : 12 : n == 3 ? 14 : n == 4 ? 16 : 22; }
inlined int edge_place(int n) { // of twelve
  const int axis = n >> 2, a = n & 1 ? 1 : -1, b = n & 2 ? 1 : -1;
  return middle + (axis == 0 ? 3 * a + 9 * b : axis == 1 ? a + 9 * b : a + 3 * b);
}
inlined int corner(int n) { return middle + (n & 4 ? 9 : -9) + (n & 2 ? 3 : -3) + (n & 1 ? 1 : -1); }

// Lists of words: saddles of the set and of the background, and minima of both.
enum { saddles_of_set, saddles_around, minima_of_set, minima_around };
// Lists of descents: in the set, in the background, and to edges in the set.
enum { ways_of_set, ways_around_it, ways_along_edges };

// An image of keys, in rows of words of 32 voxels.
template <class K> struct rows {
  const K *keys;
  int w, h, d, words; // words: per row
  int64 count;        // words of the whole image

  member rows(const K *keys, int w, int h, int d)
      : keys(keys), w(w), h(h), d(d), words((w + 31) >> 5), count((int64)((w + 31) >> 5) * h * d) {}
  member void place(int64 word, int &i, int &y, int &z) const {
    unsigned row = (unsigned)(word / words);
    i = (int)(word - (int64)row * words), z = (int)(row / (unsigned)h), y = (int)(row - (unsigned)z * (unsigned)h);
  }
  member bool in(int x, int y, int z) const {
    return (unsigned)x < (unsigned)w && (unsigned)y < (unsigned)h && (unsigned)z < (unsigned)d;
  }
  member int64 at(int x, int y, int z) const { return ((int64)z * h + y) * w + x; }
  member int64 stride() const { return (count + 31) & ~31ll; } // of lists of words
};

// The 13 words of the places before a voxel. 32 consecutive words are stored place by place.
inlined const unsigned *of_word(const unsigned *before, unsigned word) { return before + (word + (word >> 5) * (32 * (middle - 1))); }
inlined unsigned *of_word(unsigned *before, unsigned word) { return before + (word + (word >> 5) * (32 * (middle - 1))); }

// keys[i] = the number of levels below the value of voxel i; if `descend`, the number of the other levels.
template <class T, class K> inlined void find_keys(const T *image, int64 n, const float32 *values, int levels, int descend, K *keys) {
  for (int64 i = (int64)block_x() * threads() + thread_x(); i < n; i += (int64)blocks() * threads()) {
    float32 v = (float32)image[i];
    int lo = 0, hi = levels;
    while (lo < hi) {
      int m = (lo + hi) >> 1;
      if (values[m] < v) lo = m + 1;
      else hi = m;
    }
    keys[i] = (K)(descend ? levels - lo : lo);
  }
}

// 32 bytes of a row, regrouped: byte j of word i is voxel 8j + i. The comparison result of that
// voxel is bit 8j + i of a word. Also the bytes before and after the 32.
struct bytes {
  unsigned v[8], before, behind;
  // From voxel 32·i of a row on. left is the number of voxels from there; the bytes beyond them are
  // arbitrary.
  member bytes(const uint8 *p, int i, int left, bool wide) {
    unsigned l[8];
    if (wide) {
      const four_words *q = (const four_words *)p;
      four_words a = q[0], b = q[left > 16];
      UNROLL for (int k = 0; k < 4; k++) l[k] = a[k], l[4 + k] = b[k];
    } else {
      UNROLL for (int k = 0; k < 8; k++) l[k] = ((const unsigned *)p)[4 * k < left ? k : 0];
    }
    // Consecutive words of a row are in neighbouring lanes, except for the first and last lane.
    int lane = thread_x() & 31;
    before = from_lane_before(l[7]) >> 24, behind = from_lane_after(l[0]);
    if (lane == 0 && i > 0) before = p[-1];
    if (lane == 31 && left > 32) behind = p[32];
    UNROLL for (int h = 0; h < 2; h++) {
      unsigned a = permute(l[h], l[2 + h], 0x5140), b = permute(l[h], l[2 + h], 0x7362); // bytes of two rows
      unsigned c = permute(l[4 + h], l[6 + h], 0x5140), d = permute(l[4 + h], l[6 + h], 0x7362);
      v[4 * h] = permute(a, c, 0x5410), v[4 * h + 1] = permute(a, c, 0x7632), v[4 * h + 2] = permute(b, d, 0x5410), v[4 * h + 3] = permute(b, d, 0x7632);
    }
  }
  // Word i of the voxels at offset dx (−1, 0 or 1).
  member unsigned word(int i, int dx) const {
    if (i + dx < 0) return v[7] << 8 | before;
    if (i + dx > 7) return v[0] >> 8 | behind << 24;
    return v[i + dx];
  }
};

// The bits of voxels whose byte in other, at offset dx, is not above their own byte.
inlined unsigned not_above(const bytes &other, const bytes &own, int dx) {
  const unsigned high = 0x80808080, low = 0x01010101;
  unsigned all = 0;
  UNROLL for (int i = 0; i < 8; i++) {
    unsigned a = other.word(i, dx), b = own.v[i], lesser = (b | high) - (a & ~high); // compares the lower seven bits
    all |= ((~a & b) | (~(a ^ b) & lesser)) >> (7 - i) & low << i;
  }
  return all;
}

// Each thread compares one word, four voxels per instruction. The width is a multiple of 4, or of
// 16 (wide). A row outside of the image is read as the thread's own row, and its bits are masked.
// Threads after the last word read that word and write nothing.
template <bool wide> inlined void compare_bytes(const rows<uint8> &r, unsigned *before) {
  int64 at = (int64)block_x() * threads() + thread_x();
  bool has = at < r.count;
  if (!has) at = r.count - 1;
  int i, y, z;
  r.place(at, i, y, z);
  int left = r.w - 32 * i;
  unsigned mask = left < 32 ? (1u << left) - 1 : ~0u, not_first = i ? ~0u : ~1u, not_last = left > 32 ? ~0u : ~(1u << (left - 1));
  const uint8 *p = r.keys + r.at(32 * i, y, z);
  unsigned *to = of_word(before, (unsigned)at);
  bytes own(p, i, left, wide);
  UNROLL for (int row = 0; row < 5; row++) { // three rows of the previous plane, the previous row, and the own row
    int dz = row < 3 ? -1 : 0, dy = row < 3 ? row - 1 : row - 4;
    bool in = z + dz >= 0 && (unsigned)(y + dy) < (unsigned)r.h;
    bytes other = own;
    if (row < 4) other = bytes(p + (in ? ((int64)dz * r.h + dy) * r.w : 0), i, left, wide);
    unsigned there = in ? mask : 0;
    UNROLL for (int dx = -1; dx < 2; dx++) {
      int k = 3 * row + dx + 1;
      if (k >= middle || !has) continue;
      to[32 * k] = not_above(other, own, dx) & there & (dx < 0 ? not_first : dx > 0 ? not_last : ~0u);
    }
  }
}
inlined bool compare_fours(const rows<uint8> &r, unsigned *before) {
  if (r.w % 4) return false;
  if (r.w % 16 == 0) compare_bytes<true>(r, before);
  else compare_bytes<false>(r, before);
  return true;
}
template <class K> inlined bool compare_fours(const rows<K> &, unsigned *) { return false; }

// A warp compares 32 words, with one voxel per lane; lane j keeps word j.
template <class K> inlined void compare(const rows<K> &r, unsigned *before) {
  if (compare_fours(r, before)) return;
  int lane = thread_x() & 31, warps = threads() >> 5;
  int64 first = ((int64)block_x() * warps + (thread_x() >> 5)) * 32;
  if (first >= r.count) return;
  unsigned mine[middle] = {};
  int i, y, z;
  r.place(first, i, y, z);
  NOT_UNROLLED for (int j = 0; j < 32 && first + j < r.count; j++) {
    int x = 32 * i + lane;
    const K *p = r.keys + r.at(x, y, z);
    bool here = x < r.w;
    int own = here ? p[0] : -1;
    int64 row = r.w, plane = (int64)r.w * r.h;
    UNROLL for (int k = 0; k < middle; k++) {
      int dz = k / 9 - 1, dy = k / 3 % 3 - 1, dx = k % 3 - 1;
      bool in = here && z + dz >= 0 && (unsigned)(y + dy) < (unsigned)r.h && (unsigned)(x + dx) < (unsigned)r.w;
      unsigned bits = vote(in && p[dz * plane + dy * row + dx] <= own);
      if (lane == j) mine[k] = bits;
    }
    if (++i == r.words) {
      i = 0;
      if (++y == r.h) y = 0, z++;
    }
  }
  if (first + lane < r.count)
    UNROLL for (int k = 0; k < middle; k++) of_word(before, (unsigned)first + lane)[32 * k] = mine[k];
}

// 32 numbers of five bits, bit-sliced: word i holds bit i of each.
struct sum_of_bits {
  unsigned bit[5];
  member sum_of_bits() : bit{} {}
  member void add(unsigned v) {
    UNROLL for (int i = 0; i < 5; i++) {
      unsigned carry = bit[i] & v;
      bit[i] ^= v, v = carry;
    }
  }
  // Adds three words at once. Their sum has two bits.
  member void add(unsigned a, unsigned b, unsigned c) {
    unsigned two = a & b | c & (a ^ b), one = a ^ b ^ c, carry = bit[0] & one;
    bit[0] ^= one;
    unsigned next = bit[1] & two | carry & (bit[1] ^ two);
    bit[1] ^= two ^ carry;
    UNROLL for (int i = 2; i < 5; i++) {
      unsigned over = bit[i] & next;
      bit[i] ^= next, next = over;
    }
  }
};

// The change of χ at each voxel, plus 13. A cell counts if no voxel of the link contains it.
// Vertices and faces count +1. Edges and the cube count −1, which is added as 0 instead of 1.
inlined sum_of_bits characteristic(const places &l) {
  sum_of_bits sum;
  unsigned has[8];
  UNROLL for (int v = 0; v < 8; v++) {
    int z = v & 4 ? 9 : -9, y = v & 2 ? 3 : -3, x = v & 1 ? 1 : -1;
    has[v] = ~(l[middle + z] | l[middle + y] | l[middle + x] | l[middle + z + y] | l[middle + z + x] | l[middle + y + x] | l[middle + z + y + x]);
  }
  sum.add(has[0], has[1], has[2]), sum.add(has[3], has[4], has[5]), sum.add(has[6], has[7], ~l[4]);
  sum.add(~l[10], ~l[12], ~l[14]), sum.add(~l[16], ~l[22], 0);
  UNROLL for (int s = 0; s < 4; s++) {
    int a = s & 1 ? 1 : -1, b = s & 2 ? 1 : -1;
    sum.add(l[middle + 9 * a] | l[middle + 3 * b] | l[middle + 9 * a + 3 * b], l[middle + 9 * a] | l[middle + b] | l[middle + 9 * a + b],
            l[middle + 3 * a] | l[middle + b] | l[middle + 3 * a + b]);
  }
  return sum;
}

// Changes by level: of χ, of the components of the set and of those of the background. A block
// keeps some of the lists in shared memory if keys are bytes; otherwise it adds to global memory.
enum { of_chi, of_set, of_around, lists };
template <class K, int first = 0, int kept_lists = lists> struct tally {
  int levels;
  int64 *out;
  int *memory;
  member static bool kept() { return sizeof(K) == 1; }
  member int size() const { return levels + 1; }
  member void begin() const {
    if (!kept()) return;
    for (int i = thread_x(); i < kept_lists * size(); i += threads()) memory[i] = 0;
    __syncthreads();
  }
  member void add(int list, unsigned key, int change) const {
    if (kept()) add_shared(shared_address(memory) + 4 * ((list - first) * size() + (int)key), change);
    else add_global(out + (int64)list * size() + key, (int64)change);
  }
  member void end() const {
    if (!kept()) return;
    __syncthreads();
    for (int i = thread_x(); i < kept_lists * size(); i += threads())
      if (memory[i]) add_global(out + first * size() + i, (int64)memory[i]);
  }
};

// The edge of a minimum: the level in the upper half, the target in the lower one. A minimum
// without an edge leads to itself at level none.
typedef unsigned long long edge;
enum : unsigned { none = 0xffffffff };
inlined edge edge_of(unsigned level, unsigned to) { return (edge)level << 32 | to; }
// The outside is number 0. Next come the first minima of all words, then the second ones. Most
// words have few minima, so their edges are close together.
inlined unsigned number_of(int64 stride, int64 word, int i) { return 1 + (unsigned)i * (unsigned)stride + (unsigned)word; }
inlined void open_edges(edge *edges, int64 stride, int64 word, unsigned minima) {
  for (int n = ones(minima), i = 0; i < n; i++) {
    unsigned number = number_of(stride, word, i);
    edges[number] = edge_of(none, number);
  }
}

// The voxels of a word that are minima, given their descents.
inlined unsigned minima_of(four_words n) { return ~n[0] & n[1] & n[2] & n[3]; }

// The links of 32 voxels: a bit per place for a voxel that precedes them, from the comparisons of
// compare.
template <class K> inlined void read_links(const rows<K> &r, const unsigned *before, unsigned at, int i, int y, int z, unsigned mask, unsigned leftmost, unsigned rightmost, places &l) {
  const unsigned *own = of_word(before, at);
  UNROLL for (int k = 0; k < middle; k++) l[k] = own[32 * k]; // 0 outside of the image
  l[middle] = 0;
  unsigned to_left = i > 0, to_right = i < r.words - 1;
  UNROLL for (int row = 4; row < 9; row++) {
    // A voxel at a later place precedes this one, unless this one is not above it according to its
    // own comparisons.
    int dz = row / 3 - 1, dy = row % 3 - 1;
    bool there = (dz == 0 || z + 1 < r.d) && (unsigned)(y + dy) < (unsigned)r.h;
    unsigned a = there ? at + (unsigned)((dz * r.h + dy) * r.words) : at, in = there ? mask : 0;
    UNROLL for (int dx = -1; dx < 2; dx++) {
      int back = 3 * row + dx + 1, k = 26 - back;
      if (back <= middle) continue;
      unsigned v = row == 4 ? l[k] : of_word(before, a)[32 * k];
      if (dx < 0) v = v << 1 | of_word(before, a - to_left)[32 * k] >> 31;
      if (dx > 0) v = v >> 1 | of_word(before, a + to_right)[32 * k] << 31;
      l[back] = in & ~v & ~(dx < 0 ? leftmost : dx > 0 ? rightmost : 0);
    }
  }
}

// Selects bits: b where x is set, else a; and one of a to d by the bits of x and y.
inlined unsigned choose(unsigned x, unsigned a, unsigned b) { return x & b | ~x & a; }
inlined unsigned choose(unsigned x, unsigned y, unsigned a, unsigned b, unsigned c, unsigned d) { return choose(y, choose(x, a, b), choose(x, c, d)); }

// The descents of voxels in the set. A voxel descends to the first of these that precedes it: the
// corner in the direction in which its axes descend, a face, another corner, an edge. to_edges
// receives the voxels that descend to an edge.
inlined four_words ways_in_set(const places &l, bool flat, unsigned mask, unsigned &to_edges) {
  unsigned c[8];
  UNROLL for (int n = 0; n < 8; n++) c[n] = l[corner(n)];
  // In a flat image, the 2D corners take the places of corners.
  if (flat)
    UNROLL for (int n = 0; n < 4; n++) c[n] = l[corner(n) + 9];
  unsigned x = l[14] & ~l[12], y = l[16] & ~l[10], z = l[22] & ~l[4];
  unsigned deep = choose(z, choose(x, y, c[0], c[1], c[2], c[3]), choose(x, y, c[4], c[5], c[6], c[7])), seen = deep;
  unsigned number[4] = {x & deep, y & deep, z & deep, 0};
  UNROLL for (int f = 0; f < 6; f++) {
    unsigned first = l[face(f)] & ~seen;
    seen |= first, number[3] |= first;
    UNROLL for (int b = 0; b < 3; b++) if (f >> b & 1) number[b] |= first;
  }
  unsigned some = 0;
  UNROLL for (int k = 0; k < 27; k++) some |= l[k];
  unsigned nowhere = mask & ~some, rest = some & ~seen;
  if (rest) {
    UNROLL for (int n = 0; n < 8; n++) {
      unsigned first = c[n] & rest;
      rest &= ~first;
      UNROLL for (int b = 0; b < 3; b++) if (n >> b & 1) number[b] |= first;
    }
    UNROLL for (int b = 0; b < 4; b++) number[b] |= rest;
  }
  to_edges = rest;
  return four_words{number[0], number[1] | nowhere, number[2] | nowhere, number[3] | nowhere};
}

// The edges to which the voxels of rest descend.
inlined four_words ways_to_edges(const places &l, unsigned rest) {
  unsigned number[4] = {};
  UNROLL for (int n = 0; n < 12; n++) {
    unsigned first = l[edge_place(n)] & rest;
    rest &= ~first;
    UNROLL for (int b = 0; b < 4; b++) if (n >> b & 1) number[b] |= first;
  }
  return four_words{number[0], number[1], number[2], number[3]};
}

// The voxels whose links have several components, and a few others, which join recognizes. The
// faces of a link touch each other, unless the link has only two opposite faces. All but four edges
// and four corners touch a face. An edge that touches no face is joined through others, and a
// corner never joins edges.
inlined unsigned parted(const places &l) {
  const int edges[12] = {1, 3, 5, 7, 9, 11, 15, 17, 19, 21, 23, 25};
  auto f = [&](int axis, int side) { return l[middle + side * (axis == 0 ? 1 : axis == 1 ? 3 : 9)]; };
  unsigned both[3], of_faces = 0, joined[27];
  UNROLL for (int a = 0; a < 3; a++) both[a] = f(a, -1) | f(a, 1), of_faces |= both[a];
  unsigned seen = of_faces, several = 0;
  UNROLL for (int e = 0; e < 12; e++) {
    int k = edges[e], d[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1}; // one of them is 0
    unsigned touched = 0;
    UNROLL for (int a = 0; a < 3; a++) touched |= d[a] ? f(a, d[a]) : both[a];
    joined[k] = l[k] & (touched | ~seen); // without a face: from the first edge on
    seen |= l[k];
  }
  UNROLL for (int sweep = 0; sweep < 2; sweep++)
    UNROLL for (int n = 0; n < 12; n++) {
      int k = edges[sweep ? 11 - n : n];
      unsigned touched = joined[k];
      UNROLL for (int e = 0; e < 12; e++) {
        int o = edges[e], x = k % 3 - o % 3, y = k / 3 % 3 - o / 3 % 3, z = k / 9 - o / 9;
        if (o != k && x * x < 2 && y * y < 2 && z * z < 2) touched |= joined[o];
      }
      joined[k] = l[k] & touched;
    }
  UNROLL for (int e = 0; e < 12; e++) several |= l[edges[e]] & ~joined[edges[e]];
  UNROLL for (int a = 0; a < 3; a++) { // only two opposite faces
    int u = a == 0 ? 3 : 1, v = a == 2 ? 3 : 9;
    unsigned between = l[middle - u - v] | l[middle - u + v] | l[middle + u - v] | l[middle + u + v];
    several |= f(a, -1) & f(a, 1) & ~both[(a + 1) % 3] & ~both[(a + 2) % 3] & ~between;
  }
  UNROLL for (int n = 0; n < 8; n++) {
    int k = corner(n), x = n & 1 ? 1 : -1, y = n & 2 ? 3 : -3, z = n & 4 ? 9 : -9;
    unsigned alone = l[k] & ~(l[k - x] | l[k - y] | l[k - z] | l[k - x - y] | l[k - x - z] | l[k - y - z]);
    several |= alone & seen, seen |= alone;
  }
  return several;
}

// The descents of voxels in the background. several receives the voxels at which several components
// meet, and a few others. A voxel descends to a corner if a face and an edge lead to it. The
// background is in the reverse order, and the outside is first.
inlined four_words ways_around(const places &l, const unsigned (&outside)[6], unsigned mask, unsigned &several) {
  auto up = [&](int k) { return ~l[k]; };
  unsigned side = 0, seen, at[6], number[4] = {};
  UNROLL for (int f = 0; f < 6; f++) side |= outside[f];
  unsigned x = up(14) & ~up(12), y = up(16) & ~up(10), z = up(22) & ~up(4);
  unsigned along_x = up(12) | up(14), along_y = up(10) | up(16), along_z = up(4) | up(22);
  unsigned xy = choose(x, y, up(9), up(11), up(15), up(17)), xz = choose(x, z, up(3), up(5), up(21), up(23)), yz = choose(y, z, up(1), up(7), up(19), up(25));
  unsigned corners = choose(z, choose(x, y, up(0), up(2), up(6), up(8)), choose(x, y, up(18), up(20), up(24), up(26)));
  if (!planted(fault::path)) corners &= xy & (along_x | along_y) | xz & (along_x | along_z) | yz & (along_y | along_z);
  corners &= ~side;
  seen = side;
  UNROLL for (int f = 0; f < 6; f++) {
    unsigned first = up(face(f)) & ~seen;
    at[f] = outside[f] | first, seen |= first, number[3] |= first;
    UNROLL for (int b = 0; b < 3; b++) if (f >> b & 1) number[b] |= first;
  }
  unsigned nowhere = ~seen;
  UNROLL for (int b = 0; b < 4; b++) number[b] = number[b] & ~corners | side | (b ? nowhere : 0);
  number[0] |= x & corners, number[1] |= y & corners, number[2] |= z & corners;
  UNROLL for (int sweep = 0; sweep < 2; sweep++)
    UNROLL for (int a = 0; a < 6; a++)
      UNROLL for (int b = a + 1; b < 6; b++) {
        if (a + b == 5) continue; // opposite faces
        unsigned meet = up(face(a)) & up(face(b)) & up(face(a) + face(b) - middle);
        at[a] |= meet & at[b], at[b] |= meet & at[a];
      }
  several = 0;
  UNROLL for (int f = 0; f < 6; f++) several |= up(face(f)) & ~at[f];
  several &= mask;
  return four_words{number[0] & mask, number[1] & mask, number[2] & mask, number[3] & mask};
}

// Finds the contributions of 32 voxels, one word per thread. In a hollow image, χ changes only at
// minima, at maxima and where several components meet (join).
template <bool hollow, class K>
inlined void scan(const rows<K> &r, const unsigned *before, unsigned *numbers, unsigned *words, edge *edges, unsigned *known, int levels, int64 *out) {
  tally<K> to{levels, out, block_changes};
  to.begin();
  for (int64 at = (int64)block_x() * threads() + thread_x(); at < r.count; at += (int64)blocks() * threads()) {
    int i, y, z;
    r.place(at, i, y, z);
    int left = r.w - 32 * i;
    unsigned mask = left < 32 ? (1u << left) - 1 : ~0u, leftmost = i == 0, rightmost = left <= 32 ? 1u << (left - 1) : 0;
    places l;
    read_links(r, before, (unsigned)at, i, y, z, mask, leftmost, rightmost, l);
    four_words *n = (four_words *)numbers + at;
    const K *keys = r.keys + r.at(32 * i, y, z);
    unsigned to_edges;
    four_words ways = ways_in_set(l, !hollow && r.d == 1, mask, to_edges);
    n[0] = ways;
    if (to_edges) n[r.stride() * ways_along_edges] = ways_to_edges(l, to_edges);
    unsigned minima = minima_of(ways), maxima = 0, around = 0;
    words[saddles_of_set * r.stride() + at] = parted(l);
    for (unsigned m = minima; m; m &= m - 1) {
      unsigned key = keys[first_of(m)];
      to.add(of_set, key, 1);
      if (hollow) to.add(of_chi, key, 1);
    }
    if (hollow) {
      unsigned outside[6] = {z == 0 ? mask : 0, y == 0 ? mask : 0, leftmost, rightmost, y == r.h - 1 ? mask : 0, z == r.d - 1 ? mask : 0};
      n[r.stride() * ways_around_it] = ways = ways_around(l, outside, mask, around);
      maxima = minima_of(ways);
      if (planted(fault::side) && z == r.d - 1) around = 0;
      words[saddles_around * r.stride() + at] = around, words[minima_around * r.stride() + at] = maxima;
      for (unsigned m = maxima; m; m &= m - 1) {
        unsigned key = keys[first_of(m)];
        to.add(of_around, key, 1), to.add(of_chi, key, -1);
      }
    }
    words[minima_of_set * r.stride() + at] = minima;
    open_edges(edges, r.stride(), at, minima);
    known[at] = 0;
    if (at == 0) known[r.stride()] = known[r.stride() + 1] = 0; // the queues of join
    if (hollow) continue;
    sum_of_bits chi = characteristic(l);
    unsigned same = chi.bit[0] & ~chi.bit[1] & chi.bit[2] & chi.bit[3] & ~chi.bit[4];
    for (unsigned m = mask & ~same; m; m &= m - 1) {
      int bit = first_of(m), change = -13;
      UNROLL for (int k = 0; k < 5; k++) change += (int)(chi.bit[k] >> bit & 1) << k;
      to.add(of_chi, keys[bit], change);
    }
  }
  to.end();
}

// A bijection that maps 0 to 0.
inlined unsigned rank(unsigned v) {
  v *= 0x9e3779b1u;
  return (v ^ v >> 15) * 0x85ebca6bu;
}

// The places with the smallest and greatest x and y, as sets of 27 bits.
enum : unsigned { least_x = 0111111111, greatest_x = 0444444444, least_y = 0007007007, greatest_y = 0700700700 };

// The component of the first place of a set, connected through faces, edges and corners.
inlined unsigned component(unsigned set) {
  for (unsigned of = set & (0 - set);;) {
    unsigned v = of | (of & ~greatest_x) << 1 | (of & ~least_x) >> 1;
    v |= (v & ~greatest_y) << 3 | (v & ~least_y) >> 3;
    v = (v | v << 9 | v >> 9) & set;
    if (v == of) return of;
    of = v;
  }
}

// Extends `of` by the faces of the set that are connected with it through edges of the set.
inlined unsigned component_of_faces(unsigned set, unsigned of) {
  for (;;) {
    unsigned last = of;
    UNROLL for (int a = 0; a < 6; a++)
      UNROLL for (int b = a + 1; b < 6; b++) {
        if (a + b == 5) continue;
        unsigned both = 1u << face(a) | 1u << face(b), needs = both | 1u << (face(a) + face(b) - middle);
        if ((set & needs) == needs && of & both) of |= both;
      }
    if (of == last) return of;
  }
}

// The places around a voxel that precede it, as a set. outside receives the places outside of the
// image.
template <class K> inlined unsigned link_of(const rows<K> &r, int x, int y, int z, unsigned &outside) {
  outside = (x == 0 ? (unsigned)least_x : 0) | (x == r.w - 1 ? (unsigned)greatest_x : 0) | (y == 0 ? (unsigned)least_y : 0) |
            (y == r.h - 1 ? (unsigned)greatest_y : 0) | (z == 0 ? 0777u : 0) | (z == r.d - 1 ? 0777u << 18 : 0);
  // The bytes of a row are in one or two aligned words of eight bytes.
  unsigned set = 0;
  int lead = x > 0, need = (lead + 1 + (x < r.w - 1)) * (int)sizeof(K);
  const char *at = (const char *)(r.keys + r.at(x - lead, y, z));
  int64 row = (int64)r.w * (int)sizeof(K), plane = row * r.h;
  const unsigned all = sizeof(K) == 1 ? 0xff : 0xffff;
  unsigned key = r.keys[r.at(x, y, z)];
  UNROLL for (int n = 0; n < 9; n++) {
    if (outside >> (3 * n + 1) & 1) continue;
    const char *p = at + (n / 3 - 1) * plane + (n % 3 - 1) * row;
    int past = (int)((unsigned long long)p & 7);
    unsigned long long v = *(const unsigned long long *)(p - past) >> 8 * past;
    if (past + need > 8) v |= *(const unsigned long long *)(p - past + 8) << (64 - 8 * past);
    if (!lead) v <<= 8 * sizeof(K);
    UNROLL for (int i = 0; i < 3; i++) {
      int k = 3 * n + i;
      unsigned other = (unsigned)(v >> (8 * (int)sizeof(K) * i)) & all;
      if (k != middle && (k < middle ? other <= key : other < key)) set |= 1u << k;
    }
  }
  set &= ~outside;
  return set;
}

// Follows the descents of voxels. A voxel is numbered by its word and bit.
template <bool around, class K> struct descent {
  const rows<K> &r;
  const four_words *ways;   // the descents
  unsigned *known;          // per word: 0, or the minimum of one of its voxels, plus one
  const int64 *steps;       // the distance for each descent, each edge and each place
  enum { edges = 16, places = 28, all = 55 };

  // Fills the steps, which are in shared memory.
  member static void fill(const rows<K> &r, int64 *steps) {
    int n = thread_x();
    if (n < 16) {
      int k = n < 8 ? corner(n) : n < to_nowhere ? face(n - 8) : middle;
      if (n < 8 && r.d == 1) k = corner(n & 3) + 9; // in a flat image, the 2D corners
      steps[n] = step(r, k);
    }
    if (n < 12) steps[edges + n] = step(r, edge_place(n));
    if (n < 27) steps[places + n] = step(r, n);
    __syncthreads();
  }
  member static int64 step(const rows<K> &r, int k) {
    return ((int64)(k / 9 - 1) * r.h + k / 3 % 3 - 1) * r.words * 32 + k % 3 - 1;
  }
  member static unsigned number_at(four_words n, unsigned bit) {
    return (n[0] >> bit & 1) | (n[1] >> bit & 1) << 1 | (n[2] >> bit & 1) << 2 | (n[3] >> bit & 1) << 3;
  }
  // Moves one step down from a voxel, or returns true with the minimum in found. The first word on
  // the path that keeps a minimum and has none yet receives it.
  member bool ends(int64 &at, unsigned &noted, unsigned &found) const {
    unsigned word = (unsigned)(at >> 5), bit = (unsigned)at & 31;
    // Both loads are issued together.
    unsigned v = 0;
    bool keeps = bit == word * 0x9e3779b1u >> 27;
    if (keeps) v = known[word];
    four_words n = ways[word];
    unsigned number = number_at(n, bit);
    bool here = number == to_nowhere, out = around && number == to_outside;
    if (v || here || out) {
      found = v ? v - 1 : out ? 0 : number_of(r.stride(), word, ones(minima_of(n) & ((1u << bit) - 1)));
      if (noted != none) known[noted] = found + 1;
      noted = none;
      return true;
    }
    if (keeps && noted == none) noted = word;
    if (!around && number == to_edge) number = edges + number_at(ways[r.stride() * ways_along_edges + word], bit);
    at += steps[number];
    return false;
  }
};

// The components in a saddle's link. It yields one place of each component, in order.
template <bool around> struct meeting {
  enum : unsigned { places = (1u << 27) - 1, outside = 31 };
  unsigned set, rest; // rest: the places of the remaining components, with the first place of all in the upper bits
  member meeting() : set(0), rest(0) {}
  member meeting(unsigned link, unsigned beyond) : set(link), rest(link) {
    if (around) set = places & ~link & ~(1u << middle), rest = set & faces();
    unsigned from = around && rest & beyond ? rest & beyond : rest & (0 - rest), place = around && rest & beyond ? (unsigned)outside : (unsigned)first_of(rest);
    take(from);
    rest |= place << 27;
  }
  member static unsigned faces() {
    unsigned all = 0;
    UNROLL for (int f = 0; f < 6; f++) all |= 1u << face(f);
    return all;
  }
  member bool more() const { return rest & places; }
  // A place of the first component, or the outside.
  member unsigned first() const { return rest >> 27; }
  // A place of the next component.
  member unsigned next() {
    unsigned of = rest & places;
    take(of & (0 - of));
    return (unsigned)first_of(of);
  }
  member void take(unsigned from) { rest &= ~(around ? component_of_faces(set, from) : component(rest & places)); }
};

// Takes turns from a queue, and returns the first of them.
inlined unsigned take_turns(unsigned *queue, int turns) {
#ifdef ON_HOST
  unsigned first = *queue;
  *queue += (unsigned)turns;
  return first;
#else
  return (unsigned)__nvvm_atom_add_gen_i((int *)queue, turns);
#endif
}

// The work lists of a warp. Each idle lane takes an item from a list, so no lane waits for another
// one. A lane moves one step down a path, or along one edge, at a time; so all lanes of a warp work
// in each step.
template <bool around, class K> struct joiner {
  enum { room = 64, words = 2 * room + 3 * room + 3 * room };
  const rows<K> &r;
  const descent<around, K> &down;
  edge *edges;
  int64 *saddles;      // waiting saddles: word and bit
  unsigned *ways;      // waiting paths: two voxels, and the level with the upper bits of both voxels
  unsigned *links;     // waiting links: two minima, and the level
  int waiting = 0, ways_waiting = 0, links_waiting = 0;
  // The path of a lane: its voxel, the voxel of the second path, and the minimum of the first one.
  int64 at = 0, then = 0;
  unsigned level = 0, noted = none, first = 0;
  bool going = false, second = false;
  // The link of a lane, which is idle if a = b.
  unsigned a = 0, b = 0, limit = 0;

  member joiner(const rows<K> &r, const descent<around, K> &down, edge *edges, unsigned *memory)
      : r(r), down(down), edges(edges), saddles((int64 *)memory), ways(memory + 2 * room), links(memory + 5 * room) {}
  member static unsigned below() { return (1u << (thread_x() & 31)) - 1; }
  // The number of items left in a list after each idle lane has taken one from its end.
  member static int left_of(int waiting, unsigned idle) { return waiting > ones(idle) ? waiting - ones(idle) : 0; }

  // Adds a path for each lane with `has`. All lanes call it.
  member void add_way(bool has, int64 from, int64 to, unsigned key) {
    unsigned who = vote(has);
    unsigned *p = ways + 3 * (ways_waiting + ones(who & below()));
    if (has) p[0] = (unsigned)from, p[1] = (unsigned)to, p[2] = key | (unsigned)(from >> 32 & 1) << 16 | (unsigned)(to >> 32 & 1) << 17;
    ways_waiting += ones(who);
    sync_warp();
  }
  // Moves each lane one step down.
  member void go() {
    unsigned idle = vote(!going), before = ones(idle & below());
    if (!going && (int)before < ways_waiting) {
      const unsigned *p = ways + 3 * (ways_waiting - 1 - (int)before);
      level = p[2] & 0xffff, at = (int64)(p[2] >> 16 & 1) << 32 | p[0], then = (int64)(p[2] >> 17 & 1) << 32 | p[1];
      noted = none, going = true, second = around && at == outside();
      if (second) at = then, first = 0;
    }
    ways_waiting = left_of(ways_waiting, idle);
    unsigned found = 0;
    bool ends = going && down.ends(at, noted, found), has = ends && second && first != found;
    unsigned who = vote(has);
    unsigned *p = links + 3 * (links_waiting + ones(who & below()));
    if (has) p[0] = first, p[1] = found, p[2] = level;
    links_waiting += ones(who);
    if (ends && second) going = false;
    else if (ends) second = true, first = found, at = then;
    sync_warp();
  }
  member static int64 outside() { return (1ll << 33) - 1; }
  // Advances each lane's link by one step: joins two minima from a level on.
  member void link() {
    unsigned idle = vote(a == b), before = ones(idle & below());
    if (a == b && (int)before < links_waiting) {
      const unsigned *p = links + 3 * (links_waiting - 1 - (int)before);
      a = p[0], b = p[1], limit = p[2];
    }
    links_waiting = left_of(links_waiting, idle);
    if (a != b) {
      if (rank(a) < rank(b)) {
        unsigned t = a;
        a = b, b = t;
      }
      edge has = ((volatile edge *)edges)[a];
      unsigned of = (unsigned)(has >> 32), to = (unsigned)has;
      if (of <= limit) {
        a = to;
      } else if (compare_swap_global(edges + a, has, edge_of(limit, b)) == has) {
        if (of == none || planted(fault::moved)) a = b;
        else a = to, limit = of;
      }
    }
    sync_warp();
  }
};

// Warps take words from a queue, so that all of them work in a few planes and find their data in
// the cache. If few words have saddles, a warp takes more words at a time. When 32 saddles wait,
// each lane examines one. In a hollow image, each component except the first changes χ: by −1 in
// the set, by +1 in the background.
template <bool around, bool hollow, class K>
inlined void join(const rows<K> &r, const unsigned *numbers, const unsigned *words, edge *edges, unsigned *known, int levels, int64 *out) {
  enum { most = 4, few = 8 }; // most: words per lane and turn; few: a threshold for the saddles of a warp's words
  typedef joiner<around, K> lists;
  int lane = thread_x() & 31;
  unsigned *memory = (unsigned *)block_changes + (thread_x() >> 5) * lists::words;
  int64 *steps = (int64 *)((unsigned *)block_changes + (threads() >> 5) * lists::words);
  tally<K, of_chi, 1> to{levels, out, (int *)(steps + descent<around, K>::all)};
  if (hollow) to.begin();
  descent<around, K> down{r, (const four_words *)numbers + (around ? ways_around_it : ways_of_set) * r.stride(), known, steps};
  down.fill(r, steps);
  lists l(r, down, edges, memory);
  const unsigned *saddles = words + (around ? saddles_around : saddles_of_set) * r.stride();
  unsigned left = 0, word = 0, key = 0; // of the lane: the rest of its word; the key of its saddle
  int turns = 0, to_come = 0, found = 0, taken = 0; // of the warp: words per lane, words to come, saddles found in them
  bool more = true;
  meeting<around> m;
  for (;;) {
    if (l.links_waiting >= 32) {
      l.link();
    } else if (l.ways_waiting >= 32) {
      l.go();
    } else if (any(m.more())) { // each lane joins a component of its saddle with the first one
      bool has = m.more();
      int64 from = lists::outside(), with = 0;
      if (has) {
        int64 item = l.saddles[l.waiting + taken - 1 - lane]; // valid until the next saddles are added
        if (!around || m.first() != m.outside) from = item + steps[down.places + m.first()];
        with = item + steps[down.places + m.next()];
        if (planted(fault::third)) m.rest = 0;
        if (hollow) to.add(of_chi, key, around ? 1 : -1);
      }
      l.add_way(has, from, with, around ? 0xffff - key : key);
    } else if (l.waiting >= (more ? 32 : 1)) {
      taken = l.waiting < 32 ? l.waiting : 32;
      if (lane < taken) {
        int64 item = l.saddles[l.waiting - 1 - lane];
        int i, y, z;
        r.place(item >> 5, i, y, z);
        int x = 32 * i + (int)(item & 31);
        unsigned outside, link = link_of(r, x, y, z, outside);
        key = r.keys[r.at(x, y, z)];
        m = meeting<around>(link, outside);
      }
      l.waiting -= taken;
      if (planted(fault::waiting)) taken += l.waiting, l.waiting = 0;
      sync_warp();
    } else if (more) {
      while (l.waiting < 32) {
        unsigned who = vote(left != 0);
        if (!who) {
          word += 32;
          if (--to_come < 0) {
            turns = found < few * turns ? most : 1, to_come = turns - 1, found = 0;
            word = from_lane(lane ? 0 : take_turns(known + r.stride() + around, turns), 0) * 32 + (unsigned)lane;
          }
          more = word - (unsigned)lane < r.count;
          if (!more) break;
          left = word < r.count ? saddles[word] : 0;
          continue;
        }
        if (left) {
          l.saddles[l.waiting + ones(who & lists::below())] = (int64)word << 5 | first_of(left);
          left &= left - 1;
        }
        l.waiting += ones(who), found += ones(who);
      }
      sync_warp();
    } else if (any(l.going) || l.ways_waiting) {
      l.go();
    } else if (any(l.a != l.b) || l.links_waiting) {
      l.link();
    } else {
      break;
    }
  }
  if (hollow) to.end();
}

// Counts the edges of a word's minima at their levels, and initializes the edges of its maxima.
template <bool around, bool hollow, class K> inlined void deaths(const rows<K> &r, const unsigned *words, edge *edges, unsigned *known, int levels, int64 *out) {
  tally<K, around ? of_around : of_set, 1> to{levels, out, block_changes};
  to.begin();
  for (int64 at = (int64)block_x() * threads() + thread_x(); at < r.count; at += (int64)blocks() * threads()) {
    int minima = ones(words[(around ? minima_around : minima_of_set) * r.stride() + at]);
    for (int i = 0; i < minima; i++) {
      unsigned level = (unsigned)(edges[number_of(r.stride(), at, i)] >> 32);
      if (level != none) to.add(around ? of_around : of_set, around ? 0xffff - level : level, -1);
    }
    if (around || !hollow) continue;
    open_edges(edges, r.stride(), at, words[minima_around * r.stride() + at]);
    known[at] = 0;
    if (at == 0) edges[0] = edge_of(none, 0);
  }
  to.end();
}
