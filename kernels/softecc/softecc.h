// forward:  changes[p] = c(p), the signed number of cells whose first voxel in Y is p
//           bin of Y(p) += c(p) times 1, δ and δ²
// curve:    χ(τ) = Σ over bins of c·σ(τ − centre), and the terms of the moments
// table:    G'(centre) = Σ g σ'(τ − centre), and its derivatives
// backward: dx[p] = −c(p) G'(Y(p))
//
// The soft Euler characteristic curve and its gradient (doc/proofs/softecc.md). If Y is X and every
// value is one of a list of places, such as the levels of a ladder, voxels are counted by place,
// and nothing is approximated. Otherwise each block sorts voxels into bins in its shared memory,
// with two moments, and evaluates its part of the curve itself, so one launch handles a batch.
#pragma once
#include "../device.h"

extern __shared__ int block_changes[];

// For lambdas, whose captures would otherwise be in memory.
#define ALWAYS_INLINED __attribute__((always_inline))

// Near it, a float32 is an integer, and so are the lower bits of its pattern.
const float32 integers = 12582912.0f;
// The unit of the two moments, in widths of a bin and squared widths.
const double moment_unit = 1 << 30;
// The distance from a threshold, in units of 1/λ, from which on a sigmoid is 0 or 1 to the last
// bit.
const double reach = 40;
// The warps of a block that are stacked, besides the first one.
const int stack = 11;
// If at most this number of a warp's lanes have changes, they wait in a queue.
const int few = 4;

// An image with a tilt: Y = X + (of_row[y, z] + along[x]), each sum rounded to float32.
template <class T> struct tilted {
  const T *image;
  const float32 *along, *of_row; // null if Y is X
  int w, h, d;
  member float32 term_along(int x) const { return along ? along[x] : 0; }
  member float32 term_of(int row) const { return of_row ? of_row[row] : 0; }
};

// The voxels that a lane loads: four of its own, and the one next to its warp: before the first
// lane's, or after the last lane's.
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

// Loads four voxels of a row, or none unless asked. left ≥ 1 is the number of voxels to the end of
// the row; the last one is repeated beyond it. aligned: rows begin at multiples of four voxels.
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

// m receives the six values that a lane compares: its own four and their two neighbours. v has the
// lane's own values, beyond the value next to its warp.
template <class V> inlined void with_neighbours(V *m, const V *v, V beyond) {
  int lane = thread_x() & 31;
  V before = from_lane_before(v[3]), after = from_lane_after(v[0]);
  m[0] = lane == 0 ? beyond : before;
  UNROLL for (int i = 0; i < 4; i++) m[i + 1] = v[i];
  m[5] = lane == 31 ? beyond : after;
}

// The minimum, and 1 where a > b, else 0: of one voxel as a float32, or of two as halves.
inlined float32 least(float32 a, float32 b) { return __builtin_fminf(a, b); }
inlined unsigned least(unsigned a, unsigned b) { return least_halves(a, b); }
inlined float32 greater(float32 a, float32 b) { return greater_float(a, b); }
inlined half2 greater(unsigned a, unsigned b) { return greater_halves(a, b); }
template <class V> inlined void least_row(V *m, const V *a, const V *b) {
  UNROLL for (int i = 0; i < 6; i++) m[i] = least(a[i], b[i]);
}

// For each of four values: 1 minus the number of its row neighbours that it precedes. It precedes
// the previous neighbour if it is less, the next one if it is not greater.
template <class V, class C> inlined void extrema(C *e, const V *m) {
  C g[5];
  UNROLL for (int i = 0; i < 5; i++) g[i] = greater(m[i], m[i + 1]);
  UNROLL for (int i = 0; i < 4; i++) e[i] = g[i + 1] - g[i];
}

// The greater of a and b; NaN if either is.
inlined float32 greatest_or_nan(float32 a, float32 b) {
#ifdef ON_HOST
  return a != a || b != b ? __builtin_nanf("") : a > b ? a : b;
#else
  float32 d;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
#endif
}

// Two ways to add up the changes of voxels by their value in Y.

// By place: every value is one of n evenly spaced places. Places are compared by their numbers, two
// at a time, as bit patterns of halves.
struct places {
  typedef unsigned value; // a voxel of the first slab and one of the second
  typedef half2 change;
  typedef unsigned oddity;
  struct pending {};
  struct queue {};
  enum { slabs = 2, stacked = false, spare = 32 }; // spare: counters for changes of 0, one per lane
  int64 *counts; // by place, followed by a flag for values on no place
  int n;
  float32 scale, offset, step, least; // scale·v + offset is in 0 … 1; step·place + least is the value

