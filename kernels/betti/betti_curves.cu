// Betti curves of images (curves.h). Keys of a byte are levels of as many, others of two.
#include "curves.h"

#define KEYS(T, K)                                                                                                        \
  extern "C" __global__ void betti_keys_##T##_##K(const T *image, int64 n, const float32 *values, int levels, K *keys) { \
    find_keys(image, n, values, levels, keys);                                                                            \
  }
#define ALL_KEYS(T) KEYS(T, uint8) KEYS(T, uint16)
ALL_KEYS(uint8)
ALL_KEYS(int16)
ALL_KEYS(uint16)
ALL_KEYS(float32)

#ifdef ON_HOST
#define AT_ONCE(threads, blocks)
#else // so few registers that a multiprocessor has room for them
#define AT_ONCE(threads, blocks) __attribute__((launch_bounds(threads, blocks)))
#endif

// Of images that can be hollow, and of others, in which every voxel is at a side.
#define BOTH(K, kind, hollow)                                                                                              \
  extern "C" __global__ AT_ONCE(128, 6) void betti_scan##kind##_##K(                                                       \
      const K *keys, int w, int h, int d, const unsigned *before, unsigned *numbers, unsigned *words, edge *edges,         \
      unsigned *known, int levels, int64 *out) {                                                                           \
    scan<hollow>(rows<K>(keys, w, h, d), before, numbers, words, edges, known, levels, out);                               \
  }                                                                                                                        \
  extern "C" __global__ AT_ONCE(128, 8) void betti_join##kind##_##K(                                                      \
      const K *keys, int w, int h, int d, const unsigned *numbers, const unsigned *words, edge *edges, unsigned *known,    \
      int levels, int64 *out) {                                                                                            \
    join<false, hollow>(rows<K>(keys, w, h, d), numbers, words, edges, known, levels, out);                                \
  }                                                                                                                        \
  extern "C" __global__ void betti_deaths##kind##_##K(const K *keys, int w, int h, int d, const unsigned *words,           \
                                                      edge *edges, unsigned *known, int levels, int64 *out) {              \
    deaths<false, hollow>(rows<K>(keys, w, h, d), words, edges, known, levels, out);                                       \
  }

#define KERNELS(K)                                                                                                         \
  extern "C" __global__ void betti_compare_##K(const K *keys, int w, int h, int d, unsigned *before) {                     \
    compare(rows<K>(keys, w, h, d), before);                                                                               \
  }                                                                                                                        \
  BOTH(K, , true)                                                                                                          \
  BOTH(K, _flat, false)                                                                                                    \
  extern "C" __global__ AT_ONCE(128, 8) void betti_join_around_##K(                                                       \
      const K *keys, int w, int h, int d, const unsigned *numbers, const unsigned *words, edge *edges, unsigned *known,    \
      int levels, int64 *out) {                                                                                            \
    join<true, true>(rows<K>(keys, w, h, d), numbers, words, edges, known, levels, out);                                   \
  }                                                                                                                        \
  extern "C" __global__ void betti_deaths_around_##K(const K *keys, int w, int h, int d, const unsigned *words,            \
                                                     edge *edges, unsigned *known, int levels, int64 *out) {               \
    deaths<true, true>(rows<K>(keys, w, h, d), words, edges, known, levels, out);                                          \
  }
KERNELS(uint8)
KERNELS(uint16)
