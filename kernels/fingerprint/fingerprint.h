// for each position (z, y): for each pair of neighbours in a row of f:
//   sum += f(x) − f(x + 1) where that falls, of f = the row's weights w, less;
//   of w with the next row, w with the next plane, more; of all four, less
//
// The sum over the cells of an image of (−1)^dimension times the least weight of its voxels
// (doc/fingerprint.md). A cell that is thin along x and the one to its successor differ by
// what the weight falls by to the next voxel, or by nothing, so four differences a voxel take
// the eight cells. Each voxel is looked up once, but for a row and a plane that warps share. A
// warp takes 128 columns and four rows, marches along z, and holds the last plane. Of a 2D
// image, whose positions have w and w with the next row alone, it marches along y.
//
// A warp holds a voxel as the place of its weight in shared memory, which ascends with the
// levels: a minimum is one instruction, and the weights of what may fall are read last. A table
// that is too large is one of products, of every float32, or beside: then a warp holds weights, 64
// bits of which the upper 32 tell the levels apart. The host shifts weights to the left where they
// have fewer than 32 random bits, and a warp shifts back what it summed before that can run over.
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

const int held = 4, wide = 4, across = 32 * wide; // rows and columns of a thread, columns of a warp
const int most_threads = 512;

extern __shared__ int block_changes[];

typedef unsigned long long uint64;

struct weight {
  unsigned lo, hi; // each by itself, which 64 bits in one would hide from the compiler
  weight() = default;
  member weight(unsigned lo, unsigned hi) : lo(lo), hi(hi) {}
  member weight(const weight &w) : lo(w.lo), hi(w.hi) {}
  member weight &operator=(const weight &w) { return lo = w.lo, hi = w.hi, *this; }
};
inlined unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }
inlined weight least(weight a, weight b) {
  bool first = a.hi < b.hi;
  return {first ? a.lo : b.lo, first ? a.hi : b.hi};
}
inlined unsigned from(unsigned v, int lane) { return from_lane(v, lane); }
inlined weight from(weight v, int lane) { return {from_lane(v.lo, lane), from_lane(v.hi, lane)}; }
inlined unsigned before(unsigned v) { return from_lane_before(v); }
inlined weight before(weight v) { return {from_lane_before(v.lo), from_lane_before(v.hi)}; }

// Adds a − b where asked.
inlined void add_fall(uint64 &sum, bool asked, weight a, weight b) {
#ifdef ON_HOST
  if (asked) sum += ((uint64)a.hi << 32 | a.lo) - ((uint64)b.hi << 32 | b.lo);
#else // a branch around an addition of three becomes a condition of its two instructions
  if (asked)
    asm volatile("{ .reg .u64 a, b; mov.b64 a, {%1, %2}; mov.b64 b, {%3, %4}; sub.u64 a, a, b; add.u64 %0, %0, a; }"
                 : "+l"(sum) : "r"(a.lo), "r"(a.hi), "r"(b.lo), "r"(b.hi));
#endif
}

// The words of a weight in shared memory, which stay two.
inlined weight load(unsigned at) {
#ifdef ON_HOST
  return *(const weight *)onhost::reach_shared("reads", at, 8);
#else
  weight w;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(w.lo), "=r"(w.hi) : "r"(at));
  return w;
#endif
}
inlined void store(unsigned at, weight w) {
#ifdef ON_HOST
  *(weight *)onhost::reach_shared("writes", at, 8) = w;
#else
  asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(at), "r"(w.lo), "r"(w.hi));
#endif
}
inlined weight load(const weight *p) {
#ifdef ON_HOST
  return *p;
#else
  weight w;
  asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(w.lo), "=r"(w.hi) : "l"(p));
  return w;
#endif
}

// a + b, from 0 to most.
inlined int between(int a, int b, int most) {
#ifdef ON_HOST
  int d = a + b;
  return d < 0 ? 0 : d > most ? most : d;
#else // in this order, in which Hopper has one instruction
  int d;
  asm("{ .reg .s32 d; add.s32 d, %1, %2; min.s32 d, d, %3; max.s32 %0, d, 0; }" : "=r"(d) : "r"(a), "r"(b), "r"(most));
  return d;
#endif
}

