// for each position (z, y), f1 = the row's weights w, f2 = the minimum of w and the next row,
// f3 = the minimum of w and the next plane, f4 = the minimum of all four rows:
//   for each pair of neighbours in a row:
//     sum += −fall(f1) + fall(f2) + fall(f3) − fall(f4), fall(f) = max(0, f(x) − f(x + 1))
//
// The sum over the cells of an image of (−1)^dimension times the least weight of their voxels
// (doc/fingerprint.md). A cell that is thin along x and its prism to the next voxel differ by the
// fall of the weight, or cancel. So four falls per voxel cover its eight cells. Each voxel is
// looked up once, except for a row and a plane that warps share. A warp takes 128 columns and four
// or five rows, marches along z, and keeps the previous plane. In a 2D image, where only f1 and f2
// exist, it marches along y.
//
// A warp represents a voxel by the address of its weight in shared memory. Addresses ascend with
// the weights, so a minimum is one instruction, and the weights are read only for the falls. A table
// that is too large for shared memory is replaced by products (`products`, and `every` for all
// float32 values), or read from global memory. Then a warp keeps weights of 64 bits, whose upper 32
// bits determine their order. The host shifts weights to the left if they have fewer than 32 random
// bits, and a warp shifts its sum back before it can overflow.
//
// Includes: ../device.h, ../rounded.h, fault.h.
#pragma once
#include "../rounded.h"
#include "fault.h"

#ifdef ON_HOST
#define AT_ONCE(threads, blocks)
#else // limits the registers, so that a multiprocessor can hold that many blocks
#define AT_ONCE(threads, blocks) __attribute__((launch_bounds(threads, blocks)))
#endif

const int wide = 4, across = 32 * wide; // columns of a thread, and of a warp
const int most_threads = 512;

extern __shared__ int block_changes[];

typedef unsigned long long uint64;

struct weight {
  unsigned lo, hi; // separate words, which the compiler would not see in a 64-bit number
  weight() = default;
  member weight(unsigned lo, unsigned hi) : lo(lo), hi(hi) {}
  member weight(const weight &w) : lo(w.lo), hi(w.hi) {}
  member weight &operator=(const weight &w) { return lo = w.lo, hi = w.hi, *this; }
};
// The number of rows of a thread. It is greater for weights, because the rows of the previous plane
// are in shared memory then.
template <class one> constexpr int rows_of = sizeof(one) == sizeof(weight) ? 5 : 4;

inlined unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }
inlined weight least(weight a, weight b) {
  bool first = a.hi < b.hi;
  return {first ? a.lo : b.lo, first ? a.hi : b.hi};
}
// Replaces a by the lesser of a and b.
inlined void lower(unsigned &a, unsigned b) { a = least(a, b); }
inlined void lower(weight &a, weight b) {
#ifdef ON_HOST
  a = least(a, b);
#else // predicated moves, not selects
  if (b.hi < a.hi) asm volatile("mov.b32 %0, %2; mov.b32 %1, %3;" : "=&r"(a.lo), "=r"(a.hi) : "r"(b.lo), "r"(b.hi));
#endif
}
inlined unsigned from(unsigned v, int lane) { return from_lane(v, lane); }
inlined weight from(weight v, int lane) { return {from_lane(v.lo, lane), from_lane(v.hi, lane)}; }
inlined unsigned before(unsigned v) { return from_lane_before(v); }
inlined weight before(weight v) { return {from_lane_before(v.lo), from_lane_before(v.hi)}; }

// Adds a − b to sum if key_a > key_b.
inlined void add_fall(uint64 &sum, unsigned key_a, unsigned key_b, weight a, weight b) {
#ifdef ON_HOST
  if (key_a > key_b) sum += ((uint64)a.hi << 32 | a.lo) - ((uint64)b.hi << 32 | b.lo);
#else // the compiler would branch around this; inline assembly makes it predicated
  if (key_a > key_b)
    asm volatile("{ .reg .u64 a, b; mov.b64 a, {%1, %2}; mov.b64 b, {%3, %4}; sub.u64 a, a, b; add.u64 %0, %0, a; }"
                 : "+l"(sum) : "r"(a.lo), "r"(a.hi), "r"(b.lo), "r"(b.hi));
#endif
}

// Loads a weight from shared memory, as two words.
template <int ahead = 0> inlined weight load(unsigned at) {
#ifdef ON_HOST
  return *(const weight *)onhost::reach_shared("reads", at + ahead, 8);
#else
  weight w;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2+%3];" : "=r"(w.lo), "=r"(w.hi) : "r"(at), "n"(ahead));
  return w;
