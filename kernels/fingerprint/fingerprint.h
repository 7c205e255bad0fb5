// for each position (z, y): for each pair of neighbours in a row of f:
//   sum += f(x) − f(x + 1) where that falls, of f = the row's weights w, less;
//   of w with the next row, w with the next plane, more; of all four, less
//
// The sum over the cells of an image of (−1)^dimension times the least weight of its voxels
// (doc/fingerprint.md). A cell that is thin along x and the one to its successor differ by
// what the weight falls by to the next voxel, or by nothing, so four differences a voxel take
// the eight cells. Each voxel is looked up once, but for a row and a plane that warps share. A
// warp takes 128 columns and four rows, marches along z, and holds the last plane's weights in
// registers.
//
// A weight is 64 bits of which the upper 32 tell the levels apart: the host shifts weights to
// the left where they have fewer than 32 random bits, and a warp shifts back what it summed
// before that can run over.
//
// Includes: ../device.h, ../rounded.h, fault.h.
#pragma once
#include "../rounded.h"
#include "fault.h"

#ifdef ON_HOST
#define AT_ONCE(threads, blocks)
#else // so few registers that a multiprocessor has room for them
#define AT_ONCE(threads, blocks) __attribute__((launch_bounds(threads, blocks)))
#endif

#ifndef THREADS
#define THREADS 384
#endif

extern __shared__ int block_changes[];

typedef unsigned long long uint64;

struct weight {
  unsigned lo, hi; // each by itself, which 64 bits in one would hide from the compiler
  weight() = default;
  member weight(unsigned lo, unsigned hi) : lo(lo), hi(hi) {}
  member weight(const weight &w) : lo(w.lo), hi(w.hi) {}
  member weight &operator=(const weight &w) { return lo = w.lo, hi = w.hi, *this; }
};
inlined weight least(weight a, weight b) {
  bool first = a.hi < b.hi;
  return {first ? a.lo : b.lo, first ? a.hi : b.hi};
}

inlined uint64 whole(weight w) { return (uint64)w.hi << 32 | w.lo; }
// Adds a − b where a is greater.
inlined void add_fall(uint64 &sum, weight a, weight b) {
#ifdef ON_HOST
  if (a.hi > b.hi || (planted(fault::tie) && a.hi + 1 == b.hi)) sum += whole(a) - whole(b);
#else // a branch around an addition of three becomes a condition of its two instructions
  if (a.hi > b.hi)
    asm volatile("{ .reg .u64 a, b; mov.b64 a, {%1, %2}; mov.b64 b, {%3, %4}; sub.u64 a, a, b; add.u64 %0, %0, a; }"
                 : "+l"(sum) : "r"(a.lo), "r"(a.hi), "r"(b.lo), "r"(b.hi));
#endif
}
// The words of a weight, which stay two.
template <bool shared> inlined weight load(const void *p) {
#ifdef ON_HOST
  return *(const weight *)p;
#else
  weight w;
  if (shared) asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(w.lo), "=r"(w.hi) : "r"((unsigned)(unsigned long long)(__attribute__((address_space(3))) const void *)p));
  else asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(w.lo), "=r"(w.hi) : "l"(p));
  return w;
#endif
}

// Where the weights of levels are, and which level a value has. The last of n entries is what
// is outside.
struct ladder {
  const weight *weights;
  int n;
  int log_copies;        // in shared memory
  int least;             // 16 bits: the value of entry 0
  const float32 *values; // float32: of the levels; null where lo + k·step is exact
  int even;              // float32: the levels are evenly spaced
  float32 lo, inverse, step;
  int lane;
};

// In shared memory, where they fit there, tables come in copies for lanes.
template <bool shared> struct table;
template <> struct table<true> {
  inlined void begin(const ladder &l) {
    weight *mine = (weight *)block_changes;
    for (int i = thread_x(); i < l.n << l.log_copies; i += threads()) mine[i] = l.weights[i >> l.log_copies];
    if (l.values)
      for (int i = thread_x(); i < l.n - 1; i += threads()) ((float32 *)(mine + ((int64)l.n << l.log_copies)))[i] = l.values[i];
    __syncthreads();
  }
  inlined weight at(const ladder &l, int k) {
    const weight *mine = (const weight *)block_changes + (l.lane & ((1 << l.log_copies) - 1));
    return load<true>((const char *)mine + (unsigned)k * (8u << l.log_copies));
  }
  inlined float32 value(const ladder &l, int k) { return ((const float32 *)block_changes)[(2 * l.n << l.log_copies) + k]; }
};
template <> struct table<false> {
  inlined void begin(const ladder &) {}
  inlined weight at(const ladder &l, int k) { return load<false>(l.weights + k); }
  inlined float32 value(const ladder &l, int k) { return l.values[k]; }
};

const int held = 4, wide = 4, across = 32 * wide; // rows and columns of a thread, columns of a warp