// a·b + c by a multiplier, which a shift in place of it would leave idle.
inlined unsigned multiply_add(unsigned a, unsigned b, unsigned c) {
#ifdef ON_HOST
  return a * b + c;
#else
  unsigned d;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
#endif
}

// a·b, from 0 to 1, and 0 of what is no number.
inlined float32 times_saturated(float32 a, float32 b) {
#ifdef ON_HOST
  float32 c = times(a, b);
  return c > 0 ? c < 1 ? c : 1 : 0;
#else
  float32 c;
  asm("mul.rn.sat.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
#endif
}

// Where the weights of levels are, and which level a value has. The last of n entries is what
// is outside.
struct ladder {
  const weight *weights; // of the entries; or factors: of the upper bytes of levels first, of the lowest last
  int n;
  int log_copies;        // of the table of weights
  int least;             // integers: the value of entry 0
  int top;               // and that of the last value, n − 1 where that is outside
  const float32 *values; // float32: of the levels; null where lo + k·step is exact
  int even;              // float32: the levels are evenly spaced
  float32 lo, inverse, step; // the inverse is of what the last level is above the first
  int descend;           // the weights descend with the levels
  int order;             // products: where levels begin in the upper word of a weight
  int lane;
};

// Entries are counted from a number on, of float32 from where its numbers are the integers.
const float32 integers = 12582912;
template <class T> inlined int origin_of() { return (T)0.5f > 0 ? (int)as<unsigned>(integers) : 0; }

// Copies weights to shared memory: to each of n slots those of an entry.
template <class F> inlined void fill(const weight *from, int n, int log_copies, F entry) {
  weight *to = (weight *)block_changes;
  const int some = 8; // loads at a time
  NOT_UNROLLED for (int i = thread_x(); i < n << log_copies; i += some * threads()) {
    weight w[some];
    UNROLL for (int j = 0; j < some; j++) w[j] = from[entry((int)least((unsigned)(i + j * threads()) >> log_copies, (unsigned)n - 1))];
    UNROLL for (int j = 0; j < some; j++)
      if (i + j * threads() < n << log_copies) to[i + j * threads()] = w[j];
  }
}

// A place of a weight in shared memory, of copies for lanes. What is outside has the first place
// and the last one.
template <bool under, class T> struct places {
  static const bool seldom = false; // so that brief code is worth more than quick one
  static const int bytes = 0; // of factors in shared memory
  member static int origin() { return origin_of<T>(); }
  typedef unsigned one;
  unsigned step, stride, first; // bytes from place to place, and from level to level
  int outside; // what is outside in place of an entry
  const float32 *values;
  member void begin(const ladder &l) {
    int n = l.n, descend = l.descend;
    fill(l.weights, n + 1, l.log_copies, [=](int slot) { return slot == 0 || slot == n ? n - 1 : descend ? n - 1 - slot : slot - 1; });
    float32 *mine = (float32 *)block_changes + (2 * (n + 1) << l.log_copies);
    if (l.values)
      for (int i = thread_x(); i < n - 1; i += threads()) mine[i] = l.values[i];
    __syncthreads();
    unsigned slots = shared_address(block_changes) + 8 * (l.lane & ((1 << l.log_copies) - 1));
    values = mine, outside = (descend == under ? n - 1 : -1) + origin();
    step = 8u << l.log_copies, stride = descend ? -step : step;
    first = slots + (descend ? n - 1 : 1) * step - origin() * stride;
  }
  member one at(int k) const { return k * stride + first; }
  member void add_falls(uint64 &sum, const one (&f)[5]) const {
    weight w[5];
    UNROLL for (int c = 0; c < 5; c++) w[c] = load(f[c]);
    UNROLL for (int c = 0; c < 4; c++) {
      int a = c + under, b = c + !under;
      add_fall(sum, f[a] > f[b] || (planted(fault::tie) && f[a] + step == f[b]), w[a], w[b]);
    }
  }
};

template <bool under> inlined void add_weights_falls(uint64 &sum, const weight (&f)[5]) {
  UNROLL for (int c = 0; c < 4; c++) {
    int a = c + under, b = c + !under;
    add_fall(sum, f[a].hi > f[b].hi || (planted(fault::tie) && f[a].hi + 1 == f[b].hi), f[a], f[b]);
  }
}

// A weight of a table beside shared memory.
template <bool under, class T> struct beside {
  static const bool seldom = true;
  static const int bytes = 0;
  member static int origin() { return origin_of<T>(); }
  typedef weight one;
  int outside;
  const weight *weights;
  const float32 *values;
  member void begin(const ladder &l) { weights = l.weights, values = l.values, outside = l.n - 1 + origin(); }
  member one at(int k) const { return load(weights + (k - origin())); }
  member void add_falls(uint64 &sum, const one (&f)[5]) const { add_weights_falls<under>(sum, f); }
};

inlined unsigned load_word(unsigned at) {
#ifdef ON_HOST
  return *(const unsigned *)onhost::reach_shared("reads", at, 4);
#else
  unsigned w;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(w) : "r"(at));
  return w;
#endif
}
// The product modulo a prime of a number below it and another one, of which there is twice as much.
const unsigned prime = 0x7fffffff;
inlined unsigned times_in_field(unsigned a, unsigned twice_b) {
  uint64 c = (uint64)a * twice_b;
  unsigned d = (unsigned)(c >> 32) + ((unsigned)c >> 1); // 2³¹ is 1
#ifdef ON_HOST
  return least(d, d - prime);
#else // in this order, in which Hopper has one instruction
  unsigned e;
  asm("{ .reg .u32 e; sub.u32 e, %1, %2; min.u32 %0, e, %1; }" : "=r"(e) : "r"(d), "n"(prime));
  return e;
#endif
}