#endif
}
// The same, predicated.
inlined void load_if(bool asked, weight &to, unsigned at) {
#ifdef ON_HOST
  if (asked) to = load(at);
#else
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %3, 0; @p ld.shared.v2.u32 {%0, %1}, [%2]; }"
               : "+r"(to.lo), "+r"(to.hi) : "r"(at), "r"((int)asked));
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

// a + b, limited to 0 … most.
inlined int between(int a, int b, int most) {
#ifdef ON_HOST
  int d = a + b;
  return d < 0 ? 0 : d > most ? most : d;
#else // in this order, one instruction on Hopper
  int d;
  asm("{ .reg .s32 d; add.s32 d, %1, %2; min.s32 d, d, %3; max.s32 %0, d, 0; }" : "=r"(d) : "r"(a), "r"(b), "r"(most));
  return d;
#endif
}

inlined int64 multiply_wide(int a, int b) {
#ifdef ON_HOST
  return (int64)a * b;
#else
  int64 c;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(c) : "r"(a), "r"(b));
  return c;
#endif
}

// The address n values after p.
template <class T> inlined const T *after(const T *p, int n) {
#ifdef ON_HOST
  return p + n;
#else // hides the sum from the compiler, which would keep one pointer per row
  uint64 q;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(q) : "r"(n), "n"(sizeof(T)), "l"(p));
  return (const T *)(const __attribute__((address_space(1))) T *)q; // in global memory
#endif
}

// a·b + c as a multiplication, which leaves the units for shifts free.
inlined unsigned multiply_add(unsigned a, unsigned b, unsigned c) {
#ifdef ON_HOST
  return a * b + c;
#else
  unsigned d;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
#endif
}

// a·b + c.
inlined float32 fma_float(float32 a, float32 b, float32 c) {
#ifdef ON_HOST
  return plus(times(a, b), c);
#else
  float32 d;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
  return d;
#endif
}

// a·b, limited to 0 … 1; 0 if it is NaN.
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

// The weights of levels, and the level of a value. The last of n entries is for the outside.
struct ladder {
  // The weights by entry. For products they are factors: of the upper bytes of levels first, of the
  // lowest byte last.
  const weight *weights;
  int n;
  int log_copies;        // of the table of weights
  int least;             // integers: the value of entry 0
  int top;               // integers: the last value minus least; n − 1 if that is outside
  const float32 *values; // float32: the levels, or null if lo + k·step is exact
  int even;              // float32: the levels are evenly spaced
  float32 lo, inverse, step; // inverse: 1 / (last level − first level)
  int descend;           // the weights descend with the levels
  int order;             // products: the position of the level in the upper word of a weight
  int lane;
};

// Entries are counted from an origin. For float32 it is the pattern of a float around which floats
// are the integers.
const float32 integers = 12582912;
template <class T> inlined int origin_of() { return (T)0.5f > 0 ? (int)as<unsigned>(integers) : 0; }

// Copies weights to shared memory: slot i receives the weight of entry(i).
template <class F> inlined void fill(void *place, const weight *from, int n, int log_copies, F entry) {
  weight *to = (weight *)place;
  const int some = 8; // loads at a time
  NOT_UNROLLED for (int i = thread_x(); i < n << log_copies; i += some * threads()) {
    weight w[some];
    UNROLL for (int j = 0; j < some; j++) w[j] = from[entry((int)least((unsigned)(i + j * threads()) >> log_copies, (unsigned)n - 1))];
    UNROLL for (int j = 0; j < some; j++)
      if (i + j * threads() < n << log_copies) to[i + j * threads()] = w[j];
  }
}

// The address of the tables of factors in shared memory. It is a constant, so that addresses need
// no addition. The block's shared memory begins at or before it.
const unsigned factors_at = 4096, factor_bytes = 257 * 256;
inlined unsigned *factor_place() {
  unsigned before = factors_at - (shared_address(block_changes) & 0xffffff);
  if (before > factors_at) __builtin_trap();
  return (unsigned *)block_changes + before / 4;
}
// The upper byte of addresses in shared memory.
inlined unsigned shared_window() { return shared_address(block_changes) & 0xff000000; }