// Which entries some values have: of integers, their distance from the first one.
template <bool shared, class T> struct entries {
  template <class V, int n> inlined void of(int (&k)[n], const V &v, const ladder &l) {
    int top = l.n - 2 - planted(fault::last);
    UNROLL for (int c = 0; c < n; c++) {
      int d = (int)v[c];
      if (sizeof(T) > 1) d -= l.least, d = d < 0 ? 0 : d > top ? top : d;
      k[c] = d;
    }
  }
};
// Of float32 the first level that is not below them: nearly always the nearest one.
template <bool shared> struct entries<shared, float32> {
  inlined float32 value(const ladder &l, int k) { return l.values ? table<shared>::value(l, k) : plus(l.lo, times((float32)k, l.step)); }
  inlined int search(float32 v, const ladder &l) {
    int k = 0, hi = l.n - 1;
    while (k < hi) {
      int mid = (k + hi) >> 1;
      if (value(l, mid) < v) k = mid + 1;
      else hi = mid;
    }
    return planted(fault::last) && k > l.n - 2 ? k - 1 : k;
  }
  template <class V, int n> inlined void of(int (&k)[n], const V &v, const ladder &l) {
    const float32 integers = 12582912; // around it float32 are the integers
    bool stand = l.even;
    UNROLL for (int c = 0; c < n; c++) k[c] = 0;
    if (stand) {
      UNROLL for (int c = 0; c < n; c++) {
        float32 f = times(minus(v[c], l.lo), l.inverse);
        f = plus(__builtin_fminf(__builtin_fmaxf(f, 0), (float32)(l.n - 2)), integers);
        k[c] = (int)(as<unsigned>(f) - as<unsigned>(integers));
        float32 at = l.values ? table<shared>::value(l, k[c]) : plus(l.lo, times(minus(f, integers), l.step));
        stand &= at == v[c] || planted(fault::between);
      }
    }
    if (stand) return;
    NOT_UNROLLED for (int c = 0; c < n; c++) { // in registers
      float32 one = v[0];
      UNROLL for (int i = 1; i < n; i++) one = i == c ? v[i] : one;
      int found = search(one, l);
      UNROLL for (int i = 0; i < n; i++) k[i] = i == c ? found : k[i];
    }
  }
};

// Slices of an image: those from first on are at p. Position z lies between slices z and
// z + 1 of all of them. Along a periodic axis what is outside is the first voxel.
struct slab {
  int w, h, slices, first;
  int rings; // 1, 2, 4: along x, y, z
};

// What a thread reads of a plane, with the column before the warp's.
template <class T> struct loaded {
  typedef T vector __attribute__((vector_size(wide * sizeof(T))));
  vector v[held + 1];
  T before[held + 1];
  bool there; // the plane
};

template <bool shared, class T> struct columns {
  const T *image;
  slab s;
  ladder l;
  weight outside;
  int x, before; // column, and that before the warp's, or -1
  int rows[held + 1]; // where they begin in a plane, or -1
  bool aligned, inside; // all rows and columns are there

  member void place(int at, int y) {
    x = at + wide * l.lane;
    before = at ? at - 1 : s.rings & 1 ? s.w - 1 : -1;
    inside = at + across <= s.w && before >= 0;
    UNROLL for (int r = 0; r <= held; r++) {
      int row = y + r - (planted(fault::row) && r == held);
      bool there = row >= 0 && row < s.h;
      rows[r] = there ? row * s.w : s.rings & 2 ? 0 : -1;
      inside &= rows[r] >= 0;
    }
  }
  member void load(loaded<T> &to, int z) const {
    to.there = z >= 0 && z < s.slices;
    if (!to.there && s.rings & 4) z = 0, to.there = true;
    if (!to.there) return;
    const T *plane = image + (int64)(z - s.first) * s.h * s.w;
    UNROLL for (int r = 0; r <= held; r++) {
      const T *p = plane + (rows[r] < 0 ? 0 : rows[r]);
      to.before[r] = p[before < 0 ? 0 : before];
      if (aligned) {
        to.v[r] = *(const typename loaded<T>::vector *)(p + (x < s.w ? x : 0));
      } else {
        UNROLL for (int c = 0; c < wide; c++) to.v[r][c] = p[x + c < s.w ? x + c : 0];
      }
    }
  }
  // The weights of a row: of the column before, and of the thread's.
  member void look_up(weight (&to)[1 + wide], const loaded<T> &in, int r) const {
    int k[wide], alone[1];
    entries<shared, T>::of(k, in.v[r], l);
    entries<shared, T>::of(alone, &in.before[r], l);
    if (!inside || !in.there) {
      bool there = in.there && rows[r] >= 0;
      UNROLL for (int c = 0; c < wide; c++)
        if (!there || (x + c >= s.w && !planted(fault::outside))) k[c] = l.n - 1;
      if (!there || before < 0) alone[0] = l.n - 1;
    }
    UNROLL for (int c = 0; c < wide; c++) to[1 + c] = table<shared>::at(l, k[c]);
    weight seam = table<shared>::at(l, alone[0]);
    weight last = {from_lane_before(to[wide].lo), from_lane_before(to[wide].hi)};
    if (planted(fault::seam)) seam = to[1];
    to[0] = l.lane ? last : seam;
  }
};

