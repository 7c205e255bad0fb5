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

#define KERNELS(K)                                                                                                          \
  extern "C" __global__ void betti_compare_##K(const K *keys, int w, int h, int d, unsigned *before) {                     \
    compare(rows<K>(keys, w, h, d), before);                                                                                \
  }                                                                                                                         \
  extern "C" __global__ __attribute__((launch_bounds(128, 5))) void betti_scan_##K(const K *keys, int w, int h, int d, const unsigned *before, unsigned *numbers, \
                                            unsigned *words, edge *edges, unsigned *known, int levels, int64 *out) {       \
    scan(rows<K>(keys, w, h, d), before, numbers, words, edges, known, levels, out);                                        \
  }                                                                                                                         \
  extern "C" __global__ __attribute__((launch_bounds(128, 16))) void betti_join_##K(const K *keys, int w, int h, int d, const unsigned *numbers,                   \
                                            const unsigned *words, edge *edges, unsigned *known) {                         \
    join<false>(rows<K>(keys, w, h, d), numbers, words, edges, known);                                                      \
  }                                                                                                                         \
  extern "C" __global__ __attribute__((launch_bounds(128, 16))) void betti_join_around_##K(const K *keys, int w, int h, int d, const unsigned *numbers,            \
                                                   const unsigned *words, edge *edges, unsigned *known) {                  \
    join<true>(rows<K>(keys, w, h, d), numbers, words, edges, known);                                                       \
  }                                                                                                                         \
  extern "C" __global__ void betti_deaths_##K(const K *keys, int w, int h, int d, const unsigned *words, int around,       \
                                              edge *edges, unsigned *known, int levels, int64 *out) {                      \
    deaths(rows<K>(keys, w, h, d), words, around, edges, known, levels, out);                                             \
  }
KERNELS(uint8)
KERNELS(uint16)