// A voxel as the address of its weight in shared memory, in one of several copies for the lanes.
// The outside has the first slot and the last one.
template <bool under, class T> struct places {
  static const bool seldom = false; // true if short code matters more than fast code
  static const int bytes = 0; // bytes of factors in shared memory
  member static int origin() { return origin_of<T>(); }
  typedef unsigned one;
  unsigned step, stride, first; // bytes between slots, and between levels; address of entry 0
  int outside; // the entry of voxels outside of the image
  const float32 *values;
  member void begin(const ladder &l) {
    int n = l.n, descend = l.descend;
    fill(block_changes, l.weights, n + 1, l.log_copies, [=](int slot) { return slot == 0 || slot == n ? n - 1 : descend ? n - 1 - slot : slot - 1; });
    float32 *mine = (float32 *)block_changes + (2 * (n + 1) << l.log_copies);
    if (l.values)
      for (int i = thread_x(); i < n - 1; i += threads()) mine[i] = l.values[i];
    __syncthreads();
    unsigned slots = shared_address(block_changes) + 8 * (l.lane & ((1 << l.log_copies) - 1));
    values = mine, outside = (descend == under ? n - 1 : -1) + origin();
    step = 8u << l.log_copies, stride = descend ? -step : step;
    first = slots + (descend ? n - 1 : 1) * step - origin() * stride;
  }
  member int beyond(const ladder &l) const { return l.n - 1 + origin(); }
  member one at(int k) const { return k * stride + first; }
  member void add_falls(uint64 &sum, const one (&f)[5]) const {
    weight w[5];
    UNROLL for (int c = 0; c < 5; c++) w[c] = load(f[c]);
    UNROLL for (int c = 0; c < 4; c++) {
      int a = c + under, b = c + !under;
      add_fall(sum, f[a] + planted(fault::tie) * 2 * step, f[b], w[a], w[b]);
    }
  }
};

template <bool under> inlined void add_weights_falls(uint64 &sum, const weight (&f)[5]) {
  UNROLL for (int c = 0; c < 4; c++) {
    int a = c + under, b = c + !under;
    add_fall(sum, f[a].hi + planted(fault::tie) * 2, f[b].hi, f[a], f[b]);
  }
}

// A voxel as its weight, from a table in global memory.
template <bool under, class T> struct beside {
  static const bool seldom = true;
  static const int bytes = 0;
  member static int origin() { return origin_of<T>(); }
  typedef weight one;
  int outside;
  const weight *weights;
  const float32 *values;
  member void begin(const ladder &l) { weights = l.weights, values = l.values, outside = l.n - 1 + origin(); }
  member int beyond(const ladder &l) const { return l.n - 1 + origin(); }
  member one at(int k) const { return load(weights + (k - origin())); }
  member void add_falls(uint64 &sum, const one (&f)[5]) const { add_weights_falls<under>(sum, f); }
};

template <int ahead = 0> inlined unsigned load_word(unsigned at) {
#ifdef ON_HOST
  return *(const unsigned *)onhost::reach_shared("reads", at + ahead, 4);
#else
  unsigned w;
  asm volatile("ld.shared.u32 %0, [%1+%2];" : "=r"(w) : "r"(at), "n"(ahead));
  return w;
#endif
}
// Products modulo a prime, of a signed 32-bit number and a number with an absolute value below 2³⁰,
// which is given doubled. The result is again a 32-bit number, signed or unsigned, because a
// multiple of the prime is subtracted or added first. Only the last product needs a comparison
// (in_field).
const unsigned prime = 0x7fffffff;
const int64 many_primes = (int64)prime << 31; // 2⁶² − 2³¹
inlined int digits(int64 c) { return (int)(c >> 32) + (int)((unsigned)c >> 1); } // of c/2, modulo the prime: 2³¹ is 1
inlined int times_signed(int a, int twice_b) { return digits((int64)a * twice_b - many_primes); }
inlined unsigned times_unsigned(int a, int twice_b) { return (unsigned)digits((int64)a * twice_b + many_primes); }
// d modulo the prime, for d below twice the prime.
inlined unsigned in_field(unsigned d) {
#ifdef ON_HOST
  return least(d, d - prime);
#else // in this order, one instruction on Hopper
  unsigned e;
  asm("{ .reg .u32 e; sub.u32 e, %1, %2; min.u32 %0, e, %1; }" : "=r"(e) : "r"(d), "n"(prime));
  return e;
#endif
}