  member float32 number(float32 v) const { // plus integers
    return __builtin_fmaf(fma_saturated(v, scale, offset), (float32)(n - 1), integers);
  }
  member float32 of(float32 v, float32, float32) const { return number(v); }
  // Remains not 0 after a value v with this number that is on no place.
  member void stray(unsigned *odd, float32 number, float32 v) const { *odd |= as<unsigned>(__builtin_fmaf(number - integers, step, least)) ^ as<unsigned>(v); }
  member static bool odd(unsigned odd) { return odd; }
  member static float32 above() { return integers + 0x7c00; } // its half pattern is infinity
  member static value join(float32 a, float32 b) { return permute(as<unsigned>(a), as<unsigned>(b), 0x5410); }
  // For covered: infinity where there is no voxel; −infinity, which changes nothing, elsewhere.
  member static unsigned cover(bool out) { return out ? 0x7c007c00 : 0xfc00fc00; }
  member static value covered(value v, unsigned cover) { return greatest_halves(v, cover); }
  // The factor of changes: 1, or 0 where there is no voxel.
  member static half2 kept(bool in, bool other) { return half2{(_Float16)in, (_Float16)other}; }
  // Changes are added to 0x6600 (1536), so that the lower byte of each half is the change.
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
  // Adds four changes without branches, which would cost more than additions of 0.
  member void add(const value *v, const unsigned (&word)[4], unsigned, int slab, pending *) const {
    unsigned none = shared_address(block_changes) + 4 * (n + (thread_x() & 31));
    UNROLL for (int i = 0; i < 4; i++) {
      int change = of_word(word[i], slab);
      unsigned to = shared_address(block_changes) + 4 * permute(v[i], 0, slab ? 0x4432 : 0x4410);
      add_shared(change ? to : none, change);
    }
  }
  member static void drain(pending *, int) {}
  member void finish(bool strays, pending) const {
    if (strays) add_global(counts + n, (int64)1);
    __syncthreads();
    for (int k = thread_x(); k < n; k += threads())
      if (block_changes[k]) add_global(counts + k, (int64)block_changes[k]);
  }
};

// Starts to load a line of memory into the second-level cache.
inlined void prefetch(const void *p) {
#ifndef ON_HOST
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#endif
}

// Fast approximations by the special function unit, within 2 units in the last place.
#ifdef ON_HOST
inlined float32 power_of_two(float32 v) { return __builtin_exp2f(v); }
inlined float32 reciprocal(float32 v) { return 1 / v; }
#else
inlined float32 power_of_two(float32 v) {
  float32 p;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(p) : "f"(v));
  return p;
}
inlined float32 reciprocal(float32 v) {
  float32 r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}
#endif

// The sigmoid of a. slope receives σ(1 − σ).
inlined float32 sigmoid(float32 a, float32 *slope) {
  float32 e = power_of_two(a * -1.442695041f), s = reciprocal(1 + e);
  *slope = e * s * s;
  return s;
}

// The value of another lane.
inlined double from_lane_by(double v, int lane) {
  int64 b = as<int64>(v);
  int lower = from_lane((int)b, lane), upper = from_lane((int)(b >> 32), lane);
  return as<double>((int64)upper << 32 | (unsigned)lower);
}

// The sum over a warp, in all lanes, in a fixed order.
inlined double sum_of_warp(double v) {
  UNROLL for (int far = 16; far > 0; far >>= 1) v += from_lane_by(v, (thread_x() & 31) ^ far);
  return v;
}

// The positions of the bins, computed by softecc_lay: the centre of bin k is zero + width·(first +
// k). zero is 0, or so far from 0 that its difference to a value in the bins is exact. bins is 0 if
// the question has no answer. The thresholds follow in memory.
struct laid { double zero, width, lambda, first, bins; };

// A threshold is the centre of bin near, plus rest/λ.
struct threshold {
  int near;
  float32 rest;
};

// The distance from a threshold, in units of 1/λ, from which on a sigmoid in float32 is 0 or 1.
const float32 near_reach = 20;

// By bin, in shared memory: the changes of a bin, and their first and second moments. The bins are
// followed by one per lane, for changes outside of them.
// At the end are the sum of the changes below all bins, and the number of threads that found a NaN.
struct bins {
  typedef float32 value, change;
  typedef float32 oddity;
  struct alignas(16) four_values { float32 v[4]; };
  // Values and changes of lanes.
  struct queue {
    four_values of[32 + 4 * few];
    unsigned bytes[32 + 4 * few];
  };
  struct pending {
    int below;       // the sum of changes below all bins
    int waiting;     // lanes in the queue of the warp
    queue *of_warps; // or null
  };
  enum { slabs = 1, stacked = true, spare = 32 };
  const laid *over;
  int thresholds, n;
  float32 zero, width, inverse;
  int lowest;      // the bits of the number of the first bin, counted from zero, plus integers
  float32 unit;    // moments of a change c are c·unit·(distance in widths), and c·unit·(distance)²
  double *partial; // the block's parts, by threshold: χ, and if derivatives ∂τ and ∂λ
  bool derivatives;