// A weight of every float32, whose random bits are a product of four.
template <bool under, class T> struct every {
  typedef weight one;
  static const bool seldom = false;
  static const int bytes = 257 * 256;
  member static int origin() { return -0x7f7fffff; } // that of 0 is 0
  int outside, sign, first; // of numbers
  unsigned table, lanes;    // the rows; two of the lane's places in one
  unsigned which[4];        // of those are taken first to last, and with which bytes
  // A row of 64 words has copies for half a warp of four factors. One half of a warp takes the
  // first one and then the second one, when the other half takes the second one and then the first
  // one, so that no two lanes meet in a bank.
  member void begin(const ladder &l) {
    unsigned *to = (unsigned *)block_changes;
    NOT_UNROLLED for (int i = thread_x(); i < 256 * 64; i += threads()) {
      int byte = i >> 4 & 3;
      unsigned f = l.weights[byte << 8 | i >> 6].lo;
      to[i] = byte ? 2 * f : f;
    }
    __syncthreads();
    outside = (l.descend == under ? l.n - 1 : -1) + origin();
    sign = l.descend ? -1 : 1, first = (l.descend ? l.n - 2 : 0) + under - sign * origin();
    int second = l.lane >> 4;
    table = shared_address(block_changes), lanes = 4 * (l.lane & 15) + (second ? 0x0040 : 0x4000) + 0x100 * 4 * (l.lane & 15);
    UNROLL for (int i = 0; i < 4; i++) which[i] = 0x6604 + (i & 1) + ((3 - (i ^ second)) << 4);
  }
  member one at(int k) const {
    unsigned number = (unsigned)k * sign + first;
    unsigned a = load_word(permute(number, lanes, which[0]) + table), b = load_word(permute(number, lanes, which[1]) + table);
    unsigned c = load_word(permute(number, lanes, which[2]) + table + 128), d = load_word(permute(number, lanes, which[3]) + table + 128);
    unsigned r = times_in_field(times_in_field(times_in_field(a, b), c), d);
    return {2 * r, number};
  }
  member void add_falls(uint64 &sum, const one (&f)[5]) const { add_weights_falls<under>(sum, f); }
};