// A voxel as the weight of its float32 value. The random bits are a product of four factors, one
// per byte of the level.
template <bool under, class T> struct every {
  typedef weight one;
  static const bool seldom = false;
  static const int bytes = factors_at + factor_bytes;
  int outside;           // the level number of the outside
  int zero, sign;        // the level number of 0.0, and the step to the next level
  unsigned lanes;        // two places of the lane in a row, and the upper byte of an address
  unsigned which[4];     // the bytes that select each of the four factors
  // A row of 64 words has copies of four factors for half a warp. While one half of a warp reads
  // the first factor and then the second one, the other half reads them in the reverse order, so
  // that no two lanes access the same bank.
  member void begin(const ladder &l) {
    unsigned *to = factor_place();
    const int some = 8, all = 256 * 64; // some: loads at a time
    NOT_UNROLLED for (int i = thread_x(); i < all; i += some * threads()) {
      unsigned f[some];
      UNROLL for (int j = 0; j < some; j++) {
        int at = i + j * threads() < all ? i + j * threads() : 0;
        f[j] = l.weights[(at >> 4 & 3) << 8 | at >> 6].lo;
      }
      UNROLL for (int j = 0; j < some; j++) {
        if (f[j] > prime / 2) f[j] -= prime;
        if (i + j * threads() < all) to[i + j * threads()] = (i + j * threads()) >> 4 & 3 ? 2 * f[j] : f[j];
      }
    }
    __syncthreads();
    sign = l.descend ? -1 : 1, zero = 0x7f7fffff + under, outside = under ? 0 : l.n - 1;
    int second = l.lane >> 4;
    lanes = shared_window() + 4 * (l.lane & 15) + (second ? 0x0040 : 0x4000) + 0x100 * 4 * (l.lane & 15);
    UNROLL for (int i = 0; i < 4; i++) which[i] = 0x7604 + (i & 1) + ((3 - (i ^ second)) << 4);
  }
  // The level number of a value by its bits, which ascend from zero and, for negative values,
  // descend.
  member int number(int bits) const {
#ifdef ON_HOST
    return (int)((unsigned)zero + (unsigned)sign * (bits < 0 ? -(unsigned)(bits & 0x7fffffff) : (unsigned)bits));
#else // as a multiplication; a branch would become a select
    int d;
    asm("{ .reg .pred p; setp.lt.s32 p, %1, 0; mad.lo.s32 %0, %1, %2, %3; @p mad.lo.s32 %0, %1, %4, %5; }"
        : "=&r"(d) : "r"(bits), "r"(sign), "r"(zero), "r"(-sign), "r"(zero ^ (int)0x80000000));
    return d;
#endif
  }
  member int beyond(const ladder &) const { return zero + sign * 0x7f800000; } // the level number of infinity
  member one at(unsigned number) const {
    unsigned a = load_word<factors_at>(permute(number, lanes, which[0])), b = load_word<factors_at>(permute(number, lanes, which[1]));
    unsigned c = load_word<factors_at + 128>(permute(number, lanes, which[2])), d = load_word<factors_at + 128>(permute(number, lanes, which[3]));
    return {2 * in_field(times_unsigned(times_signed(times_signed((int)a, (int)b), (int)c), (int)d)), number};
  }
  member void add_falls(uint64 &sum, const one (&f)[5]) const { add_weights_falls<under>(sum, f); }
};

// A voxel as a weight whose random bits are a product of two factors: of the level's upper byte and
// of its lower byte.
template <bool under, class T> struct products {
  typedef weight one;
  static const bool seldom = false;
  static const int bytes = factors_at + factor_bytes;
  member static int origin() { return origin_of<T>(); }
  int outside, sign, first; // of numbers, which begin at the address of the factors
  unsigned lanes;           // the lane's place in a row, and the upper byte of an address
  unsigned unit, mask;      // a level number in the upper word, and the random bits there
  const float32 *values;
  member void begin(const ladder &l) {
    // Rows of 256 bytes, so that bytes of a level are bytes of an address: copies for half a warp
    // of the factor of the upper byte, then of the lower byte.
    fill(factor_place(), l.weights, 2 * 257, 4, [](int slot) { return slot & 1 ? 257 + least((unsigned)slot >> 1, 255u) : slot >> 1; });
    __syncthreads();
    values = l.values, outside = (l.descend == under ? l.n - 1 : -1) + origin();
    sign = l.descend ? -1 : 1, first = (int)factors_at + (l.descend ? l.n - 2 : 0) + under - sign * origin();
    lanes = shared_window() + 8 * (l.lane & 15), unit = 1u << l.order, mask = unit - 1;
  }
  member int beyond(const ladder &l) const { return l.n - 1 + origin(); }
  member one at(int k) const {
    unsigned number = (unsigned)k * sign + first; // of 17 bits
    weight a = load(permute(number, lanes, 0x7214)), b = load<factors_at + 128>(permute(number, lanes, 0x7504));
    uint64 low = (uint64)a.lo * b.lo;
    unsigned hi = multiply_add(a.lo, b.hi, (unsigned)(low >> 32));
    if (!planted(fault::cross)) hi = multiply_add(a.hi, b.lo, hi);
    return {(unsigned)low, multiply_add(number, unit, hi & mask)};
  }
  member void add_falls(uint64 &sum, const one (&f)[5]) const { add_weights_falls<under>(sum, f); }
};

