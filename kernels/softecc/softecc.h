// forward:  changes[p] = c(p), of the cells whose first voxel in Y is p
//           bin of Y(p) += c(p) times 1, δ and δ²
// curve:    χ(τ) = Σ over bins of its c times σ(τ − middle), and the moments' terms
// table:    G'(middle) = Σ g σ'(τ − middle), and its derivatives
// backward: dx[p] = −c(p) G'(Y(p))
//
// The soft Euler characteristic curve and its gradient (doc/softecc.md). Where Y is X and
// every value is one of the places, such as the levels of a ladder, voxels are counted by
// place, and nothing is approximated; else they are put into bins with two moments.
#pragma once
#include "../device.h"

extern __shared__ int block_changes[];

// Of a lambda, whose captures else are in memory.
#define ALWAYS_INLINED __attribute__((always_inline))

// Around it a float32 is an integer, and so are the lower bits of its pattern.
const float32 integers = 12582912.0f;
// The unit of the first two moments, in widths of a bin and their squares.
const double moment_unit = 1 << 30;
// How far from a threshold, in units of 1/λ, a sigmoid is 0 or 1 to the last bit.
const double reach = 40;

// An image with what is added to it: Y = X + (of_row[y, z] + along[x]), each sum rounded.
template <class T> struct tilted {
  const T *image;
  const float32 *along, *of_row;
  int w, h, d;
};

// Voxels as they were loaded: four of a lane, and the one before its warp's first, or for
// its last lane the one after.
template <class T> struct loaded {
  unsigned own[sizeof(T)];
  T edge;
  member float32 at(int i) const {
    const int each = 4 / sizeof(T);
    unsigned v = own[i / each] >> 8 * sizeof(T) * (i % each);
    if constexpr (sizeof(T) == 4) return as<float32>(v);
    else return (float32)(T)v;
  }
};

// Loads four voxels of a row that has so many left, one at least, or none where they are
// not asked for; of the last ones again where there are fewer. Aligned, rows begin at multiples of four.
template <bool aligned, class T> inlined void load(loaded<T> &to, const T *p, int left, bool asked) {
  if constexpr (aligned) {
    load_if(asked, to.own, p);
  } else {
    const int each = 4 / sizeof(T);
    if (!asked) return;
    UNROLL for (int i = 0; i < (int)sizeof(T); i++) to.own[i] = 0;
    UNROLL for (int i = 0; i < 4; i++) {
      unsigned v;
      T one = p[i < left ? i : left - 1];
      if constexpr (sizeof(T) == 4) v = as<unsigned>(one);
      else v = (unsigned)(int)one & ((1u << 8 * sizeof(T)) - 1);
      to.own[i / each] |= v << 8 * sizeof(T) * (i % each);
    }
  }
}

// The values of a row that a lane compares, its four with the one before and the one after:
// v is what a lane has, beyond what is beyond its warp.
template <class V> inlined void with_neighbours(V *m, const V *v, V beyond) {
  int lane = thread_x() & 31;
  V before = from_lane_before(v[3]), after = from_lane_after(v[0]);
  m[0] = lane == 0 ? beyond : before;
  UNROLL for (int i = 0; i < 4; i++) m[i + 1] = v[i];
  m[5] = lane == 31 ? beyond : after;
}

// Lesser values, and 1 where a > b, else 0: of one voxel as a float32, of two as halves.
inlined float32 least(float32 a, float32 b) { return __builtin_fminf(a, b); }
inlined unsigned least(unsigned a, unsigned b) { return least_halves(a, b); }
inlined float32 greater(float32 a, float32 b) { return greater_float(a, b); }
inlined half2 greater(unsigned a, unsigned b) { return greater_halves(a, b); }
template <class V> inlined void least_row(V *m, const V *a, const V *b) {
  UNROLL for (int i = 0; i < 6; i++) m[i] = least(a[i], b[i]);
}

// Of each of four values, 1 less the neighbours that it comes before: the one before it if
// less, the one after if not greater.
template <class V, class C> inlined void extrema(C *e, const V *m) {
  C g[5];
  UNROLL for (int i = 0; i < 5; i++) g[i] = greater(m[i], m[i + 1]);
  UNROLL for (int i = 0; i < 4; i++) e[i] = g[i + 1] - g[i];
}