  member const threshold *at() const { return (const threshold *)(over + 1); }
  member int words() const { return 3 * (n + spare); }
  // The bin of a value: negative below the first bin, n or more above the last one. from receives
  // the exact distance from its centre. Greater numbers have greater bits, also beyond the range of
  // integers.
  member int bin(float32 v, float32 *from) const {
    const float32 d = v - zero, q = __builtin_fmaf(d, inverse, integers);
    *from = __builtin_fmaf(integers - q, width, d);
    return as<int>(q) - lowest;
  }
  member float32 of(float32 v, float32 of_row, float32 along) const { return v + (of_row + along); }
  // Remains NaN after a NaN, with which no curve is defined.
  member void stray(float32 *odd, float32 y, float32) const { *odd = greatest_or_nan(*odd, y); }
  member static bool odd(float32 odd) { return odd != odd; }
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
  member void start() const {
    for (int k = thread_x(); k < words() + 2; k += threads()) block_changes[k] = 0;
    __syncthreads();
  }
  // Counts the changes of a warp, or puts them into its queue if few lanes have any: in a smooth
  // image most rows have some, but few.
  member void add(const value *v, const unsigned (&word)[4], unsigned bytes, int, pending *to) const {
    const unsigned lanes = vote(bytes != 0);
    const int found = __builtin_popcount(lanes);
    if (found > (to->of_warps ? few : 0)) {
      count(v, word, &to->below);
    } else if (to->of_warps) {
      queue &q = to->of_warps[thread_x() >> 5];
      const int at = to->waiting + __builtin_popcount(lanes & ((1u << (thread_x() & 31)) - 1));
      if (bytes) q.of[at] = four_values{{v[0], v[1], v[2], v[3]}}, q.bytes[at] = bytes;
      to->waiting += found;
    }
  }
  // Counts up to 32 lanes of the queue if at least `least` are waiting.
  member void drain(pending *from, int least) const {
    if (!from->of_warps || from->waiting < least) return;
    const queue &q = from->of_warps[thread_x() >> 5];
    const int rest = from->waiting < 32 ? 0 : from->waiting - 32, at = rest + (thread_x() & 31);
    sync_warp();
    const four_values of = q.of[at];
    const unsigned bytes = at < from->waiting ? q.bytes[at] : 0;
    sync_warp();
    unsigned word[4];
    UNROLL for (int i = 0; i < 4; i++) word[i] = as<unsigned>(integers) + permute(bytes, 0, 0x8880 + 0x1111 * i);
    count(of.v, word, &from->below);
    from->waiting = rest;
  }
  // Counts four changes without branches, which would cost more than additions of 0. Changes below
  // all bins are summed in a register. Changes above all bins affect no threshold.
  member void count(const value *v, const unsigned (&word)[4], int *below) const {
    const int none = n + (thread_x() & 31);
    UNROLL for (int i = 0; i < 4; i++) {
      float32 from;
      const int k = bin(v[i], &from), change = as<int>(word[i]) - as<int>(integers);
      from *= inverse;
      const float32 moment = (as<float32>(word[i]) - integers) * unit * from;
      const unsigned to = shared_address(block_changes) + 12 * (change && (unsigned)k < (unsigned)n ? k : none);
      *below += k < 0 ? change : 0;
      add_shared(to, change);
      add_shared(to + 4, as<int>(moment + integers) - as<int>(integers));
      add_shared(to + 8, as<int>(__builtin_fmaf(moment, from, integers)) - as<int>(integers));
    }
  }
  // Computes the block's part of the curve, one warp per threshold.
  member void finish(bool strays, pending of_warp) const {
    drain(&of_warp, 1);
    const int lane = thread_x() & 31, each = derivatives ? 3 : 1;
    const int *last = block_changes + words();
    const unsigned ends = shared_address(block_changes) + 4 * words();
    if (of_warp.below) add_shared(ends, of_warp.below);
    if (strays) add_shared(ends + 4, 1);
    __syncthreads();
    const float32 step = (float32)(over->lambda * over->width), per_first = step / unit, per_second = step * per_first / 2;
    const int window = n ? (int)(near_reach / step) + 1 : 0;
    for (int j = thread_x() >> 5; j < thresholds; j += threads() >> 5) {
      const threshold t = at()[j];
      const int begin = t.near > window ? t.near - window : 0, end = t.near + window < n ? t.near + window + 1 : n;
      int below = lane ? 0 : last[0];
      for (int k = lane; k < begin; k += 32) below += block_changes[3 * k];
      double chi = below, slope = 0, by_lambda = 0;
      for (int k = begin + lane; k < end; k += 32) {
        const float32 a = __builtin_fmaf((float32)(t.near - k), step, t.rest), c = (float32)block_changes[3 * k];
        float32 d, s = sigmoid(a, &d);
        const float32 d2 = d * (1 - 2 * s), f = per_first * (float32)block_changes[3 * k + 1];
        const float32 g = per_second * (float32)block_changes[3 * k + 2];
        chi += (double)(c * s - f * d + g * d2);
        if (!derivatives) continue;
        const float32 d3 = d * (1 - 6 * d), part = c * d - f * d2 + g * d3;
        slope += (double)part;
        by_lambda += (double)(a * part + (2 * g * d2 - f * d));
      }
      chi = sum_of_warp(chi);
      if (derivatives) slope = sum_of_warp(slope), by_lambda = sum_of_warp(by_lambda);
      if (lane) continue;
      double *to = partial + (int64)each * j;
      to[0] = n && !last[1] ? chi : __builtin_nan("");
      if (derivatives) to[1] = over->lambda * slope, to[2] = by_lambda / over->lambda;
    }
  }
};
inlined bins bins_of(const laid *over, int thresholds, float32 unit, double *partial, bool derivatives) {
  const int lowest = as<int>(integers) + (int)over->first;
  return bins{over, thresholds, (int)over->bins, (float32)over->zero, (float32)over->width, (float32)(1 / over->width), lowest, unit, partial, derivatives};
}

