// Columns of voxels in registers, as the extrema kernels hold them; their conversion from the
// image's values; and the addition of their changes to the histogram.
//
// A lane holds the value of one column: a pair of halves (two voxels of different rows) or a
// float32 (one voxel). Positive halves compare like their bit patterns. A level is stored as the
// half with the pattern 4·level (uint8: the pattern of the value), so the same 16 bits serve for
// comparisons and as the offset of the level's counter. Voxels outside of the image are +infinity,
// which is above levels 0 to 7935.
#pragma once
#include "histogram.h"
#include "voxel.h"

// Two voxels of a column. A number is a pair of small integers, as halves.
struct pair {
  typedef unsigned value;
  typedef half2 number;
  static const int voxels = 2;

  inlined unsigned outside() { return 0x7c007c00; }
  inlined unsigned least(unsigned a, unsigned b) { return least_halves(a, b); }
  // 1 where a > b, else 0; and 1 where a = b, else 0.
  inlined half2 greater(unsigned a, unsigned b) { return greater_halves(a, b); }
  inlined half2 equal(unsigned a, unsigned b) { return equal_halves(a, b); }
  inlined half2 fma(half2 a, half2 b, half2 c) { return fma_halves(a, b, c); }
  inlined half2 bias() { return half2{1536, 1536}; }
  inlined half2 times(float32 v) { return half2{(_Float16)v, (_Float16)v}; }
};

// One voxel of a column, by its value. Its level is looked up when it changes.
struct single {
  typedef float32 value;
  typedef float32 number;
  static const int voxels = 1;

  inlined float32 outside() { return __builtin_huge_valf(); }
  inlined float32 least(float32 a, float32 b) { return __builtin_fminf(a, b); }
  inlined float32 greater(float32 a, float32 b) { return greater_float(a, b); }
  inlined float32 equal(float32 a, float32 b) { return equal_float(a, b); }
  inlined float32 fma(float32 a, float32 b, float32 c) { return __builtin_fmaf(a, b, c); }
  inlined float32 bias() { return 0; }
  inlined float32 times(float32 v) { return v; }
};

// Four consecutive voxels of a row.
template <class T> struct four { typedef T type __attribute__((ext_vector_type(4))); };
template <class T> using four_of = typename four<T>::type;

// How image values that are levels become levels. For float32, scale·value + offset rounds to the
// integer 2²³ + 2¹⁶ + f·level. For 16-bit types, f·level is f·value − bias modulo 2¹⁶. The factor f
// is 4 for pairs, 1 for wide and 16 for ranked. Values of uint8 are counted as they are and looked
// up at the end.
struct scaling {
  float32 scale, offset;
  unsigned bias;
};

// Four columns of rows a and b, as pairs.
inlined void lanes(unsigned *out, four_of<float32> a, four_of<float32> b, const scaling &s) {
  UNROLL for (int c = 0; c < 4; c++)
    out[c] = permute(as<unsigned>(__builtin_fmaf(a[c], s.scale, s.offset)),
                     as<unsigned>(__builtin_fmaf(b[c], s.scale, s.offset)), 0x5410);
}

typedef unsigned words __attribute__((ext_vector_type(2)));
inlined void lanes(unsigned *out, four_of<uint16> a, four_of<uint16> b, const scaling &s) {
  words u = as<words>(a), v = as<words>(b);
  UNROLL for (int c = 0; c < 4; c++) out[c] = 4 * permute(u[c / 2], v[c / 2], c & 1 ? 0x7632 : 0x5410) - s.bias;
}
inlined void lanes(unsigned *out, four_of<int16> a, four_of<int16> b, const scaling &s) {
  words u = as<words>(a), v = as<words>(b);
  UNROLL for (int c = 0; c < 4; c++)
    out[c] = 4 * (permute(u[c / 2], v[c / 2], c & 1 ? 0x7632 : 0x5410) ^ 0x80008000) - s.bias;
}
inlined void lanes(unsigned *out, four_of<uint8> a, four_of<uint8> b, const scaling &) {
  unsigned first = permute(as<unsigned>(a), as<unsigned>(b), 0x5140), last = permute(as<unsigned>(a), as<unsigned>(b), 0x7362);
  out[0] = permute(first, 0, 0x4140);
  out[1] = permute(first, 0, 0x4342);
  out[2] = permute(last, 0, 0x4140);
  out[3] = permute(last, 0, 0x4342);
}

// Four columns of row a, as singles.
template <class F> inlined void lanes(float32 *out, F a, F, const scaling &) {
  UNROLL for (int c = 0; c < 4; c++) out[c] = (float32)a[c];
}

// One column of rows a and b.
template <class L, class T> inlined typename L::value lane(T a, T b, const scaling &s) {
  typename L::value v[4];
  lanes(v, four_of<T>(a), four_of<T>(b), s);
  return v[0];
}