// A weight whose random bits are those of the product of two: of a level's upper byte and of its
// lower one.
template <bool under, class T> struct products {
  typedef weight one;
  static const bool seldom = false;
  static const int bytes = 257 * 256;
  member static int origin() { return origin_of<T>(); }
  int outside, sign, first; // of numbers
  unsigned table, lanes;    // the rows; the lane's place in one
  unsigned unit, mask;      // a number in the upper word, and random bits there
  const float32 *values;
  member void begin(const ladder &l) {
    // Rows of 256 bytes, so that bytes of a level are bytes of a place: copies for half a warp of
    // the upper byte's factor, and of the lower one's.
    fill(l.weights, 2 * 257, 4, [](int slot) { return slot & 1 ? 257 + least((unsigned)slot >> 1, 255u) : slot >> 1; });
    __syncthreads();
    values = l.values, outside = (l.descend == under ? l.n - 1 : -1) + origin();
    sign = l.descend ? -1 : 1, first = (l.descend ? l.n - 2 : 0) + under - sign * origin();
    lanes = 8 * (l.lane & 15), unit = 1u << l.order, mask = unit - 1, table = shared_address(block_changes);
  }
  member one at(int k) const {
    unsigned number = (unsigned)k * sign + first; // of 17 bits
    weight a = load(permute(number, lanes, 0x5214) + table), b = load(permute(number, lanes, 0x5504) + table + 128);
    uint64 low = (uint64)a.lo * b.lo;
    unsigned hi = (unsigned)(low >> 32) + a.lo * b.hi;
    if (!planted(fault::cross)) hi += a.hi * b.lo;
    return {(unsigned)low, multiply_add(number, unit, hi & mask)};
  }
  member void add_falls(uint64 &sum, const one (&f)[5]) const { add_weights_falls<under>(sum, f); }
};

// Which entries some values have, and whether none of them is outside for sure: of integers,
// their distance from the first one.
template <class Way, class T> struct entries {
  template <class V, int n> inlined bool of(int (&k)[n], const V &v, const ladder &l, const Way &way) {
    int top = l.top - planted(fault::last);
    UNROLL for (int c = 0; c < n; c++) k[c] = between((int)v[c], -l.least, top);
    return l.top < l.n - 1;
  }
};
// Of float32 the first level that is not below them: nearly always the nearest one.
template <class Way> struct entries<Way, float32> {
  inlined float32 value(const ladder &l, const Way &way, int k) { return l.values ? way.values[k] : plus(l.lo, times((float32)k, l.step)); }
  inlined int search(float32 v, const ladder &l, const Way &way) {
    int k = 0, hi = l.n - 1;
    while (k < hi) {
      int mid = (k + hi) >> 1;
      if (value(l, way, mid) < v) k = mid + 1;
      else hi = mid;
    }
    return (planted(fault::last) && k > l.n - 2 ? k - 1 : k) + Way::origin();
  }
  template <class V, int n> inlined bool of(int (&k)[n], const V &v, const ladder &l, const Way &way) {
    UNROLL for (int c = 0; c < n; c++) k[c] = 0;
    if (l.even) {
      float32 at[n];
      UNROLL for (int c = 0; c < n; c++) { // of all values a level on the ladder
        float32 f = plus(times(times_saturated(minus(v[c], l.lo), l.inverse), (float32)(l.n - 2)), integers);
        k[c] = (int)as<unsigned>(f);
        at[c] = plus(l.lo, times(minus(f, integers), l.step));
      }
      if (l.values)
        UNROLL for (int c = 0; c < n; c++) at[c] = way.values[k[c] - Way::origin()];
      bool stand = true;
      UNROLL for (int c = 0; c < n; c++) stand &= at[c] == v[c] || planted(fault::between);
      if (stand) return true;
    }
    NOT_UNROLLED for (int c = 0; c < n; c++) { // in registers
      float32 one = v[0];
      UNROLL for (int i = 1; i < n; i++) one = i == c ? v[i] : one;
      int found = search(one, l, way);
      UNROLL for (int i = 0; i < n; i++) k[i] = i == c ? found : k[i];
    }
    return false;
  }
};

// On the ladder of every float32, the level.
template <bool under> struct entries<every<under, float32>, float32> {
  template <class V, int n> inlined bool of(int (&k)[n], const V &v, const ladder &l, const every<under, float32> &) {
    UNROLL for (int c = 0; c < n; c++) {
      int b = as<int>(v[c]), sign = b >> 31; // all bits of a negative value
      k[c] = (b ^ (sign & 0x7fffffff)) - sign;
    }
    return l.top != l.n - 1;
  }
};