// Synchronizes a block whose warps may wait at different places.
inlined void sync_warps() {
#ifdef ON_HOST
  __syncthreads();
#else
  __nvvm_barrier_sync_cnt(1, threads());
#endif
}

// Computes the changes of all voxels and adds them up. A warp takes 128 columns of slabs of
// `planes` planes each and marches along y. It also reads the planes before and after its slabs,
// which share cells with them. Slabs are consecutive planes; in a flat image they are consecutive
// rows. If stacked, the warps of a block have consecutive slabs and march together: each computes
// the cells between its slab and the next one, and hands the next warp the changes of its voxels.
// The first warp does only this. Changes are packed four to a word, and rows of them begin at
// words. An image is shared by `blocks` blocks.
template <int planes, bool flat, bool aligned, class T, class To>
inlined void forward(const tilted<T> &y, unsigned *changes, int length, const To &to, int block, int blocks) {
  typedef typename To::value V;
  typedef typename To::change C;
  struct alignas(16) four_changes { C of[4]; };
  const bool stacked = !flat && To::stacked;
  const int slabs = To::slabs, first = flat || stacked ? 0 : 1;
  const int pairs = flat ? 0 : planes + first, all = flat ? planes : pairs + 1;
  const int reads = flat ? slabs : slabs * planes + first + 1, apart = flat ? 1 : planes;
  to.start();
  typename To::oddity strays = 0;
  const int lane = thread_x() & 31, warp = thread_x() >> 5, warps = threads() >> 5;
  __shared__ typename To::queue queues[stacked ? stack + 1 : 1];
  typename To::pending pending{};
  if constexpr (stacked) pending.of_warps = queues;
  const int words = (y.w + 3) / 4, across = (words + 31) / 32, most = stacked ? (warps - 1) * planes : slabs * planes;
  // The planes of an item.
  const int deep = flat ? 1 : (y.d + most - 1) / most, each = stacked ? (y.d + deep - 1) / deep : most;
  __shared__ four_changes handing[2][stacked ? stack + 1 : 1][32]; // to the next warp, by row in turns
  const int high = length * (flat ? slabs : 1), items = across * deep * ((y.h + high - 1) / high);
  const bool counts = !stacked || warp > 0;
  int turn = 0;
  for (int item = stacked ? block : block * warps + warp; item < items; item += stacked ? blocks : blocks * warps) {
    int x = (item % across * 32 + lane) * 4, y0 = item / across / deep * high;
    int z0 = item / across % deep * each + (stacked ? (warp - 1) * planes : 0);
    const int end = y0 + length < y.h ? y0 + length : y.h;
    if (stacked && ((warp - 1) * planes >= each || z0 >= y.d)) {
      for (int row = y0; row < end; row++) sync_warps();
      turn ^= (end - y0) & 1;
      continue;
    }
    V now[all][6];
    C owed[planes][4] = {}, owed_below[pairs + 1][4] = {};
    loaded<T> raw[reads];
    // A read is a plane of the slabs or next to them, or a slab of a flat image. Where there is no
    // voxel, the nearest one is read.
    auto plane = [&](int r) { return flat || (z0 + r - first >= 0 && z0 + r - first < y.d); };
    auto inside = [&](int r, int row) { return flat ? row + r * length >= 0 && row + r * length < y.h : row >= 0 && row < y.h; };
    auto nearest = [](int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; };
    auto line = [&](int r, int row) { return flat ? nearest(row + r * length, y.h) : nearest(z0 + r - first, y.d) * y.h + nearest(row, y.h); };
    const int beside = lane == 31 ? x + 4 : (x & ~127) - 1, near_beside = nearest(beside, y.w), near = x < y.w ? x : 0;
    const bool has = x < y.w, has_beside = beside >= 0 && beside < y.w;
    // The number of rows in which every read has a voxel; 0 if columns or planes are missing.
    const int full = (x & ~127) + 128 <= y.w && plane(0) && plane(reads - 1) ? flat ? y.h - (slabs - 1) * length : y.h : 0;
    const auto no_edge = To::cover(!has_beside);
    // Planes beyond the item's belong to other items.
    auto mine = [&](int p) { return !stacked || (warp - 1) * planes + p < each; };
    C keeps[planes];
    UNROLL for (int p = 0; p < planes; p++) {
      const int other = p + first + (slabs > 1 ? apart : 0);
      keeps[p] = To::kept(has && plane(p + first) && mine(p), has && plane(other));
    }
    unsigned *kept = changes + ((int64)z0 * y.h + y0) * words + (x >> 2);
    const int64 next_slab = (int64)length * words, next_plane = (int64)y.h * words; // for flat images; for others
    // Rows are loaded in order, one step before they are compared.
    const T *of[reads];
    int lines[reads];
    float32 terms[reads];
    UNROLL for (int r = 0; r < reads; r++) lines[r] = line(r, y0 - 1), of[r] = y.image + (int64)lines[r] * y.w + near;
    auto fetch = [&](int row) ALWAYS_INLINED {
      UNROLL for (int r = 0; r < reads; r++) {
        load<aligned>(raw[r], of[r], y.w - near, true);
        raw[r].edge = of[r][near_beside - near];
        terms[r] = y.term_of(lines[r]);
        const bool more = (unsigned)(flat ? row + r * length : row) < (unsigned)y.h - 1;
        of[r] += more ? y.w : 0, lines[r] += more;
      }
    };
    float32 along[4], along_edge = y.term_along(near_beside);
    UNROLL for (int i = 0; i < 4; i++) along[i] = y.term_along(aligned ? near + i : nearest(near + i, y.w));
    // The values of Y, or the numbers of their places, of a loaded row; `above` where there is no
    // voxel. Strays are checked in the slabs only, because other warps check the planes next to
    // them.
    float32 own[reads][4], edges[reads];
    auto settle = [&](int row) ALWAYS_INLINED {
      UNROLL for (int r = 0; r < reads; r++) {
        UNROLL for (int i = 0; i < 4; i++) {
          own[r][i] = to.of(raw[r].at(i), terms[r], along[i]);
          if (r >= first && r < first + slabs * planes) to.stray(&strays, own[r][i], raw[r].at(i));
        }
        edges[r] = to.of((float32)raw[r].edge, terms[r], along_edge);
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
    auto step = [&](int row, V (&now)[all][6], V (&next)[all][6]) ALWAYS_INLINED {
      C c[planes][4], e[4];
      four_changes handed;
      V m[6];
      settle(row + 1);
      UNROLL for (int p = 0; p < all; p++) arrange(p, next[p]);
      fetch(row + 2);
      // With the next planes, and with both the next planes and rows: a cell of two rows belongs to
      // the first row unless its value is greater, and in the same way to the first plane.
      UNROLL for (int k = pairs - 1; k >= 0; k--) {
        if (stacked && k < pairs - 1 && !counts) break;
        C both[4];
        V low[6], below[6];
        least_row(low, now[k], now[k + 1]);
        least_row(below, next[k], next[k + 1]);
        least_row(m, low, below);
        extrema(e, low);
        extrema(both, m);
        const int lower = k - first;
        UNROLL for (int i = 0; i < 4; i++) {
          C sum = owed_below[k][i] - e[i] + both[i], up = greater(now[k][i + 1], now[k + 1][i + 1]);
          owed_below[k][i] = both[i] * greater(low[i + 1], below[i + 1]);
          sum -= owed_below[k][i];
          C upper = sum * up;
          if (lower >= 0) c[lower][i] = sum - upper;
          if (lower + 1 < planes) c[lower + 1][i] += upper;
          else handed.of[i] = upper;
        }
      }
      if (stacked && row >= y0) handing[turn][warp][lane] = handed;
      // The rows alone, and with the next rows.
      if (counts) UNROLL for (int p = 0; p < planes; p++) {
        const V *a = now[p + first], *b = next[p + first];
        extrema(e, a);
        UNROLL for (int i = 0; i < 4; i++) c[p][i] = flat ? e[i] - owed[p][i] : c[p][i] + (e[i] - owed[p][i]);
        least_row(m, a, b);
        extrema(e, m);
        UNROLL for (int i = 0; i < 4; i++) {
          owed[p][i] = e[i] * greater(a[i + 1], b[i + 1]);
          c[p][i] += owed[p][i] - e[i];
        }
      }
      if (stacked && row >= y0) {
        sync_warps();
        if (counts) {
          const four_changes before = handing[turn][warp - 1][lane];
          UNROLL for (int i = 0; i < 4; i++) c[0][i] += before.of[i];
        }
        turn ^= 1;
      }
      if (row >= y0 && counts) {
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
            to.add(now[p + first] + 1, word, bytes, s, &pending);
            int r = p + first + s * apart;
            if (has && plane(r) && mine(p) && (!flat || row < y.h - s * length))
              kept[flat ? s * next_slab : (p + s * apart) * next_plane] = bytes;
          }
        }
        kept += words;
      }
    };
    V next[all][6];
    NOT_UNROLLED for (int row = y0 - 1; row < end; row += 2) {
      step(row, now, next);
      if (row + 1 < end) step(row + 1, next, now);
      to.drain(&pending, 32);
    }
  }
  to.finish(To::odd(strays), pending);
}