// The entries of values. Returns whether none of them can be outside. For integers, an entry is the
// distance from the first value.
template <class Way, class T> struct entries {
  template <class V, int n> inlined bool of(int (&k)[n], const V &v, const ladder &l, const Way &way) {
    int top = l.top - planted(fault::last);
    UNROLL for (int c = 0; c < n; c++) k[c] = between((int)v[c], -l.least, top);
    return l.top < l.n - 1;
  }
};
// For float32, the first level that is not below the value. It is nearly always the nearest level.
template <class Way> struct entries<Way, float32> {
  inlined float32 value(const ladder &l, const Way &way, int k) { return l.values ? way.values[k] : plus(l.lo, times((float32)k, l.step)); }
  inlined int search(float32 v, const ladder &l, const Way &way) {
    int k = 0, last = l.n - 2;
    NOT_UNROLLED for (int some = 1 << (31 - __builtin_clz(l.n)); some; some >>= 1) { // the same in all lanes
      int next = k + some;
      if (next <= last + 1 && value(l, way, next - 1 < last ? next - 1 : last) < v) k = next;
    }
    return (planted(fault::last) && k > last ? k - 1 : k) + Way::origin();
  }
  // Finds the nearest levels. Returns whether all values in the warp are levels; known: levels are
  // read from a table.
  template <bool known, class V, int n> inlined bool nearest(int (&k)[n], const V &v, const ladder &l, const Way &way) {
    float32 at[n];
    UNROLL for (int c = 0; c < n; c++) {
      float32 f = fma_float(times_saturated(minus(v[c], l.lo), l.inverse), (float32)(l.n - 2), integers);
      k[c] = (int)as<unsigned>(f);
      if (!known) at[c] = plus(l.lo, times(minus(f, integers), l.step));
    }
    if (known)
      UNROLL for (int c = 0; c < n; c++) at[c] = way.values[k[c] - Way::origin()];
    bool stand = true;
    UNROLL for (int c = 0; c < n; c++) stand &= at[c] == v[c] || planted(fault::between);
    return !any(!stand);
  }
  // Branches are uniform in a warp, so that lanes stay together.
  template <class V, int n> inlined bool of(int (&k)[n], const V &v, const ladder &l, const Way &way) {
    if (l.even && !l.values && nearest<false>(k, v, l, way)) return true;
    if (l.even && l.values && nearest<true>(k, v, l, way)) return true;
    NOT_UNROLLED for (int c = 0; c < n; c++) { // keeps arrays in registers
      float32 one = v[0];
      UNROLL for (int i = 1; i < n; i++) one = i == c ? v[i] : one;
      int found = search(one, l, way);
      UNROLL for (int i = 0; i < n; i++) k[i] = i == c ? found : k[i];
    }
    return false;
  }
};

// On the ladder of all float32 values: the level number.
template <bool under> struct entries<every<under, float32>, float32> {
  template <class V, int n> inlined bool of(int (&k)[n], const V &v, const ladder &l, const every<under, float32> &way) {
    UNROLL for (int c = 0; c < n; c++) k[c] = way.number(as<int>(v[c]));
    return l.top != l.n - 1;
  }
};

// The slices of an image. p holds those from first on. Position z is between slices z and z + 1 of
// the image. Along a periodic axis, the voxel after the last one is the first one.
struct slab {
  int w, h, slices, first;
  int rings; // bits 1, 2 and 4: periodic along x, y and z
};

// The values that a thread reads in a plane, and for one row the column before the warp's.
template <class T, int held> struct loaded {
  typedef T vector __attribute__((vector_size(wide * sizeof(T))));
  vector v[held + 1];
  T before;
  bool there; // the plane exists
};

// Whether rows are aligned for vector loads: known when compiling, or tested for each plane, for
// shorter code.
enum alignment { unaligned, aligned, unknown };