// Slices of an image: those from first on are at p. Position z lies between slices z and
// z + 1 of all of them. Along a periodic axis what is outside is the first voxel.
struct slab {
  int w, h, slices, first;
  int rings; // 1, 2, 4: along x, y, z
};

// What a thread reads of a plane, and one of the lanes of each row of the column before.
template <class T> struct loaded {
  typedef T vector __attribute__((vector_size(wide * sizeof(T))));
  vector v[held + 1];
  T before;
  bool there; // the plane
};

// Whether rows begin where vectors can be loaded: known, or asked for each plane, for shorter code.
enum alignment { unaligned, aligned, unknown };

template <class Way, class T> struct columns {
  typedef typename Way::one one;
  const T *image;
  slab s;
  ladder l;
  Way way;
  int x;              // column
  int rows[held + 1]; // where they begin in a plane
  bool there[held + 1];
  int seam;           // the column before the warp's, in the row whose number the lane has, or -1
  bool inside;        // all rows and columns are there

  member int row(int y) const { return y >= 0 && y < s.h ? y * s.w : s.rings & 2 ? 0 : -1; }
  member void place(int at, int y) {
    x = at + wide * l.lane;
    int before = at ? at - 1 : s.rings & 1 ? s.w - 1 : -1;
    inside = at + across <= s.w;
    UNROLL for (int r = 0; r <= held; r++) {
      int begin = row(y + r - (planted(fault::row) && r == held));
      there[r] = begin >= 0, rows[r] = there[r] ? begin : 0;
      inside &= there[r];
    }
    seam = row(y + (l.lane < held ? l.lane : held));
    seam = seam < 0 || before < 0 ? -1 : seam + before;
  }
  // Where a plane is, and whether it is there; some other one where it is not.
  member const T *plane(int z, bool &there) const {
    there = z >= 0 && z < s.slices;
    if (!there && s.rings & 4) z = 0, there = true;
    return image + (there ? (int64)(z - s.first) * s.h * s.w : 0);
  }
  member void load_before(loaded<T> &to, const T *plane) const { to.before = plane[seam < 0 ? 0 : seam]; }
  template <alignment a> member void load(loaded<T> &to, const T *plane, int r) const {
    const T *p = plane + rows[r];
    if (a == aligned || (a == unknown && s.w % wide == 0)) {
      to.v[r] = *(const typename loaded<T>::vector *)(p + (x < s.w ? x : 0));
    } else if constexpr (sizeof(T) == 1) { // words, of which there may be no next one
      p += x < s.w ? x : 0;
      int odd = (int)(int64)p & 3;
      const unsigned *word = (const unsigned *)(p - odd);
      to.v[r] = as<typename loaded<T>::vector>(shift_right(word[odd && x + wide - odd < s.w], word[0], 8 * odd));
    } else {
      UNROLL for (int c = 0; c < wide; c++) to.v[r][c] = p[x + c < s.w ? x + c : 0];
    }
  }
  template <alignment a> member void load(loaded<T> &to, int z) const {
    const T *p = plane(z, to.there);
    load_before(to, p);
    UNROLL for (int r = 0; r <= held; r++) load<a>(to, p, r);
  }
  // The columns before the warp's, of which each lane has that of its row.
  member one look_before(const loaded<T> &in) const {
    int k[1];
    bool none = entries<Way, T>::of(k, &in.before, l, way);
    if (!in.there || seam < 0 || (!none && k[0] == l.n - 1 + Way::origin())) k[0] = way.outside;
    return way.at(k[0]);
  }
  // A row: the column before, and the thread's.
  member void look_up(one (&to)[1 + wide], const loaded<T> &in, one first, int r) const {
    int k[wide];
    bool none = entries<Way, T>::of(k, in.v[r], l, way) && inside && in.there;
    if (!none) {
      UNROLL for (int c = 0; c < wide; c++)
        if (!in.there || !there[r] || (x + c >= s.w && !planted(fault::outside)) || k[c] == l.n - 1 + Way::origin()) k[c] = way.outside;
    }
    UNROLL for (int c = 0; c < wide; c++) to[1 + c] = way.at(k[c]);
    one last = before(to[wide]), seam = from(first, r);
    if (planted(fault::seam)) seam = to[1];
    to[0] = l.lane ? last : seam;
  }
};