// e^a for a from −reach to reach, to a few units in the last place.
inlined double power(double a) {
  const double whole = 6755399441055744.0; // near it, a double is an integer
  double n = a * 1.4426950408889634 + whole - whole;
  double r = (a - n * 0.69314718036912382) - n * 1.9082149292705877e-10, e = 1;
  UNROLL for (int k = 13; k > 0; k--) e = 1 + e * (r * (1. / k));
  return as<double>(as<int64>(e) + ((int64)n << 52));
}

// The sigmoid of a in double. slope receives σ(1 − σ).
inlined double sigmoid(double a, double *slope) {
  double e = power(-a), s = 1 / (1 + e);
  *slope = e * s * s;
  return s;
}

// The sum over a block, in its first warp, in a fixed order.
inlined double sum_of_block(double v, double *shared) {
  v = sum_of_warp(v);
  __syncthreads(); // the previous sum has been read
  if (!(thread_x() & 31)) shared[thread_x() >> 5] = v;
  __syncthreads();
  v = (thread_x() & 31) < threads() >> 5 ? shared[thread_x() & 31] : 0;
  return sum_of_warp(v);
}

// The places with their counts, and the steepness λ.
struct sums {
  const double *at;
  const int64 *counts;
  int n;
  double lambda;
};

// χ, ∂τ and ∂λ of a threshold, one block each; see curve in impls/softecc/binned/bins.go.
inlined void curve_of(const sums &b, const double *tau, const double *g, double *out) {
  __shared__ double shared[32];
  double t = tau[block_x()], chi = 0, slope = 0, dl = 0;
  for (int k = thread_x(); k < b.n; k += threads()) {
    double z = t - b.at[k], a = b.lambda * z, c = (double)b.counts[k];
    if (a < -reach) continue;
    if (a > reach) {
      chi += c;
      continue;
    }
    double d, s = sigmoid(a, &d);
    chi += c * s;
    slope += c * d;
    dl += z * c * d;
  }
  chi = sum_of_block(chi, shared), slope = sum_of_block(slope, shared), dl = sum_of_block(dl, shared);
  if (thread_x()) return;
  out[3 * block_x()] = chi;
  out[3 * block_x() + 1] = g[block_x()] * b.lambda * slope;
  out[3 * block_x() + 2] = g[block_x()] * dl;
}