// A way to add up the changes of voxels, by the value in Y.

// By place: every value is one of evenly spaced places, which are compared by their numbers,
// two at a time, as patterns of halves.
struct places {
  typedef unsigned value; // of a voxel of the first slab and one of the second
  typedef half2 change;
  enum { slabs = 2, spare = 32 }; // counters of no place, one for each lane
  int64 *counts; // of the places, and then whether a value is none of them
  int n;
  float32 scale, offset, step, least; // scale·v + offset is from 0 to 1; step·place + least the value

  member float32 number(float32 v) const { // plus integers
    return __builtin_fmaf(fma_saturated(v, scale, offset), (float32)(n - 1), integers);
  }
  template <class T> member float32 of(const tilted<T> &, float32 v, int, int) const { return number(v); }
  // Not 0 where a value, whose number is given, stands on no place.
  member unsigned stray(float32 number, float32 v) const { return as<unsigned>(__builtin_fmaf(number - integers, step, least)) ^ as<unsigned>(v); }
  member static float32 above() { return integers + 0x7c00; } // the number whose pattern is infinity
  member static value join(float32 a, float32 b) { return permute(as<unsigned>(a), as<unsigned>(b), 0x5410); }
  // What is an infinity where there is no voxel, and leaves values alone where there is.
  member static unsigned cover(bool out) { return out ? 0x7c007c00 : 0xfc00fc00; }
  member static value covered(value v, unsigned cover) { return greatest_halves(v, cover); }
  // What changes are multiplied with: 1, or 0 where there is no voxel.
  member static half2 kept(bool in, bool other) { return half2{(_Float16)in, (_Float16)other}; }
  // Changes are added to 0x6600, so that the lower byte of each half is one.
  member static unsigned word(half2 c, half2 kept) { return as<unsigned>(fma_halves(c, kept, half2{(_Float16)1536, (_Float16)1536})); }
  member static int of_word(unsigned word, int slab) { return (int)permute(word, 0, slab ? 0xaaa2 : 0x8880); }
  member static unsigned bytes(const unsigned (&w)[4], int slab) {
    unsigned selector = slab ? 0x62 : 0x40;
    return permute(permute(w[0], w[1], selector), permute(w[2], w[3], selector), 0x5410);
  }
  member void start() const {
    for (int k = thread_x(); k < n + spare; k += threads()) block_changes[k] = 0;
    __syncthreads();
  }
  // Adds four changes without a branch, for which two warps of a scheduler wait longer than an addition takes.
  member void add(const value *v, const unsigned (&word)[4], unsigned, int slab) const {
    unsigned none = shared_address(block_changes) + 4 * (n + (thread_x() & 31));
    UNROLL for (int i = 0; i < 4; i++) {
      int change = of_word(word[i], slab);
      unsigned to = shared_address(block_changes) + 4 * permute(v[i], 0, slab ? 0x4432 : 0x4410);
      add_shared(change ? to : none, change);
    }
  }
  member void finish(unsigned strays) const {
    if (strays) add_global(counts + n, (int64)1);
    __syncthreads();
    for (int k = thread_x(); k < n; k += threads())
      if (block_changes[k]) add_global(counts + k, (int64)block_changes[k]);
  }
};

// In bins, with two moments.
struct bins {
  typedef float32 value, change;
  enum { slabs = 1 };
  double lo, inverse;
  int64 *counts, n; // three to a bin, then the sum of changes below the first