// What a warp holds of the last plane, places of weights in registers, weights in shared memory:
// so many registers would leave room for fewer warps.
template <class one> struct plane_held {
  one rows[held + 1][1 + wide];
  member plane_held(int, int) {}
  member void get(one (&to)[1 + wide], int r) const {
    UNROLL for (int c = 0; c <= wide; c++) to[c] = rows[r][c];
  }
  member void put(const one (&from)[1 + wide], int r) {
    UNROLL for (int c = 0; c <= wide; c++) rows[r][c] = from[c];
  }
};
template <> struct plane_held<weight> {
  unsigned mine;
  member plane_held(int bytes, int lane)
      : mine(shared_address(block_changes) + bytes + (thread_x() >> 5) * ((held + 1) * (1 + wide) * 256) + 8 * lane) {}
  member unsigned at(int r, int c) const { return mine + 256 * ((1 + wide) * r + c); }
  member void get(weight (&to)[1 + wide], int r) const {
    UNROLL for (int c = 0; c <= wide; c++) to[c] = load(at(r, c));
  }
  member void put(const weight (&from)[1 + wide], int r) const {
    UNROLL for (int c = 0; c <= wide; c++) store(at(r, c), from[c]);
  }
};

// Positions from ≤ z < to of a warp's columns and rows. The end of a row adds nothing: where
// what is outside has the least weight, the falls to the voxel before are taken.
template <alignment a, class Way, class T> inlined uint64 march(const columns<Way, T> &k, int from, int to) {
  typedef typename Way::one one;
  // Where a warp holds weights, a row of the next plane is loaded when that of this one was looked
  // up, which takes fewer registers, but no row waits as long for its loads.
  const bool by_row = sizeof(one) == sizeof(weight);
  uint64 more = 0, less = 0;
  plane_held<one> last(Way::bytes, k.l.lane);
  loaded<T> in;
  k.template load<a>(in, from);
  {
    one some[1 + wide]; // of a plane that is not there: what it adds is taken off
    UNROLL for (int c = 0; c <= wide; c++) some[c] = k.way.at(k.way.outside);
    UNROLL for (int r = 0; r <= held; r++) last.put(some, r);
  }
  NOT_UNROLLED for (int z = from; z <= to; z++) {
    loaded<T> now = in;
    bool there;
    const T *next = k.plane(z < to ? z + 1 : z, there);
    if (!by_row && z < to) k.template load<a>(in, z + 1);
    one above[1 + wide], below[1 + wide], deep_above[1 + wide]; // of the row before, of this plane and of the last one
    one first = k.look_before(now);
    if (by_row) k.load_before(in, next);
    UNROLL for (int r = 0; r <= held; r++) {
      one v[1 + wide], under[1 + wide], deep[1 + wide];
      k.look_up(v, now, first, r);
      if (by_row) k.template load<a>(in, next, r);
      last.get(under, r);
      UNROLL for (int c = 0; c <= wide; c++) deep[c] = least(under[c], v[c]);
      if (r > 0) {
        one both[1 + wide], all[1 + wide];
        UNROLL for (int c = 0; c <= wide; c++) {
          both[c] = least(below[c], under[c]);
          all[c] = least(deep_above[c], deep[c]);
        }
        k.way.add_falls(less, below);
        k.way.add_falls(more, both);
        k.way.add_falls(more, deep_above);
        k.way.add_falls(planted(fault::sign) ? more : less, all);
        last.put(above, r - 1);
      }
      UNROLL for (int c = 0; c <= wide; c++) above[c] = v[c], below[c] = under[c], deep_above[c] = deep[c];
    }
    last.put(above, held);
    if (by_row) in.there = there;
    if (z == from) more = less = 0;
  }
  return more - less;
}