// G' of the places, one warp per place; block is one of `blocks` blocks.
inlined void table_of(const sums &b, const double *tau, const double *g, int thresholds, int block, int blocks, float32 *out) {
  int warps = threads() >> 5;
  for (int k = block * warps + (thread_x() >> 5); k < b.n; k += blocks * warps) {
    double v = 0;
    for (int j = thread_x() & 31; j < thresholds; j += 32) {
      double a = b.lambda * (tau[j] - b.at[k]), d;
      if (a < -reach || a > reach) continue;
      sigmoid(a, &d);
      v += g[j] * b.lambda * d;
    }
    v = sum_of_warp(v);
    if (!(thread_x() & 31)) out[k] = (float32)v;
  }
}

// c·G' of a voxel, from a table by place in shared memory. A multiplication by a change of 0 costs
// less than a branch around it.
struct at_places {
  places p;
  const float32 *slopes;
  member void start() const {
    for (int k = thread_x(); k < p.n; k += threads()) ((float32 *)block_changes)[k] = slopes[k];
    __syncthreads();
  }
  member float32 times(int change, float32 v, float32, float32) const {
    return (float32)change * ((const float32 *)block_changes)[as<unsigned>(p.number(v)) & 0xffff];
  }
};
// c·G' of a voxel by bin. The block computes the table itself: G' at the centre of each bin, and
// its first two derivatives by the distance in widths. An upstream gradient that is not finite
// makes the whole table NaN.
struct in_bins {
  bins b;
  const float32 *g; // by threshold
  float32 turn;     // its factor
  member float32 *table() const { return (float32 *)block_changes; }
  member void start() const {
    const float32 step = (float32)(b.over->lambda * b.over->width), lambda = turn * (float32)b.over->lambda;
    for (int k = thread_x(); k < b.n; k += threads()) {
      float32 v = 0, first = 0, second = 0, odd = 0;
      for (int j = 0; j < b.thresholds; j++) {
        const threshold t = b.at()[j];
        const float32 a = __builtin_fmaf((float32)(t.near - k), step, t.rest), w = g[j] * lambda;
        odd += 0 * w;
        if (a < -near_reach || a > near_reach) continue;
        float32 d, s = sigmoid(a, &d);
        v += w * d;
        first -= w * d * (1 - 2 * s);
        second += w * d * (1 - 6 * d);
      }
      table()[k] = v + odd, table()[k + b.n] = step * first, table()[k + 2 * b.n] = step * step * second / 2;
    }
    __syncthreads();
  }
  member float32 times(int change, float32 v, float32 of_row, float32 along) const {
    float32 from;
    const int k = b.bin(b.of(v, of_row, along), &from);
    const bool in = (unsigned)k < (unsigned)b.n;
    from *= b.inverse;
    const float32 *s = table() + (in ? k : 0), slope = s[0] + from * (s[b.n] + from * s[2 * b.n]);
    return change ? (float32)change * (in ? slope : b.n ? 0 : __builtin_nanf("")) : 0;
  }
};

