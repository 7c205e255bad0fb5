// Betti curves of images (curves.h). Keys have one byte for up to 256 levels, else two. Images are
// contiguous. Each row of the grid handles one image, with its own lists.
#include "curves.h"

#define KEYS(T, K)                                                                                                     \
  extern "C" __global__ void betti_keys_##T##_##K(const T *image, int64 n, const float32 *values, int levels,          \
                                                   int descend, K *keys) {                                             \
    find_keys(image, n, values, levels, descend, keys);                                                                \
  }
#define ALL_KEYS(T) KEYS(T, uint8) KEYS(T, uint16)
ALL_KEYS(uint8)
ALL_KEYS(int16)
ALL_KEYS(uint16)
ALL_KEYS(float32)

#ifdef ON_HOST
#define AT_ONCE(threads, blocks)
#else // limits the registers, so that a multiprocessor can hold that many blocks
#define AT_ONCE(threads, blocks) __attribute__((launch_bounds(threads, blocks)))
#endif

// The image of a block, and its parts of the buffers that all images share.
template <class K> struct own : rows<K> {
  int64 i, words;
  member own(const K *keys, int w, int h, int d)
      : rows<K>(keys + (int64)block_y() * w * h * d, w, h, d), i(block_y()), words(rows<K>::stride()) {}
  template <class W> member W *before(W *p) const { return p + i * middle * words; }
  template <class W> member W *numbers(W *p) const { return p + i * 12 * words; }
  template <class W> member W *lists(W *p) const { return p + i * 4 * words; }
  member edge *edges(edge *p) const { return p + i * (1 + most_minima * words); }
  member unsigned *known(unsigned *p) const { return p + i * (words + 2); }
  member int64 *counts(int64 *p, int levels) const { return p + i * ::lists * (levels + 1); }
};

// Kernels for images that can be hollow, and for others (flat), where every voxel is on a side.
#define BOTH(K, kind, hollow)                                                                                          \
  extern "C" __global__ AT_ONCE(128, 6) void betti_scan##kind##_##K(                                                   \
      const K *keys, int w, int h, int d, const unsigned *before, unsigned *numbers, unsigned *words, edge *edges,     \
      unsigned *known, int levels, int64 *out) {                                                                       \
    own<K> r(keys, w, h, d);                                                                                           \
    scan<hollow>((rows<K>)r, r.before(before), r.numbers(numbers), r.lists(words), r.edges(edges), r.known(known),     \
                 levels, r.counts(out, levels));                                                                       \
  }                                                                                                                    \
  JOINS(K, kind, false, hollow)

#define JOINS(K, kind, around, hollow)                                                                                 \
  extern "C" __global__ AT_ONCE(128, 8) void betti_join##kind##_##K(                                                   \
      const K *keys, int w, int h, int d, const unsigned *numbers, const unsigned *words, edge *edges, unsigned *known, \
      int levels, int64 *out) {                                                                                        \
    own<K> r(keys, w, h, d);                                                                                           \
    join<around, hollow>((rows<K>)r, r.numbers(numbers), r.lists(words), r.edges(edges), r.known(known), levels,       \
                         r.counts(out, levels));                                                                       \
  }                                                                                                                    \
  extern "C" __global__ void betti_deaths##kind##_##K(const K *keys, int w, int h, int d, const unsigned *words,       \
                                                      edge *edges, unsigned *known, int levels, int64 *out) {          \
    own<K> r(keys, w, h, d);                                                                                           \
    deaths<around, hollow>((rows<K>)r, r.lists(words), r.edges(edges), r.known(known), levels, r.counts(out, levels)); \
  }

#define KERNELS(K)                                                                                                     \
  extern "C" __global__ void betti_compare_##K(const K *keys, int w, int h, int d, unsigned *before) {                 \
    own<K> r(keys, w, h, d);                                                                                           \
    compare((rows<K>)r, r.before(before));                                                                             \
  }                                                                                                                    \
  BOTH(K, , true)                                                                                                      \
  BOTH(K, _flat, false)                                                                                                \
  JOINS(K, _around, true, true)
KERNELS(uint8)
KERNELS(uint16)

// Betti numbers at the first levels, with one block per image: sums of the changes up to each
// level.
extern "C" __global__ void betti_curve_numbers(const int64 *changes, int levels, int rows, int64 *numbers) {
  const int most = 256;
  static __shared__ int64 sums[lists][most];
  changes += (int64)block_y() * lists * (levels + 1), numbers += (int64)block_y() * 3 * rows;
  int thread = thread_x(), share = (rows + most - 1) / most;
  int from = share * thread, to = from + share < rows ? from + share : rows;
  UNROLL for (int i = 0; i < lists; i++) {
    int64 sum = 0;
    for (int k = from; k < to; k++) sum += changes[(int64)i * (levels + 1) + k];
    sums[i][thread] = sum;
  }
  __syncthreads();
  int64 at[lists] = {};
  for (int j = 0; j < thread; j++)
    UNROLL for (int i = 0; i < lists; i++) at[i] += sums[i][j];
  for (int k = from; k < to; k++) {
    UNROLL for (int i = 0; i < lists; i++) at[i] += changes[(int64)i * (levels + 1) + k];
    // of_around increases where a component of the background ends.
    int64 b0 = at[of_set], b2 = -at[of_around];
    numbers[3 * k] = b0, numbers[3 * k + 1] = b0 + b2 - at[of_chi], numbers[3 * k + 2] = b2;
  }
}