// Adds the changes of both voxels to the counters of their levels. A change is biased − 1536, from
// −8 to 7, so the lowest byte of the half is the change. A change of 0 goes to a counter of the
// lane at nowhere, so that the warp does not diverge.
template <class T> inlined void add(unsigned levels, half2 biased, unsigned nowhere, const histogram &, const ladder &) {
  unsigned numbers = as<unsigned>(biased), none = where_equal_halves(numbers, 0x66006600);
  unsigned at = (levels & ~none) | (nowhere & none);
  if (sizeof(T) == 1) at *= 4;
  unsigned counters = shared_address(block_changes);
  add_shared(counters + (at & 0xffff), (int)permute(numbers, 0, 0x8880));
  add_shared(counters + (at >> 16), (int)permute(numbers, 0, 0xaaa2));
}

// The argument nowhere of add: a counter behind those of the levels, one for each lane.
template <class T> inlined unsigned no_level(const ladder &l, pair) {
  return 0x10001 * (sizeof(T) == 1 ? 256 + (thread_x() & 31) : 4 * (l.n + (thread_x() & 31)));
}

// Adds the change of one voxel.
template <class T> inlined void add(float32 value, float32 change, float32, const histogram &h, const ladder &l) {
  if (change != 0) histogram::add(h, level(l, (typename in_register<T>::type)value), (int)change);
}

template <class T> inlined float32 no_level(const ladder &, single) { return 0; }

// Called after a thread's changes of a plane or row. Counters of 32 bits need nothing.
template <class T, class V> inlined void settle(const histogram &, const V &) {}

// The counters of a block: one for each value of uint8, else one for each level.
template <class T> inlined histogram counters(const ladder &l, int64 *total, int copies) {
  return histogram::start(total, sizeof(T) == 1 ? 256 : l.n, copies);
}
template <class T> inlined void total_up(const histogram &h, const ladder &l) {
  if (sizeof(T) > 1 || !l.lut) return histogram::finish(h);
  __syncthreads();
  for (int v = thread_x(); v < 256; v += threads())
    if (block_changes[v]) add_global(h.total + l.lut[v], block_changes[v]);
}

// Blocks of 128 threads for which a multiprocessor has enough registers.
enum { blocks_2d = 3, blocks_3d = 3 };

const int columns = 128; // per warp, four for each thread

// How an image is read. With fours, rows begin at multiples of four voxels and are read four voxels
// at a time. With bare, nothing outside of the image is read; other images lie between two guards
// (impls/extrema).
enum reading { singly = 0, fours = 1, bare = 2 };

// For a bare image: its number of voxels, and the number of leading planes for which all reads of a
// warp stay inside of the image.
struct bounds {
  int64 voxels;
  int safe;
};
template <class T> inlined const T *within(const T *p, const T *image, int64 voxels, int n) {
  const T *last = image + (voxels - n);
  return p < image ? image : p > last ? last : p;
}

// The changes that a warp's last column hands to the first column beyond it, by slice modulo slots,
// with the values of that column. Lane 0 writes them. Every 32 slices, each lane adds those of one
// slice.
const int slots = 64;
const int held = 2; // rows that a thread counts in 3D; it reads one more
template <class L> struct seam {
  typename L::value v[slots][held + 2];
  typename L::number n[slots][2 * held];
};

// The constants of a thread.
template <class L> struct counting {
  typename L::number border, inner; // border: 0 in the image's first column, else 1; inner: 0 in lane 0, else 1
  typename L::value nowhere;        // the counter for changes of 0
  seam<L> *s;
};

// Blocks take items from a queue. The last block to end resets it for the next launch.
__device__ unsigned queue, ended;
struct queue_turns {
  inlined int warp() { return thread_x() >> 5; }
  inlined int warps() { return threads() >> 5; }
  inlined int take_of(unsigned *queue) {
    __shared__ int turn;
    __syncthreads();
    if (!thread_x()) turn = (int)take_turn(queue);
    __syncthreads();
    return turn;
  }
  inlined int take(int) { return take_of(&queue); }
  inlined void end() {
    if (!thread_x() && count_block(&ended) == (unsigned)blocks() - 1) queue = 0;
  }
};

// The same, except that a block's first item is its own number. If there are at most as many items
// as blocks, the queue is not used.
struct block_turns : queue_turns {
  bool begun;
  member int take(int items) {
    bool first = !begun;
    begun = true;
    return first ? block_x() : items <= blocks() ? items : blocks() + queue_turns::take(items);
  }
};

inlined unsigned mark(unsigned v, unsigned outer) {
  unsigned mask = (outer & 0x10001) * 0xffff;
  return (v & ~mask) | (pair::outside() & mask);
}
inlined float32 mark(float32 v, unsigned outer) { return outer & 1 ? single::outside() : v; }