  // The bin of a value, −1 below the first, and how far from its middle it is, in widths.
  member int64 bin(float32 v, double *from) const {
    double q = ((double)v - lo) * inverse;
    int64 k = (int64)(q + 0.5);
    *from = q - (double)k;
    return q > -0.5 ? k : -1;
  }
  template <class T> member float32 of(const tilted<T> &y, float32 v, int row, int x) const {
    return v + (y.of_row[row] + y.along[x]);
  }
  member unsigned stray(float32, float32) const { return 0; }
  member static float32 above() { return __builtin_huge_valf(); }
  member static value join(float32 a, float32) { return a; }
  member static float32 cover(bool out) { return out ? __builtin_huge_valf() : -__builtin_huge_valf(); }
  member static value covered(value v, float32 cover) { return __builtin_fmaxf(v, cover); }
  member static float32 kept(bool in, bool) { return in ? 1 : 0; }
  member static unsigned word(float32 c, float32 kept) { return as<unsigned>(__builtin_fmaf(c, kept, integers)); }
  member static int of_word(unsigned word, int) { return (int)permute(word, 0, 0x8880); }
  member static unsigned bytes(const unsigned (&w)[4], int) {
    return permute(permute(w[0], w[1], 0x40), permute(w[2], w[3], 0x40), 0x5410);
  }
  member void start() const {}
  member void add(const value *v, const unsigned (&word)[4], unsigned bytes, int slab) const {
    if (!bytes) return;
    UNROLL for (int i = 0; i < 4; i++) add(v[i], of_word(word[i], slab));
  }
  member void add(value v, int change) const {
    if (!change) return;
    double from;
    int64 k = bin(v, &from), *c = counts + 3 * k;
    if (k >= n) return; // above all that a threshold sees
    if (k < 0) return add_global(counts + 3 * n, (int64)change);
    add_global(c, (int64)change);
    add_global(c + 1, change * (int64)(from * moment_unit));
    add_global(c + 2, change * (int64)(from * from * moment_unit));
  }
  member void finish(unsigned) const {}
};