// Positions from ≤ z < to of a warp's columns and rows. The end of a row adds nothing: where
// what is outside has the least weight, the falls to the voxel before are taken.
template <bool under, bool shared, class T> inlined uint64 march(const columns<shared, T> &k, int from, int to) {
  uint64 more = 0, less = 0;
  weight last[held + 1][1 + wide];
  loaded<T> in;
  k.load(in, from);
  UNROLL for (int r = 0; r <= held; r++) k.look_up(last[r], in, r);
  k.load(in, from + 1);
  NOT_UNROLLED for (int z = from + 1; z <= to; z++) {
    loaded<T> now = in;
    if (z < to) k.load(in, z + 1);
    weight above[1 + wide], deep_above[1 + wide]; // of the row before
    UNROLL for (int r = 0; r <= held; r++) {
      weight v[1 + wide], deep[1 + wide];
      k.look_up(v, now, r);
      UNROLL for (int c = 0; c <= wide; c++) deep[c] = least(last[r][c], v[c]);
      if (r > 0) {
        weight both[1 + wide], all[1 + wide];
        UNROLL for (int c = 0; c <= wide; c++) {
          both[c] = least(last[r - 1][c], last[r][c]);
          all[c] = least(deep_above[c], deep[c]);
        }
        UNROLL for (int c = 0; c < wide; c++) {
          int a = c + under, b = c + !under;
          add_fall(less, last[r - 1][a], last[r - 1][b]);
          add_fall(more, both[a], both[b]);
          add_fall(more, deep_above[a], deep_above[b]);
          add_fall(planted(fault::sign) ? more : less, all[a], all[b]);
        }
        UNROLL for (int c = 0; c <= wide; c++) last[r - 1][c] = above[c];
      }
      UNROLL for (int c = 0; c <= wide; c++) above[c] = v[c], deep_above[c] = deep[c];
    }
    UNROLL for (int c = 0; c <= wide; c++) last[held][c] = above[c];
  }
  return more - less;
}

// Adds the positions from ≤ z < to to a sum, in segments of so many, each by a warp in turn. The
// weights are shifted to the left by a number of bits.
template <bool under, bool shared, class T>
inlined void add_up(const T *image, const slab &s, int from, int to, int segment, const ladder &l, int shift, int64 *sum) {
  table<shared>::begin(l);
  columns<shared, T> k{image, s, l};
  k.aligned = s.w % wide == 0;
  int64 n = (s.w + across - 1) / across, groups = (s.h + held) / held, segments = (to - from + segment - 1) / segment;
  int64 warps = (int64)blocks() * (threads() >> 5), mine = 0;
  for (int64 item = (int64)block_x() * (threads() >> 5) + (thread_x() >> 5); item < n * groups * segments; item += warps) {
    int z = from + (int)(item / n / groups) * segment, end = to - z < segment ? to : z + segment;
    if (planted(fault::segment) && end < to) end--;
    k.place((int)(item % n) * across, (int)(item / n % groups) * held - 1);
    mine += (int64)march<under>(k, z, end) >> shift;
  }
  UNROLL for (int d = 16; d; d >>= 1) {
    unsigned hi = from_lane((unsigned)((uint64)mine >> 32), l.lane ^ d), lo = from_lane((unsigned)mine, l.lane ^ d);
    if (!planted(fault::lanes) || d < 16) mine += (int64)((uint64)hi << 32 | lo);
  }
  if (!l.lane && mine) add_global(sum, mine);
}

#define KERNEL(name, under, shared, T)                                                                                      \
  extern "C" __global__ AT_ONCE(THREADS, 1) void fingerprint##name##_##T(                                                   \
      const T *image, int width, int height, int slices, int first, int rings, int from, int to, int segment,               \
      const weight *weights, int n, int log_copies, int least, const float32 *values, int even, float32 lo, float32 inverse, \
      float32 step, int shift, int64 *sum) {                                                                                \
    add_up<under, shared, T>(image, slab{width, height, slices, first, rings}, from, to, segment,                           \
                             ladder{weights, n, log_copies, least, values, even, lo, inverse, step, thread_x() & 31},       \
                             shift, sum);                                                                                   \
  }
#define SHARED(T) KERNEL(, false, true, T) KERNEL(_under, true, true, T)
#define BESIDE(T) KERNEL(_beside, false, false, T) KERNEL(_under_beside, true, false, T)
