// keys:     level of each voxel
// compare:  bits of the 13 neighbours before a voxel that are not above it
// scan:     of 32 voxels at a time, by operations on words: what each adds to χ, minima,
//           saddles, and where the others descend to
// join:     for each saddle: the minima that its link descends to, and unions of them
// deaths:   at which levels minima were joined to others
//
// Betti curves (doc/betti.md): minima less unions at saddles, of the sets and of what is
// around them, whatever the order in which the edges come. Each minimum has one edge at most,
// to one of a lesser rank: the forest of least edges. What an edge joins at its level is found
// by following edges that are not above it. Where a minimum has an edge that is above a new
// one, the new one takes its place by a compare-and-swap, and the old one is joined again from
// what it led to (triplet merge trees, Smirnov and Morozov 2017). Ranks are numbers mixed, so
// that the ways are short. The edges' levels are those of any least forest.
#pragma once
#include "../swap.h"
#include "fault.h"

#ifdef __clang__
#pragma clang diagnostic ignored "-Wbitwise-op-parentheses"
#endif

extern __shared__ int block_changes[];

// For each of the 27 places around a voxel, z slowest and x fastest, a word of bits of 32.
typedef unsigned places[27];
enum { middle = 13, number_words = 8, most_minima = 16, to_outside = 6, to_nowhere = 7 };
typedef unsigned four_words __attribute__((vector_size(16)));

inlined int ones(unsigned v) { return __builtin_popcount(v); }
inlined int first_of(unsigned v) { return __builtin_ctz(v); }

// The places that share a face with a voxel, by number.
inlined int face(int n) { return n < 3 ? n == 0 ? 4 : n == 1 ? 10 : 12 : n == 3 ? 14 : n == 4 ? 16 : 22; }

// Lists of words: the voxels that are saddles of the set and of what is around it, and the minima of both.
enum { saddles_of_set, saddles_around, minima_of_set, minima_around };

// An image of keys in rows of words of 32 voxels.
template <class K> struct rows {
  const K *keys;
  int w, h, d, words; // of a row
  int64 count;        // of all rows

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
  member int64 word(int x, int y, int z) const { return ((int64)z * h + y) * words + (x >> 5); }
};

// How many levels are below a value.
template <class T, class K> inlined void find_keys(const T *image, int64 n, const float32 *values, int levels, K *keys) {
  for (int64 i = (int64)block_x() * threads() + thread_x(); i < n; i += (int64)blocks() * threads()) {
    float32 v = (float32)image[i];
    int lo = 0, hi = levels;
    while (lo < hi) {
      int m = (lo + hi) >> 1;
      if (values[m] < v) lo = m + 1;
      else hi = m;
    }
    keys[i] = (K)lo;
  }
}

// Of 32 bytes of a row the ones that lie eight apart together: byte j of word i is voxel 8j + i, so that
// its bit, as one of 32, is 8j + i. And those beside the 32.
struct bytes {
  unsigned v[8], before, behind;
  // Of a row that is in the image, from its voxel 32·i on, of which so many are left.
  member bytes(const uint8 *p, bool in, int i, int left, bool wide) : v{} {
    unsigned l[8] = {};
    if (in) {
      if (wide) {
        const four_words *q = (const four_words *)p;
        four_words a = q[0], b{};
        if (left > 16) b = q[1];
        UNROLL for (int k = 0; k < 4; k++) l[k] = a[k], l[4 + k] = b[k];
      } else {
        UNROLL for (int k = 0; k < 8; k++) if (4 * k < left) l[k] = ((const unsigned *)p)[k];
      }
    }
    // Words that follow in a row are those of the lanes beside, but for the first and the last lane.
    int lane = thread_x() & 31;
    before = from_lane_before(l[7]) >> 24, behind = from_lane_after(l[0]);
    if (in && lane == 0 && i > 0) before = p[-1];
    if (in && lane == 31 && left > 32) behind = p[32];
    UNROLL for (int h = 0; h < 2; h++) {
      unsigned a = permute(l[h], l[2 + h], 0x5140), b = permute(l[h], l[2 + h], 0x7362); // bytes of two rows in turn
      unsigned c = permute(l[4 + h], l[6 + h], 0x5140), d = permute(l[4 + h], l[6 + h], 0x7362);
      v[4 * h] = permute(a, c, 0x5410), v[4 * h + 1] = permute(a, c, 0x7632), v[4 * h + 2] = permute(b, d, 0x5410), v[4 * h + 3] = permute(b, d, 0x7632);
    }
  }
  // Word i of the voxels so many behind, −1, 0 or 1.
  member unsigned word(int i, int dx) const {
    if (i + dx < 0) return v[7] << 8 | before;
    if (i + dx > 7) return v[0] >> 8 | behind << 24;
    return v[i + dx];
  }
};