// A warp takes 128 columns of slabs, each of so many planes, and marches along y. Beside each it
// reads a plane before and one after, which share cells with it; slabs follow each other, in a
// flat image along y. Changes are four to a word, rows of them begin at words.
template <int planes, bool flat, bool aligned, class T, class To>
inlined void forward(const tilted<T> &y, unsigned *changes, int length, const To &to) {
  typedef typename To::value V;
  typedef typename To::change C;
  const int slabs = To::slabs, all = flat ? planes : planes + 2, first = flat ? 0 : 1, pairs = flat ? 0 : planes + 1;
  const int reads = flat ? slabs : slabs * planes + 2, apart = flat ? 1 : planes;
  to.start();
  unsigned strays = 0;
  int words = (y.w + 3) / 4, across = (words + 31) / 32, deep = flat ? 1 : (y.d + slabs * planes - 1) / (slabs * planes);
  int high = length * (flat ? slabs : 1), lane = thread_x() & 31;
  int items = across * deep * ((y.h + high - 1) / high), warps = threads() >> 5;
  for (int item = block_x() * warps + (thread_x() >> 5); item < items; item += blocks() * warps) {
    int x = (item % across * 32 + lane) * 4, z0 = item / across % deep * slabs * planes, y0 = item / across / deep * high;
    const int end = y0 + length < y.h ? y0 + length : y.h;
    V now[all][6];
    C owed[planes][4] = {}, owed_below[pairs + 1][4] = {};
    loaded<T> raw[reads];
    // A read is of a plane of the slabs and beside them, or of a slab of a flat image. Where
    // there is no voxel, the nearest one is read.
    auto plane = [&](int r) { return flat || (z0 + r - first >= 0 && z0 + r - first < y.d); };
    auto inside = [&](int r, int row) { return flat ? row + r * length >= 0 && row + r * length < y.h : row >= 0 && row < y.h; };
    auto nearest = [](int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; };
    auto line = [&](int r, int row) { return flat ? nearest(row + r * length, y.h) : nearest(z0 + r - first, y.d) * y.h + nearest(row, y.h); };
    const int beside = lane == 31 ? x + 4 : (x & ~127) - 1, near_beside = nearest(beside, y.w), near = x < y.w ? x : 0;
    const bool has = x < y.w, has_beside = beside >= 0 && beside < y.w;
    // Rows that have a voxel wherever there is a read; none where columns or planes have none.
    const int full = (x & ~127) + 128 <= y.w && plane(0) && plane(reads - 1) ? flat ? y.h - (slabs - 1) * length : y.h : 0;
    const auto no_edge = To::cover(!has_beside);
    C keeps[planes];
    UNROLL for (int p = 0; p < planes; p++) keeps[p] = To::kept(has && plane(p + first), has && plane(p + first + (slabs > 1 ? apart : 0)));
    unsigned *kept = changes + ((int64)z0 * y.h + y0) * words + (x >> 2);
    const int64 next_slab = (int64)length * words, next_plane = (int64)y.h * words; // of a flat image, and of others
    // Rows are loaded one after the other, a step before they are compared.
    const T *of[reads];
    UNROLL for (int r = 0; r < reads; r++) of[r] = y.image + (int64)line(r, y0 - 1) * y.w + near;
    auto fetch = [&](int row) ALWAYS_INLINED {
      UNROLL for (int r = 0; r < reads; r++) {
        load<aligned>(raw[r], of[r], y.w - near, true);
        raw[r].edge = of[r][near_beside - near];
        of[r] += (unsigned)(flat ? row + r * length : row) < (unsigned)y.h - 1 ? y.w : 0;
      }
    };
    // Values of Y, or the numbers of their places, of a row that was loaded: above all where there
    // is no voxel. Whether voxels beside the slabs stand on places, others look.
    float32 own[reads][4], edges[reads];
    auto settle = [&](int row) ALWAYS_INLINED {
      UNROLL for (int r = 0; r < reads; r++) {
        const int at = line(r, row);
        UNROLL for (int i = 0; i < 4; i++) {
          own[r][i] = to.of(y, raw[r].at(i), at, aligned ? near + i : nearest(near + i, y.w));
          if (r >= first && r < reads - first) strays |= to.stray(own[r][i], raw[r].at(i));
        }
        edges[r] = to.of(y, (float32)raw[r].edge, at, near_beside);
      }
      if (row < 0 || row >= full) {
        UNROLL for (int r = 0; r < reads; r++) {
          const bool out = !plane(r) || !inside(r, row);
          UNROLL for (int i = 0; i < 4; i++) if (out || x + i >= y.w) own[r][i] = To::above();
          if (out) edges[r] = To::above();
        }
      }
    };
    auto arrange = [&](int p, V *v) ALWAYS_INLINED {
      V own_of[4];
      const int other = slabs > 1 ? p + apart : p;
      UNROLL for (int i = 0; i < 4; i++) own_of[i] = To::join(own[p][i], own[other][i]);
      with_neighbours(v, own_of, To::covered(To::join(edges[p], edges[other]), no_edge));
    };
    fetch(y0 - 1);
    settle(y0 - 1);
    UNROLL for (int p = 0; p < all; p++) arrange(p, now[p]);
    fetch(y0);
    NOT_UNROLLED for (int row = y0 - 1; row < end; row++) {
      C c[planes][4], e[4];
      V m[6], next[all][6];
      settle(row + 1);
      UNROLL for (int p = 0; p < all; p++) arrange(p, next[p]);
      fetch(row + 2);
      // Rows alone, and with the rows after: the cells of two rows belong to the first
      // of them unless its value is greater.
      UNROLL for (int p = 0; p < planes; p++) {
        const V *a = now[p + first], *b = next[p + first];
        extrema(e, a);
        UNROLL for (int i = 0; i < 4; i++) c[p][i] = e[i] - owed[p][i];
        least_row(m, a, b);
        extrema(e, m);
        UNROLL for (int i = 0; i < 4; i++) {
          owed[p][i] = e[i] * greater(a[i + 1], b[i + 1]);
          c[p][i] += owed[p][i] - e[i];
        }
      }
      // With the planes after, and with both: of the two rows first, as above, and then of
      // the two planes.
      UNROLL for (int k = 0; k < pairs; k++) {
        C both[4];
        V low[6], below[6];
        least_row(low, now[k], now[k + 1]);
        least_row(below, next[k], next[k + 1]);
        least_row(m, low, below);
        extrema(e, low);
        extrema(both, m);
        UNROLL for (int i = 0; i < 4; i++) {
          C sum = owed_below[k][i] - e[i] + both[i], up = greater(now[k][i + 1], now[k + 1][i + 1]);
          owed_below[k][i] = both[i] * greater(low[i + 1], below[i + 1]);
          sum -= owed_below[k][i];
          C upper = sum * up;
          if (k > 0) c[k - 1][i] += sum - upper;
          if (k < planes) c[k][i] += upper;
        }
      }
      if (row >= y0) {
        UNROLL for (int p = 0; p < planes; p++) {
          unsigned word[4];
          C keep = keeps[p];
          if (flat && slabs > 1 && row >= y.h - length) keep = To::kept(has, false);
          UNROLL for (int i = 0; i < 4; i++) {
            word[i] = To::word(flat ? c[p][i] : -c[p][i], keep);
            if (!aligned && x + i >= y.w) word[i] = 0;
          }
          UNROLL for (int s = 0; s < slabs; s++) {
            unsigned bytes = To::bytes(word, s);
            to.add(now[p + first] + 1, word, bytes, s);
            int r = p + first + s * apart;
            if (has && plane(r) && (!flat || row < y.h - s * length)) kept[flat ? s * next_slab : (p + s * apart) * next_plane] = bytes;
          }
        }
        kept += words;
      }
      UNROLL for (int p = 0; p < all; p++) UNROLL for (int i = 0; i < 6; i++) now[p][i] = next[p][i];
    }
  }
  to.finish(strays);
}

