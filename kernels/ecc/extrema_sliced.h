// Extrema along z (extrema_3d.h), for 32 voxels at a time, bit-sliced: slice s is a word that holds
// bit s of 32 voxels. A comparison takes as many logical operations as a voxel has bits, and a
// minimum as many again; a pair of halves takes one operation for two voxels. But comparison
// results and changes are then single bits, and are added up in slices, too.
//
// A thread holds two columns of sixteen rows per word, in one word or two. Row r of a word's first
// column is bit 15 − r, of its second column bit 31 − r. So the next row is a shift to the left,
// and the next column a permutation of two words. A warp covers 64 or 128 columns. It counts the
// cells that begin in its first fifteen rows, and the changes of all sixteen.
#pragma once
#include "../handover.h"
#include "histogram.h"

namespace sliced {

enum { rows = 16 };

// The truth-table columns of the three arguments of logic.
enum : unsigned { A = 0xf0, B = 0xcc, C = 0xaa };
// b where the bit of c is set, else a.
inlined unsigned choose(unsigned c, unsigned b, unsigned a) { return logic<(A & B) | (~A & C)>(c, b, a); }
inlined unsigned sum(unsigned a, unsigned b, unsigned c) { return logic<A ^ B ^ C>(a, b, c); }
inlined unsigned carry(unsigned a, unsigned b, unsigned c) { return logic<(A & B) | (A & C) | (B & C)>(a, b, c); }

// The slices of one image of a plane: v, or its minima along x, along y or along both.
template <int bits, int words> struct image { unsigned slice[words][bits]; };

// 1 where a > b.
template <int bits> inlined unsigned greater(const unsigned (&a)[bits], const unsigned (&b)[bits]) {
  unsigned g = a[0] & ~b[0];
  UNROLL for (int s = 1; s < bits; s++) g = logic<(A & ~B) | (C & (A | ~B))>(a[s], b[s], g);
  return g;
}
template <int bits>
inlined void least(unsigned (&out)[bits], const unsigned (&a)[bits], const unsigned (&b)[bits], unsigned a_greater) {
  UNROLL for (int s = 0; s < bits; s++) out[s] = choose(a_greater, b[s], a[s]);
}

// Exchanges the upper d bits of each group of 2d bits of a with the lower d bits of the group of b.
template <int d> inlined void exchange(unsigned &a, unsigned &b) {
  const unsigned low = d == 4 ? 0x0f0f0f0f : d == 2 ? 0x33333333 : 0x55555555;
    unsigned up = b << d, down = a >> d;
  a = choose(low, a, up);
  b = choose(low, down, b);
}

// Transposes an 8 × 8 bit matrix for each byte position: afterwards bit k of the byte in word i is
// bit i of that byte in word k.
inlined void transpose(unsigned *s) {
  UNROLL for (int k = 0; k < 4; k++) exchange<4>(s[k], s[k + 4]);
  UNROLL for (int k = 0; k < 8; k++) if (!(k & 2)) exchange<2>(s[k], s[k + 2]);
  UNROLL for (int k = 0; k < 8; k += 2) exchange<1>(s[k], s[k + 1]);
}
// The slices of a thread's 8-bit voxels. row holds four columns of each row.
inlined void slice(image<8, 2> &out, const unsigned (&row)[rows]) {
  UNROLL for (int w = 0; w < 2; w++) {
    UNROLL for (int k = 0; k < 8; k++) out.slice[w][k] = permute(row[15 - k], row[7 - k], w ? 0x7362 : 0x5140);
    transpose(out.slice[w]);
  }
}
// The same for 10 or 16 bits. row holds two columns of each row.
template <int bits> inlined void slice(image<bits, 1> &out, const unsigned (&row)[rows]) {
  unsigned *s = out.slice[0], upper[8];
  UNROLL for (int k = 0; k < 8; k++) {
    s[k] = permute(row[15 - k], row[7 - k], 0x6240);
    upper[k] = permute(row[15 - k], row[7 - k], 0x7351);
  }
  transpose(s);
  if constexpr (bits == 16) {
    transpose(upper);
    UNROLL for (int k = 0; k < 8; k++) s[8 + k] = upper[k];
  } else {
    unsigned even = upper[0], odd = upper[1]; // at most two bits of each byte are set
    UNROLL for (int k = 2; k < 8; k += 2) even += upper[k] << k, odd += upper[k + 1] << k;
    exchange<1>(even, odd);
    s[8] = even, s[9] = odd;
  }
}

// The next column of each column. After a thread's last column follows the next lane's first one.
// After the warp's last column follows beyond: lane t has its row 15 − t modulo 16.
template <int bits, int words>
inlined void next_column(image<bits, words> &out, const image<bits, words> &v, unsigned beyond) {
  int lane = thread_x() & 31;
  beyond >>= lane >> 4; // two slices at once: the upper half of the warp has the odd ones
  UNROLL for (int s = 0; s < bits; s += 2) {
    unsigned first = permute(v.slice[0][s], v.slice[0][s + 1], 0x5410);
    unsigned theirs = vote(beyond >> s & 1);
    theirs = from_lane(lane ? first : theirs, (lane + 1) & 31);
    UNROLL for (int i = 0; i < 2; i++) {
      UNROLL for (int w = 0; w < words - 1; w++) out.slice[w][s + i] = permute(v.slice[w][s + i], v.slice[w + 1][s + i], 0x5432);
      out.slice[words - 1][s + i] = permute(v.slice[words - 1][s + i], theirs, i ? 0x7632 : 0x5432);
    }
  }
}
template <int bits> inlined void next_row(unsigned (&out)[bits], const unsigned (&v)[bits]) {
  UNROLL for (int s = 0; s < bits; s++) out[s] = v[s] << 1;
}

// Where cells begin in a thread's words: cells of the minima along x, along y, and along both; and
// where a next column and a next row exist. A voxel in the image's first column and the edge
// between it and the outside have equal values and opposite signs. They cancel, so both are
// omitted; likewise in the first row.
template <int words> struct place { unsigned x[words], y[words], xy[words], column[words], row[words]; };

template <int words> inlined place<words> place_of(int width, int height, int x, int y) {
  place<words> p{};
  UNROLL for (int c = 0; c < 2 * words; c++)
    UNROLL for (int r = 0; r < rows; r++) {
      unsigned bit = 1u << (15 - r + 16 * (c & 1));
      if (x + c + 1 < width) p.column[c / 2] |= bit;
      if (y + r + 1 < height) p.row[c / 2] |= bit;
      if (x + c >= width || y + r >= height || r == rows - 1) continue;
      p.xy[c / 2] |= bit;
      if (y + r) p.x[c / 2] |= bit;
      if (x + c) p.y[c / 2] |= bit;
    }
  return p;
}

// A warp's state of a plane. owners: 1 where a minimum is the value of the next column or row.
// falls: 1 where an image falls from the previous plane.
template <int bits, int words> struct plane { image<bits, words> v, x, y, xy; };
template <int words> struct owners { unsigned x[words], y[words], xy[words]; };
template <int words> struct falls { unsigned v[words], x[words], y[words], xy[words]; };

// Replaces the previous plane by the next one, and computes its owners and falls.
template <int bits, int words>
inlined void next_plane(plane<bits, words> &p, owners<words> &o, falls<words> &f, const place<words> &at,
                        const image<bits, words> &v, unsigned beyond) {
  image<bits, words> of;
  next_column(of, v, beyond);
  UNROLL for (int w = 0; w < words; w++) {
    f.v[w] = logic<A & B & C>(greater(p.v.slice[w], v.slice[w]), at.x[w], at.y[w]);
    o.x[w] = greater(v.slice[w], of.slice[w]) & at.column[w];
    least(of.slice[w], v.slice[w], of.slice[w], o.x[w]);
    f.x[w] = greater(p.x.slice[w], of.slice[w]) & at.x[w];
    unsigned below[bits];
    next_row(below, v.slice[w]);
    o.y[w] = greater(v.slice[w], below) & at.row[w];
    least(below, v.slice[w], below, o.y[w]);
    f.y[w] = greater(p.y.slice[w], below) & at.y[w];
    UNROLL for (int s = 0; s < bits; s++) p.v.slice[w][s] = v.slice[w][s], p.x.slice[w][s] = of.slice[w][s], p.y.slice[w][s] = below[s];
    next_row(below, of.slice[w]);
    o.xy[w] = greater(of.slice[w], below) & at.row[w];
    least(below, of.slice[w], below, o.xy[w]);
    f.xy[w] = greater(p.xy.slice[w], below) & at.xy[w];
    UNROLL for (int s = 0; s < bits; s++) p.xy.slice[w][s] = below[s];
  }
}

// The changes of a thread's voxels in a plane, plus 8, in four slices. handed receives the changes
// that the warp's last column hands to the next column, plus 3, in three slices.
template <int words>
inlined void changes(unsigned (&n)[words][4], unsigned (&handed)[2], const owners<words> &o, const falls<words> &fell,
                    const falls<words> &falling) {
  int lane = thread_x() & 31;
  unsigned mine[words][3], theirs[words][3];
  UNROLL for (int w = 0; w < words; w++) {
    // The changes of the minima along x, with the parts that those along both axes hand to them. A
    // subtracted bit is added as its complement, which makes the sum one too large.
    unsigned own = fell.xy[w] & ~o.xy[w], own_not = falling.xy[w] & ~o.xy[w];
    unsigned above = (fell.xy[w] & o.xy[w]) >> 1, above_not = (falling.xy[w] & o.xy[w]) >> 1;
    if (planted(fault::sign)) own_not = 0;
    unsigned s = logic<A ^ ~B ^ C>(falling.x[w], fell.x[w], own);
    unsigned c = logic<(A & ~B) | (A & C) | (~B & C)>(falling.x[w], fell.x[w], own);
    unsigned s2 = logic<~A ^ B ^ ~C>(own_not, above, above_not);
    unsigned c2 = logic<(~A & B) | (~A & ~C) | (B & ~C)>(own_not, above, above_not);
    unsigned t[3] = {s ^ s2, sum(c, c2, s & s2), carry(c, c2, s & s2)};
    unsigned owner = planted(fault::owner) ? 0 : o.x[w];
    UNROLL for (int k = 0; k < 3; k++) {
      mine[w][k] = k < 2 ? t[k] | owner : t[k] & ~owner;
      theirs[w][k] = k < 2 ? t[k] | ~owner : t[k] & owner;
    }
  }
  // The changes that the previous column hands on.
  unsigned last = theirs[words - 1][2], pair = permute(theirs[words - 1][0], theirs[words - 1][1], 0x7632);
  handed[0] = from_lane(pair, 31), handed[1] = from_lane(last, 31);
  pair = from_lane(pair, (lane - 1) & 31), last = from_lane(last, (lane - 1) & 31);
  if (!lane) pair = 0xffffffff, last = 0;
  unsigned in[words][3];
  in[0][0] = permute(pair, theirs[0][0], 0x5410);
  in[0][1] = permute(pair, theirs[0][1], 0x5432);
  in[0][2] = permute(last, theirs[0][2], 0x5432);
  UNROLL for (int w = 1; w < words; w++)
    UNROLL for (int k = 0; k < 3; k++) in[w][k] = permute(theirs[w - 1][k], theirs[w][k], 0x5432);

  UNROLL for (int w = 0; w < words; w++) {
    unsigned own = falling.y[w] & ~o.y[w], own_not = fell.y[w] & ~o.y[w];
    unsigned above = (falling.y[w] & o.y[w]) >> 1, above_not = (fell.y[w] & o.y[w]) >> 1;
    // A one of each weight is added too, so that the sum is 8 too large modulo 16.
    unsigned s = logic<A ^ ~B ^ C>(fell.v[w], falling.v[w], own);
    unsigned c = logic<(A & ~B) | (A & C) | (~B & C)>(fell.v[w], falling.v[w], own);
    unsigned s2 = logic<~A ^ B ^ ~C>(own_not, above, above_not);
    unsigned c2 = logic<(~A & B) | (~A & ~C) | (B & ~C)>(own_not, above, above_not);
    unsigned s3 = sum(s, s2, mine[w][0]), c3 = carry(s, s2, mine[w][0]);
    n[w][0] = ~(s3 ^ in[w][0]);
    unsigned c4 = s3 | in[w][0];
    s = sum(mine[w][1], in[w][1], c), s2 = sum(c2, c3, c4);
    unsigned d = carry(mine[w][1], in[w][1], c), d2 = carry(c2, c3, c4), d3 = s | s2;
    n[w][1] = ~(s ^ s2);
    s = sum(mine[w][2], in[w][2], d);
    unsigned e = carry(mine[w][2], in[w][2], d), e2 = carry(s, d2, d3);
    s = sum(s, d2, d3);
    n[w][2] = ~s;
    n[w][3] = logic<~(A ^ B ^ C)>(e, e2, s);
  }
}

// The change that the last column hands to the next column, in row 15 − t for lane t.
inlined int change_beyond(const unsigned (&handed)[2]) {
  int lane = thread_x() & 31;
  unsigned at = handed[0] >> lane;
  return (int)((at & 1) + (at >> 15 & 2) + (handed[1] >> (16 + lane) << 2 & 4)) - 3;
}

// Adds the changes of a thread's voxels, four rows per round. in.take returns a row of a word,
// in.add adds the change of one of its voxels.
template <class Reader, int words> inlined void each_change(const Reader &in, const unsigned (&n)[words][4]) {
  unsigned s[words][4];
  UNROLL for (int w = 0; w < words; w++) {
    UNROLL for (int k = 0; k < 4; k++) s[w][k] = n[w][k];
    exchange<2>(s[w][0], s[w][2]), exchange<2>(s[w][1], s[w][3]);
    exchange<1>(s[w][0], s[w][1]), exchange<1>(s[w][2], s[w][3]);
  }
  UNROLL for (int i = 0; i < 4; i++) {
    typename Reader::row row[4];
    UNROLL for (int k = 0; k < 4; k++) row[k] = in.take(15 - i - 4 * k);
    UNROLL for (int w = 0; w < words; w++)
      UNROLL for (int k = 0; k < 4; k++) { // rows 8 apart are in different bytes, rows 4 apart in the nibbles of a byte
        unsigned four = (k & 1 ? s[w][i] >> 4 : s[w][i]) & 0x0f0f0f0f;
        UNROLL for (int c = 0; c < 2; c++) in.add(row[k], 2 * w + c, (int)dot_bytes(four, 1u << (8 * (2 * c + k / 2)), -8u));
      }
    in.settle(15 - i);
  }
}

// Warps take segments of strips of tiles: the first by their number, others from the queue.
__device__ unsigned queue, ended;

// Counts an image, with work from a queue. A Reader (sliced_planes.h) supplies planes one by one,
// from begin on. in.add refers to the plane before the one that bring returned last.
template <class Reader> inlined void march(Reader &in, int width, int height, int depth, int segment, unsigned *queue) {
  const int bits = Reader::bits, words = Reader::words, columns = 64 * words;
  int lane = thread_x() & 31, warps = threads() >> 5, all = blocks() * warps;
  if (planted(fault::slab)) depth--;
  int across = (width + columns - 1) / columns, down = (height + rows - 2) / (rows - 1);
  int items = across * down * ((depth + segment - 1) / segment);
  for (int item = block_x() + (thread_x() >> 5) * blocks(); item < items;) {
    int tile = item % across, strip = item / across % down, first = item / across / down * segment;
    int last = first + segment < depth ? first + segment : depth;
    int x = tile * columns, y = strip * (rows - 1), from = first ? first - 1 : 0;
    const int end = last < depth ? last : depth - 1; // planes that have a next one
    const auto at = place_of<words>(width, height, x + 2 * words * lane, y);
    in.begin(x, y, from, end + 1 - from);
    plane<bits, words> p{};
    image<bits, words> v;
    owners<words> o;
    falls<words> fell;
    unsigned beyond;
    in.bring(v, beyond);
    next_plane(p, o, fell, at, v, beyond);
    in.pass();
    if (first) {
      in.bring(v, beyond);
      next_plane(p, o, fell, at, v, beyond);
      in.pass();
    } else {
      UNROLL for (int w = 0; w < words; w++)
        fell.v[w] = at.x[w] & at.y[w], fell.x[w] = at.x[w], fell.y[w] = at.y[w], fell.xy[w] = at.xy[w];
    }
    unsigned n[words][4], handed[2];
    for (int z = first; z < end; z++) {
      auto whose = o;
      falls<words> falling;
      unsigned of = beyond;
      in.bring(v, beyond);
      next_plane(p, o, falling, at, v, beyond);
      changes(n, handed, whose, fell, falling);
      each_change(in, n);
      if (lane < rows && !planted(fault::halo)) in.add_beyond(of, change_beyond(handed));
      in.pass();
      fell = falling;
    }
    if (end < last) {
      changes(n, handed, o, fell, falls<words>{});
      each_change(in, n);
      if (lane < rows && !planted(fault::halo)) in.add_beyond(beyond, change_beyond(handed));
    }
    sync_warp();
    if (items <= all) return;
    item = lane ? 0 : all + (int)take_turn(queue);
    item = from_lane(item, 0);
  }
}

// The last block to end resets the queue for the next launch.
inlined void ready_again() {
  __syncthreads();
  if (!thread_x() && count_block(&ended) == (unsigned)blocks() - 1) queue = 0;
}
}