// Computes ∂X, and if moments is not null each block's sums of c·G' and of c·G' times x, y and z.
// The last rows are first, because they may still be in the second-level cache after forward.
template <bool aligned, class T, class From>
inlined void backward(const tilted<T> &y, const unsigned *changes, float32 *dx, double *moments, const From &from, int block, int blocks) {
  typedef float32 four_floats __attribute__((ext_vector_type(4))); // stored together
  const int rows = 8; // rows of a plane that a warp handles together
  __shared__ double shared[32];
  from.start();
  int words = (y.w + 3) / 4, across = (words + 31) / 32, high = (y.h + rows - 1) / rows, warps = threads() >> 5;
  int items = across * high * y.d;
  double sum = 0, by_x = 0, by_y = 0, by_z = 0;
  // Fetches the changes of a later item, one line per row.
  auto prefetch_changes = [&](int item) ALWAYS_INLINED {
    const int group = item / across, z = group / high, lane = thread_x() & 31, row = (group - z * high) * rows + lane;
    if (item < 0 || lane >= rows || row >= y.h) return;
    prefetch(changes + ((int64)z * y.h + row) * words + (item - group * across) * 32);
  };
  for (int item = items - 1 - (block * warps + (thread_x() >> 5)); item >= 0; item -= blocks * warps) {
    int group = item / across, word = (item - group * across) * 32 + (thread_x() & 31), x = 4 * word;
    int z = group / high, y0 = (group - z * high) * rows, row0 = z * y.h + y0;
    unsigned c[rows][1] = {};
    loaded<T> v[rows];
    const int has = word < words ? y.h - y0 : 0; // rows
    const unsigned *kept = changes + (int64)row0 * words + word;
    UNROLL for (int r = 0; r < rows; r++) load_if(r < has, c[r], kept + (int64)r * words);
    prefetch_changes(item - blocks * warps);
    const T *image = y.image + (int64)row0 * y.w + x;
    UNROLL for (int r = 0; r < rows; r++) {
      UNROLL for (int i = 0; i < (int)sizeof(T); i++) v[r].own[i] = 0;
      load<aligned>(v[r], image + (int64)r * y.w, y.w - x, c[r][0] != 0);
    }
    float32 *to = dx + (int64)row0 * y.w + x, along[4];
    UNROLL for (int i = 0; i < 4; i++) along[i] = y.term_along(x + i < y.w ? x + i : 0);
    // Sums over the rows, and with the factors of their row and column offsets.
    float32 all = 0, of_rows = 0, of_columns = 0;
    UNROLL for (int r = 0; r < rows; r++) {
      struct quad { float32 v[4]; } out = {};
      if (c[r][0]) {
        float32 p[4], of_row = y.term_of(row0 + r);
        UNROLL for (int i = 0; i < 4; i++) {
          p[i] = from.times((int)permute(c[r][0], 0, 0x8880 + 0x1111 * i), v[r].at(i), of_row, along[i]);
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
  if (!moments) return;
  sum = sum_of_block(sum, shared), by_x = sum_of_block(by_x, shared);
  by_y = sum_of_block(by_y, shared), by_z = sum_of_block(by_z, shared);
  if (thread_x()) return;
  double *out = moments + 4 * (int64)block_x();
  out[0] = sum, out[1] = by_x, out[2] = by_y, out[3] = by_z;
}

// The kernels for a type, for rows that begin at multiples of four voxels and for others.
// Parameters: the image and its tilt, which is null for places; then places or bins. With bins,
// images are contiguous, and `parts` blocks share one.
#define IMAGE(T) const T *image, const float32 *along, const float32 *of_row, int w, int h, int d
#define TILTED(T) tilted<T>{image, along, of_row, w, h, d}
#define OF_PLACES int64 *counts, int n, float32 scale, float32 offset, float32 step, float32 first
#define PLACES places{counts, n, scale, offset, step, first}
#define PLACES_FORWARD(T, dim, planes, flat, ending, aligned)                                                           \
  extern "C" __global__ void softecc_places_##dim##ending##_##T(IMAGE(T), unsigned *changes, int length, OF_PLACES) {   \
    forward<planes, flat, aligned>(TILTED(T), changes, length, PLACES, block_x(), blocks());                           \
  }
#define PLACES_BACKWARD(T, ending, aligned)                                                                            \
  extern "C" __global__ void softecc_places_backward##ending##_##T(IMAGE(T), const unsigned *changes,                  \
                                                                   const float32 *slopes, float32 *dx, double *moments, OF_PLACES) { \
    backward<aligned>(TILTED(T), changes, dx, moments, at_places{PLACES, slopes}, block_x(), blocks());                \
  }
#define ALONE(threads) __attribute__((launch_bounds(threads, 1)))
#define OF_BATCH(T)                                                                                                    \
  const int which = block_x() / parts, part = block_x() - which * parts;                                               \
  const int64 rows = (int64)which * h * d;                                                                             \
  const tilted<T> y{image + rows * w, along, of_row, w, h, d};
#define BINS_FORWARD(T, dim, planes, flat, ending, aligned)                                                             \
  extern "C" __global__ ALONE(flat ? 512 : 32 * (stack + 1)) void softecc_bins_##dim##ending##_##T(IMAGE(T), unsigned *changes, int length, int parts, \
                                                                    const laid *over, int thresholds, float32 unit,    \
                                                                    double *partial, int derivatives) {                \
    OF_BATCH(T)                                                                                                        \
    const int64 at = (int64)block_x() * thresholds * (derivatives ? 3 : 1);                                            \
    forward<planes, flat, aligned>(y, changes + rows * ((w + 3) / 4), length,                                          \
                                   bins_of(over, thresholds, unit, partial + at, derivatives), part, parts);           \
  }
#define BINS_BACKWARD(T, ending, aligned)                                                                              \
  extern "C" __global__ ALONE(512) void softecc_bins_backward##ending##_##T(IMAGE(T), const unsigned *changes, float32 *dx, double *moments, \
                                                                       int parts, const laid *over, int thresholds, const float32 *g, float32 turn) { \
    OF_BATCH(T)                                                                                                        \
    const in_bins from{bins_of(over, thresholds, 1, nullptr, false), g + (int64)which * thresholds, turn};             \
    backward<aligned>(y, changes + rows * ((w + 3) / 4), dx + rows * w, moments, from, part, parts);                   \
  }
#define BY_ALIGNMENT(T, ending, aligned)                                                                               \
  PLACES_FORWARD(T, 2d, 1, true, ending, aligned)                                                                      \
  PLACES_FORWARD(T, 3d, 2, false, ending, aligned)                                                                     \
  BINS_FORWARD(T, 2d, 1, true, ending, aligned)                                                                        \
  BINS_FORWARD(T, 3d, 2, false, ending, aligned)                                                                       \
  PLACES_BACKWARD(T, ending, aligned)                                                                                  \
  BINS_BACKWARD(T, ending, aligned)
#define SOFTECC(T) BY_ALIGNMENT(T, , true) BY_ALIGNMENT(T, _unaligned, false)