template <class Way, class T> struct columns {
  typedef typename Way::one one;
  static const int held = rows_of<one>;
  typedef loaded<T, held> plane_of;
  const T *image;
  slab s;
  ladder l;
  Way way;
  int x;              // the first column
  int rows[held + 1]; // offsets of the thread's rows in a plane; arbitrary valid ones for rows outside
  int columns_on[wide]; // offsets of the columns, limited to the image's last one
  bool there[held + 1];
  int seam;           // the offset of the column before the warp's, in the row with the lane's number, or −1
  bool inside;        // all rows exist, and all columns if words are loaded that may contain others

  member int row(int y) const { return y >= 0 && y < s.h ? y * s.w : s.rings & 2 ? 0 : -1; }
  member void place(int at, int y) {
    x = at + wide * l.lane;
    int from = x < s.w ? x : 0;
    UNROLL for (int c = 0; c < wide; c++) columns_on[c] = from + c < s.w ? c : planted(fault::outside) ? -from : s.w - 1 - from;
    int before = at ? at - 1 : s.rings & 1 ? s.w - 1 : -1;
    inside = sizeof(T) > 1 || s.w % wide == 0 || at + across <= s.w;
    UNROLL for (int r = 0; r <= held; r++) {
      int begin = row(y + r - (planted(fault::row) && r == held));
      there[r] = begin >= 0, rows[r] = from + (there[r] ? begin : 0);
      inside &= there[r];
    }
    seam = row(y + (l.lane < held ? l.lane : held));
    seam = seam < 0 || before < 0 ? -1 : seam + before;
  }
  // The address of a plane, and whether it exists. If not, the address is that of another plane.
  member const T *plane(int z, bool &there) const {
    there = z >= 0 && z < s.slices;
    if (!there && s.rings & 4) z = 0, there = true;
    return image + multiply_wide(there ? z - s.first : 0, s.h * s.w);
  }
  member void load_before(plane_of &to, const T *plane) const { to.before = plane[seam < 0 ? 0 : seam]; }
  template <alignment a> member void load(plane_of &to, const T *plane, int r) const {
    const T *p = after(plane, rows[r]);
    if (a == aligned || (a == unknown && s.w % wide == 0)) {
      to.v[r] = *(const typename plane_of::vector *)p;
    } else if constexpr (sizeof(T) == 1) { // loads words; the next one may not exist
      int odd = (int)(int64)p & 3;
      const unsigned *word = (const unsigned *)(p - odd);
      to.v[r] = as<typename plane_of::vector>(shift_right(word[odd && x + wide - odd < s.w], word[0], 8 * odd));
    } else {
      UNROLL for (int c = 0; c < wide; c++) to.v[r][c] = *after(p, columns_on[c]);
    }
  }
  template <alignment a> member void load(plane_of &to, int z) const {
    const T *p = plane(z, to.there);
    load_before(to, p);
    UNROLL for (int r = 0; r <= held; r++) load<a>(to, p, r);
  }
  // The column before the warp's. Each lane has that of its row.
  member one look_before(const plane_of &in) const {
    int k[1];
    bool none = entries<Way, T>::of(k, &in.before, l, way);
    if (!in.there || seam < 0 || (!none && k[0] == way.beyond(l))) k[0] = way.outside;
    return way.at(k[0]);
  }
  // The entries of n rows. A column beyond the image's last one repeats it, so that nothing falls
  // or rises there.
  template <int n> member void find(int (&k)[n][wide], const plane_of &in, int first) const {
    T v[n * wide];
    int flat[n * wide];
    UNROLL for (int i = 0; i < n * wide; i++) v[i] = in.v[first + i / wide][i % wide];
    bool none = entries<Way, T>::of(flat, v, l, way) && inside && in.there;
    UNROLL for (int i = 0; i < n * wide; i++) k[i / wide][i % wide] = flat[i];
    if (!none) {
      UNROLL for (int r = 0; r < n; r++)
        UNROLL for (int c = 0; c < wide; c++) {
          if (sizeof(T) == 1 && c && x + c >= s.w && !planted(fault::outside)) k[r][c] = k[r][c - 1];
          if (!in.there || !there[first + r] || k[r][c] == way.beyond(l)) k[r][c] = way.outside;
        }
    }
  }
  // Whether the thread's columns add to the sum.
  member bool adds() const { return x < s.w || planted(fault::outside); }
  // A row: the thread's columns, preceded by the last column of the previous lane.
  member void look_up(one (&to)[1 + wide], const int (&k)[wide]) const {
    UNROLL for (int c = 0; c < wide; c++) to[1 + c] = way.at(k[c]);
    to[0] = before(to[wide]);
    if (planted(fault::seam) && !l.lane) to[0] = to[1];
  }
};

