// The matched features of pairs of masks of 0 and others (matching.h). Each row of the grid handles
// one pair.
#include "matching.h"

extern "C" __global__ void betti_matching_pack(const uint8 *images, int w, int h, int d, word *bits, int64 *out) {
  pack_pair(images, masks(bits, nullptr, w, h, d, 0, 0), sums_of(out));
}

extern "C" __global__ void betti_matching_tiles(word *bits, int w, int h, int d, int corners, int deep, unsigned *parents) {
  join_tiles(masks(bits, parents, w, h, d, corners, deep));
}

extern "C" __global__ void betti_matching_link(word *bits, int w, int h, int d, int corners, int deep, unsigned *parents) {
  link_tiles(masks(bits, parents, w, h, d, corners, deep));
}

extern "C" __global__ void betti_matching_mark(word *bits, int w, int h, int d, int corners, int deep, unsigned *parents,
                                               int64 *out) {
  mark_roots(masks(bits, parents, w, h, d, corners, deep), sums_of(out));
}

// Adds the copies of the sums of each pair.
extern "C" __global__ void betti_matching_numbers(const int64 *all, int64 *numbers) {
  int what = thread_x();
  if (what >= sums) return;
  int64 sum = 0;
  for (int copy = 0; copy < copies; copy++) sum += all[((int64)block_y() * copies + copy) * sums + what];
  numbers[sums * (int64)block_y() + what] = sum;
}