// Positions from ≤ y < to of a 2D image's columns from x on, four at a time.
template <alignment a, class Way, class T> inlined uint64 march_flat(columns<Way, T> &next, int x, int from, int to) {
  typedef typename Way::one one;
  uint64 more = 0, less = 0;
  one last[1 + wide];
  loaded<T> in;
  next.place(x, from);
  next.template load<a>(in, 0);
  next.look_up(last, in, next.look_before(in), 0);
  next.place(x, from + 1);
  next.template load<a>(in, 0);
  NOT_UNROLLED for (int y = from; y < to; y += held) {
    columns<Way, T> k = next;
    loaded<T> now = in;
    if (y + held < to) {
      next.place(x, y + held + 1 - planted(fault::step));
      next.template load<a>(in, 0);
    }
    one first = k.look_before(now);
    UNROLL for (int r = 0; r < held && y + r < to; r++) {
      one v[1 + wide], both[1 + wide];
      k.look_up(v, now, first, r);
      UNROLL for (int c = 0; c <= wide; c++) both[c] = least(last[c], v[c]);
      k.way.add_falls(more, last);
      k.way.add_falls(planted(fault::sign) ? more : less, both);
      UNROLL for (int c = 0; c <= wide; c++) last[c] = v[c];
    }
  }
  return more - less;
}

// Adds the positions from ≤ z < to to a sum, in segments of so many, each by a warp in turn; of
// a 2D image those along y. The weights are shifted to the left by a number of bits.
template <bool flat, class Way, class T>
inlined void add_up(const T *image, const slab &s, int from, int to, int segment, const ladder &l, int shift, int64 *sum) {
  columns<Way, T> k{image, s, l};
  k.way.begin(l);
  int64 n = (s.w + across - 1) / across, groups = flat ? 1 : (s.h + held) / held, segments = (to - from + segment - 1) / segment;
  int64 warps = (int64)blocks() * (threads() >> 5), mine = 0;
  bool vectors = s.w % wide == 0; // of each row
  for (int64 item = (int64)block_x() * (threads() >> 5) + (thread_x() >> 5); item < n * groups * segments; item += warps) {
    int z = from + (int)(item / n / groups) * segment, end = to - z < segment ? to : z + segment, x = (int)(item % n) * across;
    if (planted(fault::segment) && end < to) end--;
    const bool brief = sizeof(T) > 1 && (flat || Way::seldom);
    if (flat) {
      if (brief) mine += (int64)march_flat<unknown>(k, x, z, end) >> shift;
      else mine += (int64)(vectors ? march_flat<aligned>(k, x, z, end) : march_flat<unaligned>(k, x, z, end)) >> shift;
    } else {
      k.place(x, (int)(item / n % groups) * held - 1);
      if (brief) mine += (int64)march<unknown>(k, z, end) >> shift;
      else mine += (int64)(vectors ? march<aligned>(k, z, end) : march<unaligned>(k, z, end)) >> shift;
    }
  }
  UNROLL for (int d = 16; d; d >>= 1) {
    unsigned hi = from_lane((unsigned)((uint64)mine >> 32), l.lane ^ d), lo = from_lane((unsigned)mine, l.lane ^ d);
    if (!planted(fault::lanes) || d < 16) mine += (int64)((uint64)hi << 32 | lo);
  }
  if (!l.lane && mine) add_global(sum, mine);
}

#define KERNEL(name, flat, way, under, T)                                                                                   \
  extern "C" __global__ AT_ONCE(most_threads, 1) void fingerprint##name##_##T(                                                   \
      const T *image, int width, int height, int slices, int first, int rings, int from, int to, int segment,               \
      const weight *weights, int n, int log_copies, int least, int top, const float32 *values, int even, float32 lo, float32 inverse, \
      float32 step, int descend, int order, int shift, int64 *sum) {                                                        \
    add_up<flat, way<under, T>, T>(image, slab{width, height, slices, first, rings}, from, to, segment,                     \
        ladder{weights, n, log_copies, least, top, values, even, lo, inverse, step, descend, order, thread_x() & 31}, shift, sum); \
  }
#define KERNELS(name, way, T)                                                                                               \
  KERNEL(_##name, false, way, false, T) KERNEL(_under_##name, false, way, true, T)                                          \
  KERNEL(_flat_##name, true, way, false, T) KERNEL(_flat_under_##name, true, way, true, T)
