// Betti numbers of binary images (duality.h), and of the parts of a divided image (cut.h). Flat
// kernels are for 2D images and images of two planes: their tiles are flat, and they have no
// cavities. Each row of the grid handles one question (asked.h), with its own bits and nodes.
#include "cut.h"

template <int deep> inlined word *bits_of(word *bits, int w, int h, int d) {
  volume<deep> v(bits, w, h, d);
  return bits + (int64)block_y() * v.tx * v.ty * v.tz * 1024;
}

#define PACK(name, deep, T, L)                                                                                         \
  extern "C" __global__ void name(const T *images, int64 from, int64 count, int w, int h, int d, const L *limits,      \
                                  unsigned levels, int above, unsigned first, word *bits) {                            \
    pack<deep>(asked<T, L>(images, from, count, (int64)w * h * d, limits, levels, above, first), w, h, d,              \
               bits_of<deep>(bits, w, h, d));                                                                          \
  }
#define PACKS(T, L) PACK(betti_pack_flat_##T, 1, T, L) PACK(betti_pack_##T, 5, T, L)
PACKS(uint8, int)
PACKS(int16, int)
PACKS(uint16, int)
PACKS(float32, float32)

#define KERNEL(name, what, deep, threads, at_once)                                                                     \
  extern "C" __global__ AT_ONCE(threads, at_once) void name(word *bits, int w, int h, int d, unsigned *nodes,          \
                                                                     int64 apart, int64 *out) {                        \
    what(volume<deep>(bits_of<deep>(bits, w, h, d), w, h, d), nodes + block_y() * apart, sums_of(out));                \
  }
KERNEL(betti_foreground_flat, foreground_tile, 1, 256, 4)
KERNEL(betti_foreground, foreground_tile, 5, 256, 4)
KERNEL(betti_foreground_seams_flat, foreground_seams, 1, 128, 8)
KERNEL(betti_foreground_seams, foreground_seams, 5, 128, 8)
KERNEL(betti_background_seams, background_seams, 5, 128, 8)

extern "C" __global__ AT_ONCE(512, 3) void betti_background(word *bits, int w, int h, int d, int ends, unsigned *nodes,
                                                                  int64 apart, int64 *out) {
  background_tile(volume<5>(bits_of<5>(bits, w, h, d), w, h, d), ends, nodes + block_y() * apart, sums_of(out));
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

// Computes the Betti numbers of each question from the copies of its sums, with one warp.
extern "C" __global__ void betti_numbers(int64 *all, int64 *numbers) {
  int lane = thread_x();
  int64 sum[sums];
  UNROLL for (int i = 0; i < sums; i++) {
    sum[i] = sums_of(all)[lane * sums + i];
    for (int k = 16; k; k >>= 1) {
      unsigned low = from_lane((unsigned)sum[i], lane ^ k), high = from_lane((unsigned)(sum[i] >> 32), lane ^ k);
      sum[i] += (int64)((unsigned long long)high << 32 | low);
    }
  }
  if (lane) return;
  numbers += 3 * (int64)block_y();
  numbers[0] = sum[components], numbers[2] = sum[cavities];
  numbers[1] = sum[components] + sum[cavities] - sum[characteristic];
}
