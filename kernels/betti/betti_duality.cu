// Betti numbers of binary images (duality.h), and of parts of one (cut.h). Of a flat image, or one of two planes, tiles
// are flat, and nothing around it is enclosed.
#include "cut.h"

#define PACK(T, L)                                                                                                       \
  extern "C" __global__ void betti_pack_flat_##T(const T *image, int w, int h, int d, L limit, word *bits) {             \
    pack<1>(image, w, h, d, limit, bits);                                                                                \
  }                                                                                                                      \
  extern "C" __global__ void betti_pack_##T(const T *image, int w, int h, int d, L limit, word *bits) {                  \
    pack<5>(image, w, h, d, limit, bits);                                                                                \
  }
PACK(uint8, int)
PACK(int16, int)
PACK(uint16, int)
PACK(float32, float32)

#define KERNEL(name, what, deep, threads, at_once)                                                                       \
  extern "C" __global__ AT_ONCE(threads, at_once) void name(const word *bits, int w, int h, int d, unsigned *nodes, int64 *out) { \
    what(volume<deep>(bits, w, h, d), nodes, out);                                                                       \
  }
KERNEL(betti_foreground_flat, foreground_tile, 1, 256, 4)
KERNEL(betti_foreground, foreground_tile, 5, 256, 4)
KERNEL(betti_foreground_seams_flat, foreground_seams, 1, 128, 8)
KERNEL(betti_foreground_seams, foreground_seams, 5, 128, 8)
KERNEL(betti_background_seams, background_seams, 5, 128, 8)

extern "C" __global__ AT_ONCE(512, 3) void betti_background(const word *bits, int w, int h, int d, int ends, unsigned *nodes, int64 *out) {
  background_tile(volume<5>(bits, w, h, d), ends, nodes, out);
}

extern "C" __global__ void betti_cut_set_flat(const word *bits, int w, int h, int d, int ends, unsigned *nodes, unsigned *roots, int64 *out) {
  set_cut(volume<1>(bits, w, h, d), ends, nodes, roots, out);
}
extern "C" __global__ void betti_cut_set(const word *bits, int w, int h, int d, int ends, unsigned *nodes, unsigned *roots, int64 *out) {
  set_cut(volume<5>(bits, w, h, d), ends, nodes, roots, out);
}
extern "C" __global__ void betti_cut_rest(const word *bits, int w, int h, int d, int ends, unsigned *nodes, unsigned *roots) {
  rest_cut(volume<5>(bits, w, h, d), ends, nodes, roots);
}
extern "C" __global__ void betti_settle(const unsigned *nodes, unsigned *roots, int places) { settle(nodes, roots, places); }