// e to a power from −reach to reach, to a few units in the last place.
inlined double power(double a) {
  const double whole = 6755399441055744.0; // around it a double is an integer
  double n = a * 1.4426950408889634 + whole - whole;
  double r = (a - n * 0.69314718036912382) - n * 1.9082149292705877e-10, e = 1;
  UNROLL for (int k = 13; k > 0; k--) e = 1 + e * (r * (1. / k));
  return as<double>(as<int64>(e) + ((int64)n << 52));
}

// The sigmoid of a, and σ(1 − σ).
inlined double sigmoid(double a, double *slope) {
  double e = power(-a), s = 1 / (1 + e);
  *slope = e * s * s;
  return s;
}

// What another lane holds.
inlined double from_lane_by(double v, int lane) {
  int64 b = as<int64>(v);
  int lower = from_lane((int)b, lane), upper = from_lane((int)(b >> 32), lane);
  return as<double>((int64)upper << 32 | (unsigned)lower);
}

// The sum of a warp, in all its lanes, always in the same order.
inlined double sum_of_warp(double v) {
  UNROLL for (int far = 16; far > 0; far >>= 1) v += from_lane_by(v, (thread_x() & 31) ^ far);
  return v;
}

// The sum of a block, in its first warp, always in the same order.
inlined double sum_of_block(double v, double *shared) {
  v = sum_of_warp(v);
  __syncthreads(); // who read the last sum has done so
  if (!(thread_x() & 31)) shared[thread_x() >> 5] = v;
  __syncthreads();
  v = (thread_x() & 31) < threads() >> 5 ? shared[thread_x() & 31] : 0;
  return sum_of_warp(v);
}

// The bins' middles, what they hold, and the thresholds' parameters.
struct sums {
  const double *at;
  const int64 *counts;
  int n, each; // 3 with moments, else 1
  double width, lambda;
};

// χ, ∂τ and ∂λ of a threshold, a block each: see curve in impls/softecc/binned/bins.go.
inlined void curve_of(const sums &b, const double *tau, const double *g, double *out) {
  __shared__ double shared[32];
  double t = tau[block_x()], chi = 0, slope = 0, dl = 0;
  double unit = b.lambda * b.width / moment_unit;
  for (int k = thread_x(); k < b.n; k += threads()) {
    double z = t - b.at[k], a = b.lambda * z, c = (double)b.counts[(int64)k * b.each];
    if (a < -reach) continue;
    if (a > reach) {
      chi += c;
      continue;
    }
    double d, s = sigmoid(a, &d), d2 = d * (1 - 2 * s), d3 = d * (1 - 6 * d), first = 0, second = 0;
    if (b.each > 1) {
      first = unit * (double)b.counts[3 * (int64)k + 1];
      second = unit * b.lambda * b.width / 2 * (double)b.counts[3 * (int64)k + 2];
    }
    chi += c * s - first * d + second * d2;
    double part = c * d - first * d2 + second * d3;
    slope += part;
    dl += z * part + (2 * second * d2 - first * d) / b.lambda;
  }
  if (b.each > 1 && !thread_x()) chi += (double)b.counts[3 * (int64)b.n];
  chi = sum_of_block(chi, shared), slope = sum_of_block(slope, shared), dl = sum_of_block(dl, shared);
  if (thread_x()) return;
  out[3 * block_x()] = chi;
  out[3 * block_x() + 1] = g[block_x()] * b.lambda * slope;
  out[3 * block_x() + 2] = g[block_x()] * dl;
}