// The voxels whose byte of this, so many behind, is not above the own.
inlined unsigned not_above(const bytes &other, const bytes &own, int dx) {
  const unsigned high = 0x80808080, low = 0x01010101;
  unsigned all = 0;
  UNROLL for (int i = 0; i < 8; i++) {
    unsigned a = other.word(i, dx), b = own.v[i], lesser = (b | high) - (a & ~high); // by the lower seven bits
    all |= ((~a & b) | (~(a ^ b) & lesser)) >> (7 - i) & low << i;
  }
  return all;
}

// A thread compares a word, four voxels in each instruction, of rows of whole fours.
inlined void compare_bytes(const rows<uint8> &r, unsigned *before) {
  int64 at = (int64)block_x() * threads() + thread_x();
  bool has = at < r.count;
  int i = 0, y = 0, z = 0;
  if (has) r.place(at, i, y, z);
  int left = r.w - 32 * i;
  bool wide = r.w % 16 == 0;
  unsigned mask = left < 32 ? (1u << left) - 1 : ~0u, not_first = i ? ~0u : ~1u, not_last = left > 32 ? ~0u : ~(1u << (left - 1));
  bytes own(r.keys + r.at(32 * i, y, z), has, i, left, wide);
  UNROLL for (int row = 0; row < 5; row++) { // of the plane before, and those before this one
    int dz = row < 3 ? -1 : 0, dy = row < 3 ? row - 1 : row - 4;
    bool in = has && z + dz >= 0 && (unsigned)(y + dy) < (unsigned)r.h;
    bytes other = own;
    if (row < 4) other = bytes(r.keys + r.at(32 * i, y + dy, z + dz), in, i, left, wide);
    unsigned there = in ? mask : 0;
    UNROLL for (int dx = -1; dx < 2; dx++) {
      int k = 3 * row + dx + 1;
      if (k >= middle || !has) continue;
      before[(int64)k * r.count + at] = not_above(other, own, dx) & there & (dx < 0 ? not_first : dx > 0 ? not_last : ~0u);
    }
  }
}
inlined bool compare_fours(const rows<uint8> &r, unsigned *before) {
  if (r.w % 4) return false;
  compare_bytes(r, before);
  return true;
}
template <class K> inlined bool compare_fours(const rows<K> &, unsigned *) { return false; }

// A warp compares 32 words, a voxel a lane; lanes keep a word each.
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
    UNROLL for (int k = 0; k < middle; k++) before[(int64)k * r.count + first + lane] = mine[k];
}

// Adds to each place those that touch it.
inlined void spread(places &l) {
  UNROLL for (int i = 0; i < 27; i += 3) {
    unsigned a = l[i], b = l[i + 1], c = l[i + 2];
    l[i] = a | b, l[i + 1] = a | b | c, l[i + 2] = b | c;
  }
  UNROLL for (int i = 0; i < 27; i++) {
    if (i / 3 % 3) continue;
    unsigned a = l[i], b = l[i + 3], c = l[i + 6];
    l[i] = a | b, l[i + 3] = a | b | c, l[i + 6] = b | c;
  }
  UNROLL for (int i = 0; i < 9; i++) {
    unsigned a = l[i], b = l[i + 9], c = l[i + 18];
    l[i] = a | b, l[i + 9] = a | b | c, l[i + 18] = b | c;
  }
}

