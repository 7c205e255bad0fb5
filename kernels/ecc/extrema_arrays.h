// Kernels for arrays of other programs. They read nothing outside of the images. All state that
// blocks share is in memory given for one launch, so launches may run at the same time. They write
// the curves themselves. The host clears the state before the launch. Images, curves and states are
// contiguous in memory, with one of each per image, and each image has its own row of blocks
// (block_y).
#pragma once
#include "extrema_small.h"
#include "extrema_ranked.h"

// The state that blocks share: a queue of work, the number of blocks that have ended, and the table
// of changes, padded to a multiple of four levels.
const int state = 64; // in bytes, before the table
inlined unsigned *queue_in(void *memory) { return (unsigned *)memory; }
inlined unsigned *delivered_in(void *memory) { return (unsigned *)memory + 1; }
template <class N> inlined N *table_in(void *memory) { return (N *)((char *)memory + state); }

// Moves the arguments of a kernel to the image of this block.
template <class T> inlined void take_image(const T *&image, int64 voxels, int64 *&chi, int rows, void *&memory, int levels) {
  const int64 i = block_y();
  image += i * voxels, chi += i * rows, memory = (char *)memory + i * (state + 8 * ((levels + 3) / 4 * 4));
}

// Turns from a queue that starts at 0. A block's first item is its own number, without the queue.
struct given_turns : queue_turns {
  unsigned *queue;
  bool begun;
  member int take(int items) {
    bool first = !begun;
    begun = true;
    return first ? block_x() : items <= blocks() ? items : blocks() + take_of(queue);
  }
  inlined void end() {}
};

// The last block to end computes the prefix sums: chi[k] is the sum of the changes of levels 0 to
// k.
template <class N> inlined void sum_up(void *memory, int levels, int64 *chi, int rows) {
  const int group = 32, each = 4, most = 512;
  static __shared__ bool last;
  static __shared__ int64 sums[most], groups[most / group];
  int thread = thread_x();
  __syncthreads();
  if (!thread) last = deliver_block(delivered_in(memory)) == (unsigned)blocks() - 1;
  __syncthreads();
  if (!last) return;
  N *table = table_in<N>(memory);
  int share = ((levels + threads() - 1) / threads() + each - 1) / each * each, from = share * thread;
  int to = from + share < levels ? from + share : levels;
  int64 sum = 0;
  for (int k = from; k < to; k += each) {
    two_changes c[2];
    take_changes(c, table + k);
    sum += c[0].x + c[0].y + c[1].x + c[1].y;
  }
  sums[thread] = sum;
  __syncthreads();
  if (thread < threads() / group) {
    sum = 0;
    for (int i = 0; i < group; i++) sum += sums[thread * group + i];
    groups[thread] = sum;
  }
  __syncthreads();
  sum = 0;
  for (int i = 0; i < thread / group; i++) sum += groups[i];
  for (int i = thread / group * group; i < thread; i++) sum += sums[i];
  for (int k = from; k < to; k += each) {
    two_changes c[2];
    take_changes(c, table + k);
    UNROLL for (int i = 0; i < each; i++) {
      sum += i & 1 ? c[i / 2].y : c[i / 2].x;
      if (k + i < rows) chi[k + i] = sum;
    }
  }
}

#define ARRAY(name, dim, T, bound)                                                                                     \
  extern "C" __global__ __attribute__((bound)) void ecc_extrema_array##name##_##dim##_##T(                              \
      const T *image, int64 voxels, int safe, int width, int height, int slices, int segment, float32 scale,          \
      float32 offset, unsigned bias, int64 *chi, int rows, int levels, int least, int affine, float32 lo,             \
      float32 inverse, const int *lut, const float32 *values, void *memory, int copies)
#define ARRAY_OF(name, dim, L, T, how, threads, blocks, start, finish)                                                 \
  ARRAY(name, dim, T, launch_bounds(threads, blocks)) {                                                                \
    __shared__ seam<L> seams[threads / 32];                                                                            \
    ladder l{levels, least, affine, lo, inverse, lut, values};                                                         \
    take_image(image, voxels, chi, rows, memory, levels);                                                              \
    int64 *total = table_in<int64>(memory);                                                                            \
    auto h = start;                                                                                                    \
    extrema_##dim<L, T, how>(image, width, height, slices, segment, scaling{scale, offset, bias}, l, h, seams,         \
                             given_turns{{}, queue_in(memory), false}, bounds{voxels, safe});                          \
    finish;                                                                                                            \
    sum_up<int64>(memory, levels, chi, rows);                                                                          \
  }
#define ARRAY_COUNTED(name, dim, L, T, how) \
  ARRAY_OF(name, dim, L, T, how, 128, blocks_##dim, counters<T>(l, total, copies), total_up<T>(h, l))
#define ARRAY_PAIRS(T)                                                                                      \
  ARRAY_COUNTED(, 2d, pair, T, fours | bare) ARRAY_COUNTED(_unaligned, 2d, pair, T, singly | bare)          \
  ARRAY_COUNTED(, 3d, pair, T, fours | bare) ARRAY_COUNTED(_unaligned, 3d, pair, T, singly | bare)
#define ARRAY_SINGLES(T) ARRAY_COUNTED(_single, 2d, single, T, singly | bare) ARRAY_COUNTED(_single, 3d, single, T, singly | bare)
#define ARRAY_RANKED(name, dim, T, how) \
  ARRAY_OF(_ranked##name, dim, ranked, T, how, alone, 1, packed::start(total, levels, spare), packed::finish(h))
#define ARRAYS_RANKED(T)                                                                                    \
  ARRAY_RANKED(, 2d, T, fours | bare) ARRAY_RANKED(_unaligned, 2d, T, singly | bare)                        \
  ARRAY_RANKED(, 3d, T, fours | bare) ARRAY_RANKED(_unaligned, 3d, T, singly | bare)
#define ARRAY_SMALL(name, dim, view, T)                                                                     \
  ARRAY(_small##name, dim, T, launch_bounds(32 * small_warps, 1)) {                                         \
    __shared__ seam<pair> seams[small_warps];                                                               \
    ladder l{levels, least, affine, lo, inverse, lut, values};                                              \
    take_image(image, voxels, chi, rows, memory, levels);                                                   \
    extrema_small<view##_##dim<pair, T, fours | bare>, pair, T>(image, width, height, slices, segment,      \
        scaling{scale, offset, bias}, l, table_in<int>(memory), seams, bounds{voxels, safe});               \
    sum_up<int>(memory, levels, chi, rows);                                                                 \
  }
#define ARRAYS_SMALL(T)                                                                \
  ARRAY_SMALL(_narrow, 2d, narrow, T) ARRAY_SMALL(_narrow, 3d, narrow, T)              \
  ARRAY_SMALL(, 2d, wide, T) ARRAY_SMALL(, 3d, wide, T)