// G' and, of bins, its derivatives by the distance in widths, by one of so many blocks; a warp a bin.
inlined void table_of(const sums &b, const double *tau, const double *g, int thresholds, int block, int blocks, float32 *out) {
  int warps = threads() >> 5;
  for (int k = block * warps + (thread_x() >> 5); k < b.n; k += blocks * warps) {
    double v = 0, first = 0, second = 0;
    for (int j = thread_x() & 31; j < thresholds; j += 32) {
      double a = b.lambda * (tau[j] - b.at[k]);
      if (a < -reach || a > reach) continue;
      double d, s = sigmoid(a, &d), w = g[j] * b.lambda;
      v += w * d;
      first -= w * d * (1 - 2 * s);
      second += w * d * (1 - 6 * d);
    }
    v = sum_of_warp(v), first = sum_of_warp(first), second = sum_of_warp(second);
    if (thread_x() & 31) continue;
    double per = b.lambda * b.width;
    out[(int64)k * b.each] = (float32)v;
    if (b.each == 1) continue;
    out[3 * (int64)k + 1] = (float32)(per * first);
    out[3 * (int64)k + 2] = (float32)(per * per * second / 2);
  }
}

// c times G' of a voxel, by the table, which a block keeps in shared memory where it is of places:
// there what a change of 0 is multiplied with costs less than a branch around it.
struct at_places {
  places p;
  const float32 *slopes;
  member void start() const {
    for (int k = thread_x(); k < p.n; k += threads()) ((float32 *)block_changes)[k] = slopes[k];
    __syncthreads();
  }
  template <class T> member float32 times(int change, const tilted<T> &, float32 v, int, int) const {
    return (float32)change * ((const float32 *)block_changes)[as<unsigned>(p.number(v)) & 0xffff];
  }
};
struct in_bins {
  bins b;
  const float32 *slopes;
  member void start() const {}
  template <class T> member float32 times(int change, const tilted<T> &y, float32 v, int row, int x) const {
    if (!change) return 0;
    double from;
    int64 k = b.bin(b.of(y, v, row, x), &from);
    if (k < 0 || k >= b.n) return 0;
    const float32 *s = slopes + 3 * k;
    float32 f = (float32)from;
    return (float32)change * (s[0] + f * (s[1] + f * s[2]));
  }
};