// Numbers of 32 voxels, a bit of each in a word.
struct sum_of_bits {
  unsigned bit[5];
  member sum_of_bits() : bit{} {}
  member void add(unsigned v) {
    UNROLL for (int i = 0; i < 5; i++) {
      unsigned carry = bit[i] & v;
      bit[i] ^= v, v = carry;
    }
  }
  // Three at a time, of which the sum has two bits.
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

// What voxels add to χ, more by 13: of the cells of a voxel those count that none of its link
// has, vertices and faces for one, edges and the whole for one less.
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

// Changes by level: of χ, of minima and of maxima. Where keys are bytes a block keeps them, else the
// device's memory does.
enum { of_chi, of_set, of_around, lists };
template <class K> struct tally {
  int levels;
  int64 *out;
  member static bool kept() { return sizeof(K) == 1; }
  member int size() const { return levels + 1; }
  member void begin() const {
    if (!kept()) return;
    for (int i = thread_x(); i < lists * size(); i += threads()) block_changes[i] = 0;
    __syncthreads();
  }
  member void add(int list, int key, int change) const {
    if (kept()) add_shared(shared_address(block_changes) + 4 * (list * size() + key), change);
    else add_global(out + (int64)list * size() + key, (int64)change);
  }
  member void end() const {
    if (!kept()) return;
    __syncthreads();
    for (int i = thread_x(); i < lists * size(); i += threads())
      if (block_changes[i]) add_global(out + i, (int64)block_changes[i]);
  }
};

// A minimum's edge: the level in the upper half, and the minimum that it leads to. One that has none is its own.
typedef unsigned long long edge;
enum : unsigned { none = 0xffffffff };
inlined edge edge_of(unsigned level, unsigned to) { return (edge)level << 32 | to; }
// The number of the outside is 0, and those of minima are by their words.
inlined unsigned number_of(int64 word, unsigned minima, int bit) {
  return 1 + (unsigned)word * most_minima + (unsigned)ones(minima & ((1u << bit) - 1));
}
inlined void open_edges(edge *edges, int64 word, unsigned minima) {
  for (int n = ones(minima), i = 0; i < n; i++) {
    unsigned number = 1 + (unsigned)word * most_minima + (unsigned)i;
    edges[number] = edge_of(none, number);
  }
}

// What is known of one of each eight voxels of a word (descent).
inlined void forget(unsigned *known, int64 word) {
  *(four_words *)(known + 4 * word) = four_words{};
}

// The voxels of a word that are minima of the set, or of what is around it.
inlined unsigned minima_of(const unsigned *n, bool around) {
  return around ? n[5] & n[6] & n[7] : n[0] & ~n[1] & n[2] & n[3] & ~n[4]; // the number of the middle
}

// Finds what 32 voxels add, a word a thread. Numbers say where a voxel descends to: five bits
// for a place, and three for a face, the outside or nowhere.
template <class K>
inlined void scan(const rows<K> &r, const unsigned *before, unsigned *numbers, unsigned *words, edge *edges, unsigned *known, int levels, int64 *out) {
  tally<K> to{levels, out};
  to.begin();
  for (int64 at = (int64)block_x() * threads() + thread_x(); at < r.count; at += (int64)blocks() * threads()) {
    int i, y, z;
    r.place(at, i, y, z);
    int left = r.w - 32 * i;
    unsigned mask = left < 32 ? (1u << left) - 1 : ~0u, leftmost = i == 0, rightmost = left <= 32 ? 1u << (left - 1) : 0;
    places l;
    unsigned outside[9]; // the rows around that are not in the image
    UNROLL for (int k = 0; k < 9; k++) outside[k] = (unsigned)(z + k / 3 - 1) < (unsigned)r.d && (unsigned)(y + k % 3 - 1) < (unsigned)r.h ? 0 : mask;
    l[middle] = 0;
    UNROLL for (int k = 0; k < middle; k++) {
      l[k] = before[k * r.count + at]; // which is 0 for what is not in the image
      int back = 26 - k, dz = back / 9 - 1, dy = back / 3 % 3 - 1, dx = back % 3 - 1;
      unsigned v = 0, in = mask & ~(dx < 0 ? leftmost : dx > 0 ? rightmost : 0);
      if ((unsigned)(z + dz) >= (unsigned)r.d || (unsigned)(y + dy) >= (unsigned)r.h) in = 0;
      if (in) {
        // The other one is not above a voxel that it precedes, seen from there.
        const unsigned *p = before + k * r.count + at + ((int64)dz * r.h + dy) * r.words;
        v = p[0];
        if (dx < 0) v = v << 1 | (i > 0 ? p[-1] >> 31 : 0);
        if (dx > 0) v = v >> 1 | (i < r.words - 1 ? p[1] << 31 : 0);
      }
      l[back] = in & ~v;
    }
    unsigned *n = numbers + at * number_words;
    unsigned only_around[6], number[number_words] = {}, maxima = 0, joining_around = 0;
    bool hollow = r.d > 2 && r.h > 2 && r.w > 2;
    if (hollow) {
      // What is around comes in the reverse order, the outside first.
      auto out_at = [&](int k) { return outside[k / 3] | (k % 3 == 0 ? leftmost : k % 3 == 2 ? rightmost : 0); };
      auto up = [&](int k) { return mask & ~l[k] | out_at(k); };
      unsigned seen = 0;
      UNROLL for (int f = 0; f < 6; f++) {
        only_around[f] = out_at(face(f));
        seen |= only_around[f];
      }
      number[6] = number[7] = seen;
      UNROLL for (int f = 0; f < 6; f++) {
        unsigned first = up(face(f)) & ~seen;
        only_around[f] |= first, seen |= first;
        if (f & 1) number[5] |= first;
        if (f & 2) number[6] |= first;
        if (f & 4) number[7] |= first;
      }
      maxima = mask & ~seen;
      number[5] |= maxima, number[6] |= maxima, number[7] |= maxima;
      for (unsigned changed = mask; changed;) {
        changed = 0;
        UNROLL for (int a = 0; a < 6; a++)
          UNROLL for (int b = a + 1; b < 6; b++) {
            if (a + b == 5) continue; // opposite
            unsigned meet = up(face(a)) & up(face(b)) & up(face(a) + face(b) - middle) & (only_around[a] ^ only_around[b]);
            only_around[a] |= meet, only_around[b] |= meet, changed |= meet;
          }
        unsigned some = 0;
        UNROLL for (int f = 0; f < 6; f++) some |= up(face(f)) & ~only_around[f];
        joining_around = some;
        if (!some) break;
      }
    }
    if (planted(fault::side) && z == r.d - 1) joining_around = 0;
    // A voxel descends to where the link is deepest, as the faces have it, if that is in the link: ways are half as
    // long as by the first place of it.
    unsigned seen = 0, to_side[3][3];
    UNROLL for (int a = 0; a < 3; a++) {
      int face = a == 0 ? 1 : a == 1 ? 3 : 9;
      to_side[a][0] = l[middle - face] & ~l[middle + face], to_side[a][2] = l[middle + face] & ~l[middle - face], to_side[a][1] = ~(to_side[a][0] | to_side[a][2]);
    }
    auto deepest = [&](int k) { return to_side[0][k % 3] & to_side[1][k / 3 % 3] & to_side[2][k / 9] & l[k]; };
    places only;
    UNROLL for (int k = 0; k < 27; k++) only[k] = deepest(k), seen |= only[k];
    UNROLL for (int k = 0; k < 27; k++) {
      unsigned first = only[k] | l[k] & ~seen;
      only[k] = first, seen |= first;
      UNROLL for (int bit = 0; bit < 5; bit++)
        if (k >> bit & 1) number[bit] |= first;
    }
    unsigned minima = mask & ~seen;
    UNROLL for (int bit = 0; bit < 5; bit++)
      if (middle >> bit & 1) number[bit] |= minima;
    unsigned some = 0;
    for (unsigned changed = mask; changed;) {
      places next;
      UNROLL for (int k = 0; k < 27; k++) next[k] = only[k];
      spread(next);
      changed = some = 0;
      UNROLL for (int k = 0; k < 27; k++) {
        unsigned v = next[k] & l[k];
        changed |= v ^ only[k], only[k] = v, some |= l[k] & ~v;
      }
      if (!some) break;
    }
    UNROLL for (int k = 0; k < number_words; k += 4) *(four_words *)(n + k) = four_words{number[k], number[k + 1], number[k + 2], number[k + 3]};
    words[saddles_of_set * r.count + at] = some & mask, words[saddles_around * r.count + at] = joining_around & mask;
    words[minima_of_set * r.count + at] = minima, words[minima_around * r.count + at] = maxima;
    const K *keys = r.keys + r.at(32 * i, y, z);
    for (unsigned m = minima; m; m &= m - 1) to.add(of_set, keys[first_of(m)], 1);
    for (unsigned m = maxima; m; m &= m - 1) to.add(of_around, keys[first_of(m)], 1);
    open_edges(edges, at, minima);
    forget(known, at);
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

// A bijection, of which 0 comes first.
inlined unsigned rank(unsigned v) {
  v = (v ^ v >> 16) * 0x7feb352du;
  v = (v ^ v >> 15) * 0x846ca68bu;
  return v ^ v >> 16;
}

// Joins two minima from a level on.
inlined void unite(volatile edge *edges, unsigned a, unsigned b, unsigned level) {
  while (a != b) {
    if (rank(a) < rank(b)) {
      unsigned t = a;
      a = b, b = t;
    }
    edge has = edges[a];
    unsigned at = (unsigned)(has >> 32), to = (unsigned)has;
    if (at <= level) {
      a = to;
      continue;
    }
    if (compare_swap_global((edge *)edges + a, has, edge_of(level, b)) != has) continue;
    if (at == none || planted(fault::moved)) return;
    a = to, level = at;
  }
}

// The columns of 27 bits at the ends of x and y.
enum : unsigned { least_x = 0111111111, greatest_x = 0444444444, least_y = 0007007007, greatest_y = 0700700700 };

// Of a set of places those that are joined with the first one, at faces, edges and corners.
inlined unsigned component(unsigned set) {
  for (unsigned of = set & (0 - set);;) {
    unsigned v = of | (of & ~greatest_x) << 1 | (of & ~least_x) >> 1;
    v |= (v & ~greatest_y) << 3 | (v & ~least_y) >> 3;
    v = (v | v << 9 | v >> 9) & set;
    if (v == of) return of;
    of = v;
  }
}

// Of a set of places the faces that are joined with some of them, at edges that are there.
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

// A voxel on its way down.
template <bool around, class K> struct descent {
  const rows<K> &r;
  const unsigned *numbers;
  volatile unsigned *known; // 0, or the minimum that one of each eight voxels descends to

  member unsigned minimum(int x, int y, int z, int place) const {
    int64 noted = -1;
    unsigned found;
    for (;;) {
      x += place % 3 - 1, y += place / 3 % 3 - 1, z += place / 9 - 1;
      if (around && !r.in(x, y, z)) { // in one step
        found = 0;
        break;
      }
      int64 word = r.word(x, y, z);
      int bit = x & 31;
      const unsigned *n = numbers + word * number_words;
      int number;
      four_words half = *(const four_words *)(around ? n + 4 : n); // together, for a way waits for each of them
      if (around) {
        number = (int)(half[1] >> bit & 1 | (half[2] >> bit & 1) << 1 | (half[3] >> bit & 1) << 2);
        if (number == to_outside) {
          found = 0;
          break;
        }
        place = number == to_nowhere ? middle : face(number);
      } else {
        place = (int)(half[0] >> bit & 1 | (half[1] >> bit & 1) << 1 | (half[2] >> bit & 1) << 2 | (half[3] >> bit & 1) << 3 | (n[4] >> bit & 1) << 4);
      }
      if (place == middle) {
        found = number_of(word, minima_of(n, around), bit);
        break;
      }
      if (((unsigned)bit ^ rank((unsigned)word)) & 7) continue;
      int64 note = word * 4 + (bit >> 3);
      unsigned v = known[note];
      if (v) {
        found = v - 1;
        break;
      }
      if (noted < 0) noted = note;
    }
    if (noted >= 0) known[noted] = found + 1;
    return found;
  }
};

// Joins what is in the link of a saddle.
template <bool around, class K> inlined void join_at(const rows<K> &r, const descent<around, K> &down, int x, int y, int z, edge *edges) {
  int64 row = r.w, plane = (int64)r.w * r.h;
  const K *p = r.keys + r.at(x, y, z);
  unsigned key = p[0], set = 0, outside = 0;
  UNROLL for (int k = 0; k < 27; k++) {
    if (k == middle) continue;
    int dz = k / 9 - 1, dy = k / 3 % 3 - 1, dx = k % 3 - 1;
    if (!r.in(x + dx, y + dy, z + dz)) {
      outside |= 1u << k;
      continue;
    }
    unsigned other = p[dz * plane + dy * row + dx];
    if (k < middle ? other <= key : other < key) set |= 1u << k;
  }
  if (!around) {
    unsigned first = 0;
    for (bool some = false; set; some = true) {
      unsigned of = component(set), found = down.minimum(x, y, z, first_of(set));
      if (some) unite(edges, first, found, key);
      else first = found;
      set &= ~of;
      if (some && planted(fault::third)) return;
    }
    return;
  }
  unsigned const all = (1u << 27) - 1;
  unsigned faces = 0;
  UNROLL for (int f = 0; f < 6; f++) faces |= 1u << face(f);
  set = all & ~set & ~(1u << middle) | outside;
  unsigned level = 0xffff - key, from = set & faces & outside ? set & faces & outside : set & faces & (0 - (set & faces));
  unsigned first = from & outside ? 0 : down.minimum(x, y, z, first_of(from));
  for (unsigned rest = set & faces & ~component_of_faces(set, from); rest;) {
    unsigned one = rest & (0 - rest);
    unite(edges, first, down.minimum(x, y, z, first_of(one)), level);
    rest &= ~component_of_faces(set, one);
  }
}

// A warp goes through words, 32 at a time, until as many saddles wait as it has lanes: each lane joins
// one. Few words have any where values are smooth.
template <bool around, class K> inlined void join(const rows<K> &r, const unsigned *numbers, const unsigned *words, edge *edges, unsigned *known) {
  int lane = thread_x() & 31, waiting = 0;
  int64 *list = (int64 *)block_changes + (thread_x() >> 5) * 64; // word and bit of those that wait
  descent<around, K> down{r, numbers, known};
  const unsigned *saddles = words + (around ? saddles_around : saddles_of_set) * r.count;
  int64 stride = (int64)blocks() * threads(), first = (((int64)block_x() * threads() + thread_x()) & ~31ll) - stride;
  unsigned left = 0; // of the lane's word
  for (;;) {
    while (waiting < 32) {
      unsigned who = vote(left != 0);
      if (!who) {
        first += stride;
        if (first >= r.count) break;
        left = first + lane < r.count ? saddles[first + lane] : 0;
        continue;
      }
      if (left) {
        list[waiting + ones(who & ((1u << lane) - 1))] = (first + lane) << 5 | first_of(left);
        left &= left - 1;
      }
      waiting += ones(who);
    }
    if (!waiting) break;
    sync_warp();
    int take = waiting < 32 ? waiting : 32;
    if (lane < take) {
      int64 item = list[waiting - 1 - lane];
      int i, y, z;
      r.place(item >> 5, i, y, z);
      join_at<around>(r, down, 32 * i + (int)(item & 31), y, z, edges);
    }
    waiting = planted(fault::waiting) ? 0 : waiting - take;
    sync_warp();
  }
}

// Counts the edges of a word's minima at their levels, and opens those of its maxima.
template <class K> inlined void deaths(const rows<K> &r, const unsigned *words, int around, edge *edges, unsigned *known, int levels, int64 *out) {
  tally<K> to{levels, out};
  to.begin();
  for (int64 at = (int64)block_x() * threads() + thread_x(); at < r.count; at += (int64)blocks() * threads()) {
    int minima = ones(words[(around ? minima_around : minima_of_set) * r.count + at]);
    for (int i = 0; i < minima; i++) {
      unsigned level = (unsigned)(edges[1 + at * most_minima + i] >> 32);
      if (level != none) to.add(around ? of_around : of_set, around ? 0xffff - level : level, -1);
    }
    if (around) continue;
    open_edges(edges, at, words[minima_around * r.count + at]);
    forget(known, at);
    if (at == 0) edges[0] = edge_of(none, 0);
  }
  to.end();
}