// Replaces the column before that of lane 0, which no lane holds, by the one in lane r of seams.
template <class one> inlined void take_seam(one &to, one seams, int r, int lane) {
  one seam = from(seams, r);
  if (!lane && !planted(fault::seam)) to = seam;
}

// The previous plane of a warp. Addresses are kept in registers. Weights are kept in shared memory,
// because they need too many registers.
template <class one> struct plane_held {
  static const int held = rows_of<one>;
  one rows[held + 1][1 + wide], seams;
  member plane_held(int, int) {}
  member void get(one (&to)[1 + wide], int r) const {
    UNROLL for (int c = 0; c <= wide; c++) to[c] = rows[r][c];
  }
  member void put(const one (&from)[1 + wide], int r) {
    UNROLL for (int c = 0; c <= wide; c++) rows[r][c] = from[c];
  }
  member void put_seams(one of, int) { seams = of; }
  member void get_seam(one &to, int r, int lane) const { take_seam(to, seams, r, lane); }
};
// The seams alternate between two buffers, so that a warp synchronizes only for those of the
// current plane.
template <> struct plane_held<weight> {
  static const int held = rows_of<weight>;
  static const int seam_bytes = 8 * (held + 1), bytes = (held + 1) * (1 + wide) * 256 + 2 * seam_bytes;
  unsigned mine, seams, other;
  member plane_held(int beside, int lane) {
    unsigned warp = shared_address(block_changes) + beside + (thread_x() >> 5) * bytes;
    mine = warp + 8 * lane, seams = warp + bytes - seam_bytes, other = seams - seam_bytes;
  }
  member unsigned at(int r, int c) const { return mine + 256 * ((1 + wide) * r + c); }
  member void get(weight (&to)[1 + wide], int r) const {
    UNROLL for (int c = 0; c <= wide; c++) to[c] = load(at(r, c));
  }
  member void put(const weight (&from)[1 + wide], int r) const {
    UNROLL for (int c = 0; c <= wide; c++) store(at(r, c), from[c]);
  }
  member void put_seams(weight of, int lane) {
    unsigned now = other;
    other = seams, seams = now;
    if (lane <= held) store(seams + 8 * lane, of);
    sync_warp();
  }
  member void get_seam(weight &to, int r, int lane) const {
    if (!planted(fault::seam)) load_if(!lane, to, seams + 8 * r);
  }
};

// The sum over positions from ≤ z < to, for a warp's columns and rows. The end of a row adds
// nothing. If the outside has the least weight (under), falls towards the previous voxel are
// counted.
template <alignment a, class Way, class T> inlined uint64 march(const columns<Way, T> &k, int from, int to) {
  typedef typename Way::one one;
  const int held = rows_of<one>;
  // With weights, a row of the next plane is loaded after this plane's row was looked up. This
  // takes fewer registers, but leaves less time for the loads.
  const bool by_row = sizeof(one) == sizeof(weight);
  uint64 more = 0, less = 0;
  plane_held<one> last(Way::bytes, k.l.lane);
  loaded<T, held> in;
  k.template load<a>(in, from);
  {
    one some[1 + wide]; // a plane that does not exist; its contribution is discarded
    UNROLL for (int c = 0; c <= wide; c++) some[c] = k.way.at(k.way.outside);
    UNROLL for (int r = 0; r <= held; r++) last.put(some, r);
  }
  NOT_UNROLLED for (int z = from; z <= to; z++) {
    loaded<T, held> now = in;
    bool there;
    const T *next = k.plane(z < to ? z + 1 : z, there);
    if (!by_row && z < to) k.template load<a>(in, z + 1);
    one below[1 + wide], deep_above[1 + wide]; // the previous row: in the last plane, and the minimum of both planes
    last.put_seams(k.look_before(now), k.l.lane);
    if (by_row) k.load_before(in, next);
    int entry[1][wide];
    UNROLL for (int r = 0; r <= held; r++) {
      one deep[1 + wide], under[1 + wide];
      k.find(entry, now, r);
      k.look_up(deep, entry[0]);
      last.get_seam(deep[0], r, k.l.lane);
      if (by_row) k.template load<a>(in, next, r);
      last.get(under, r);
      last.put(deep, r);
      UNROLL for (int c = 0; c <= wide; c++) lower(deep[c], under[c]);
      if (r > 0) {
        k.way.add_falls(less, below);
        UNROLL for (int c = 0; c <= wide; c++) lower(below[c], under[c]);
        k.way.add_falls(more, below);
        k.way.add_falls(more, deep_above);
        UNROLL for (int c = 0; c <= wide; c++) lower(deep_above[c], deep[c]);
        k.way.add_falls(planted(fault::sign) ? more : less, deep_above);
      }
      UNROLL for (int c = 0; c <= wide; c++) below[c] = under[c], deep_above[c] = deep[c];
    }
    if (by_row) in.there = there;
    if (z == from) more = less = 0;
  }
  return more - less;
}