// ∂X, and of each block the sums of c G' and of c G' times x, y and z. What forward read last may
// still be in the second-level cache: the last rows are taken first.
template <bool aligned, class T, class From>
inlined void backward(const tilted<T> &y, const unsigned *changes, float32 *dx, double *moments, const From &from) {
  typedef float32 four_floats __attribute__((ext_vector_type(4))); // which are stored together
  const int rows = 8; // of a plane that a warp takes together
  __shared__ double shared[32];
  from.start();
  int words = (y.w + 3) / 4, across = (words + 31) / 32, high = (y.h + rows - 1) / rows, warps = threads() >> 5;
  int items = across * high * y.d;
  double sum = 0, by_x = 0, by_y = 0, by_z = 0;
  for (int item = items - 1 - (block_x() * warps + (thread_x() >> 5)); item >= 0; item -= blocks() * warps) {
    int group = item / across, word = (item - group * across) * 32 + (thread_x() & 31), x = 4 * word;
    int z = group / high, y0 = (group - z * high) * rows, row0 = z * y.h + y0;
    unsigned c[rows][1] = {};
    loaded<T> v[rows];
    const int has = word < words ? y.h - y0 : 0; // rows
    const unsigned *kept = changes + (int64)row0 * words + word;
    UNROLL for (int r = 0; r < rows; r++) load_if(r < has, c[r], kept + (int64)r * words);
    const T *image = y.image + (int64)row0 * y.w + x;
    UNROLL for (int r = 0; r < rows; r++) {
      UNROLL for (int i = 0; i < (int)sizeof(T); i++) v[r].own[i] = 0;
      load<aligned>(v[r], image + (int64)r * y.w, y.w - x, c[r][0] != 0);
    }
    float32 *to = dx + (int64)row0 * y.w + x;
    // Sums of the rows, and of them times how far they are from the first, and likewise of columns.
    float32 all = 0, of_rows = 0, of_columns = 0;
    UNROLL for (int r = 0; r < rows; r++) {
      struct quad { float32 v[4]; } out = {};
      if (c[r][0]) {
        float32 p[4];
        UNROLL for (int i = 0; i < 4; i++) {
          p[i] = from.times((int)permute(c[r][0], 0, 0x8880 + 0x1111 * i), y, v[r].at(i), row0 + r, x + i);
          out.v[i] = -p[i];
        }
        float32 s = p[0] + p[1] + (p[2] + p[3]);
        all += s;
        of_rows += (float32)r * s;
        of_columns += p[1] + 2 * p[2] + 3 * p[3];
      }
      if (r >= has) continue;
      if (aligned) *(four_floats *)(to + (int64)r * y.w) = as<four_floats>(out);
      else UNROLL for (int i = 0; i < 4; i++) if (x + i < y.w) to[(int64)r * y.w + i] = out.v[i];
    }
    double s = all;
    sum += s;
    by_x += s * x + (double)of_columns;
    by_y += s * y0 + (double)of_rows;
    by_z += s * z;
  }
  sum = sum_of_block(sum, shared), by_x = sum_of_block(by_x, shared);
  by_y = sum_of_block(by_y, shared), by_z = sum_of_block(by_z, shared);
  if (thread_x()) return;
  double *out = moments + 4 * (int64)block_x();
  out[0] = sum, out[1] = by_x, out[2] = by_y, out[3] = by_z;
}

// The kernels of a type, for rows that begin at multiples of four voxels and for others.
// Parameters: the image and what is added to it, none of it to places; places or bins. Bins lie
// over four numbers, which the device may have made: the middle of the first, 1 over their
// width, their width, and λ.
#define IMAGE(T) const T *image, const float32 *along, const float32 *of_row, int w, int h, int d
#define TILTED(T) tilted<T>{image, along, of_row, w, h, d}
#define OF_PLACES int64 *counts, int n, float32 scale, float32 offset, float32 step, float32 first
#define PLACES places{counts, n, scale, offset, step, first}
#define OF_BINS const double *over, int64 *counts, int n
#define BINS bins{over[0], over[1], counts, n}
#define FORWARD(T, way, OF, WAY, dim, planes, flat, ending, aligned)                                                    \
  extern "C" __global__ void softecc_##way##_##dim##ending##_##T(IMAGE(T), unsigned *changes, int length, OF) {         \
    forward<planes, flat, aligned>(TILTED(T), changes, length, WAY);                                                   \
  }
#define BACKWARD(T, way, OF, FROM, ending, aligned)                                                                    \
  extern "C" __global__ void softecc_##way##_backward##ending##_##T(IMAGE(T), const unsigned *changes,                  \
                                                                    const float32 *slopes, float32 *dx, double *moments, OF) { \
    backward<aligned>(TILTED(T), changes, dx, moments, FROM);                                                          \
  }
#define BY_ALIGNMENT(T, ending, aligned)                                                                               \
  FORWARD(T, places, OF_PLACES, PLACES, 2d, 1, true, ending, aligned)                                                  \
  FORWARD(T, places, OF_PLACES, PLACES, 3d, 2, false, ending, aligned)                                                 \
  FORWARD(T, bins, OF_BINS, BINS, 2d, 1, true, ending, aligned)                                                        \
  FORWARD(T, bins, OF_BINS, BINS, 3d, 2, false, ending, aligned)                                                       \
  BACKWARD(T, places, OF_PLACES, (at_places{PLACES, slopes}), ending, aligned)                                         \
  BACKWARD(T, bins, OF_BINS, (in_bins{BINS, slopes}), ending, aligned)
#define SOFTECC(T) BY_ALIGNMENT(T, , true) BY_ALIGNMENT(T, _unaligned, false)