// The sum over positions from ≤ y < to of a 2D image, for a warp's columns from x on, in groups of
// rows.
template <alignment a, class Way, class T> inlined uint64 march_flat(columns<Way, T> &next, int x, int from, int to) {
  typedef typename Way::one one;
  const int held = rows_of<one>;
  uint64 more = 0, less = 0;
  one last[1 + wide];
  loaded<T, held> in;
  next.place(x, from);
  next.template load<a>(in, 0);
  {
    one seams = next.look_before(in);
    int entry[1][wide];
    next.find(entry, in, 0);
    next.look_up(last, entry[0]);
    take_seam(last[0], seams, 0, next.l.lane);
  }
  next.place(x, from + 1);
  next.template load<a>(in, 0);
  NOT_UNROLLED for (int y = from; y < to; y += held) {
    columns<Way, T> k = next;
    loaded<T, held> now = in;
    if (y + held < to) {
      next.place(x, y + held + 1 - planted(fault::step));
      next.template load<a>(in, 0);
    }
    one seams = k.look_before(now);
    int entry[held][wide];
    k.find(entry, now, 0);
    UNROLL for (int r = 0; r < held && y + r < to; r++) {
      one v[1 + wide], both[1 + wide];
      k.look_up(v, entry[r]);
      take_seam(v[0], seams, r, k.l.lane);
      UNROLL for (int c = 0; c <= wide; c++) both[c] = least(last[c], v[c]);
      k.way.add_falls(more, last);
      k.way.add_falls(planted(fault::sign) ? more : less, both);
      UNROLL for (int c = 0; c <= wide; c++) last[c] = v[c];
    }
  }
  return more - less;
}

// Adds the sum over positions from ≤ z < to, in segments, which warps take in a fixed order. In a
// 2D image, positions are along y. Weights have been shifted to the left by shift bits.
template <bool flat, class Way, class T>
inlined void add_up(const T *image, const slab &s, int from, int to, int segment, const ladder &l, int shift, int64 *sum) {
  const int held = rows_of<typename Way::one>;
  columns<Way, T> k{image, s, l};
  k.way.begin(l);
  int64 n = (s.w + across - 1) / across, groups = flat ? 1 : (s.h + held) / held, segments = (to - from + segment - 1) / segment;
  int64 warps = (int64)blocks() * (threads() >> 5), mine = 0;
  bool vectors = s.w % wide == 0; // every row is aligned
  for (int64 item = (int64)block_x() * (threads() >> 5) + (thread_x() >> 5); item < n * groups * segments; item += warps) {
    int z = from + (int)(item / n / groups) * segment, end = to - z < segment ? to : z + segment, x = (int)(item % n) * across;
    if (planted(fault::segment) && end < to) end--;
    uint64 all;
    const bool brief = sizeof(T) > 1 && (flat || Way::seldom);
    if (flat) {
      if (brief) all = march_flat<unknown>(k, x, z, end);
      else all = vectors ? march_flat<aligned>(k, x, z, end) : march_flat<unaligned>(k, x, z, end);
    } else {
      k.place(x, (int)(item / n % groups) * held - 1);
      if (brief) all = march<unknown>(k, z, end);
      else all = vectors ? march<aligned>(k, z, end) : march<unaligned>(k, z, end);
    }
    if (k.adds()) mine += (int64)all >> shift;
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
    add_up<flat, way<under, T>, T>(image + (int64)block_y() * width * height * slices, slab{width, height, slices, first, rings}, from, to, segment,                     \
        ladder{weights, n, log_copies, least, top, values, even, lo, inverse, step, descend, order, thread_x() & 31}, shift, sum + block_y()); \
  }
#define KERNELS(name, way, T)                                                                                               \
  KERNEL(_##name, false, way, false, T) KERNEL(_under_##name, false, way, true, T)                                          \
  KERNEL(_flat_##name, true, way, false, T) KERNEL(_flat_under_##name, true, way, true, T)
