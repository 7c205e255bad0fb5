// for each component and tile of 64 × 64 pixels, one block: for each eight steps:
//   take them in registers; write the pixels at the tile's edges, read those of the neighbours
//
// The gradient vector flow of a 2D image that fits in the device's registers, with all steps in one
// launch. A thread has 5 × 5 of the 80 × 80 pixels of a tile with its margin. The margin becomes
// invalid, by one pixel per step. All blocks run at the same time. They exchange pixels through
// global memory. Each pixel is written together with the number of the exchange as one word, so a
// reader sees whether it has arrived: no fences and no barrier of all blocks are needed. Each pixel
// has two words, which alternate. When a block writes exchange n + 2, it has read its neighbours'
// words of n + 1, which they wrote after they had read those of n.
#include "blocked.h"

typedef unsigned long long word; // a pixel, and the number of its exchange in the upper half

#ifdef ON_HOST
#define BLOCKS_TOGETHER
inlined void give(word *to, word v) { __atomic_store_n(to, v, __ATOMIC_RELEASE); }
inlined word take(const word *from) { return onhost::yield(), __atomic_load_n(from, __ATOMIC_ACQUIRE); }
#else
inlined void give(word *to, word v) { asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(to), "l"(v) : "memory"); }
inlined word take(const word *from) {
  word v;
  asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(v) : "l"(from) : "memory");
  return v;
}
#endif

enum {
  margin = 8, tile = 64, side = tile + 2 * margin, patch = 5, // pixels of a tile's side, and of a thread's side
  across = side / patch, warps = across * across / 32, block = 32 * warps,
  given = margin + 1, // at the edges of a tile; one more than the margin, because a mirrored reader may need it
  kept_inside = tile - 2 * given, gives = tile * tile - kept_inside * kept_inside, takes = side * side - tile * tile,
  edges = side * across, // pixels of the upper rows of all patches
};

// The coordinates of place i in the frame of a square of n pixels. The frame is `wide` pixels wide.
inlined void in_frame(int i, int n, int wide, int &x, int &y) {
  int rows = 2 * wide * n;
  if (i < rows) {
    y = i / n, x = i % n;
    if (y >= wide) y += n - 2 * wide;
  } else {
    i -= rows;
    y = wide + i / (2 * wide), x = i % (2 * wide);
    if (x >= wide) x += n - 2 * wide;
  }
}

extern "C" __global__ __attribute__((launch_bounds(block, 1))) void gvf_resident(
  const float32 *v, const float32 *v0, const float32 *b, float32 *to, word *exchange, int w, int h, int third, float32 mu, int steps, int number) {
  __shared__ float32 whole[side * side], upper[2][edges], lower[2][edges];
  shape s{w, h, 1, third};
  int c = block_x() % 2, x0 = block_x() / 2 % (w / tile) * tile - margin, y0 = block_x() / 2 / (w / tile) * tile - margin;
  v += c * s.voxels(), v0 += c * s.voxels(), to += c * s.voxels();
  int lane = thread_x() & 31, line = 2 * (thread_x() >> 5) + (lane >> 4), px = patch * (lane & 15), py = patch * line;
  float32 now[patch][patch], start[patch][patch], weight[patch][patch];
  UNROLL for (int r = 0; r < patch; r++) UNROLL for (int i = 0; i < patch; i++) {
    int64 at = (int64)s.mirrored(y0 + py + r, h) * w + s.mirrored(x0 + px + i, w);
    now[r][i] = v[at], start[r][i] = v0[at], weight[r][i] = b[at];
  }
  bool outside = px < margin || py < margin || px + patch > side - margin || py + patch > side - margin;
  int odd = 0;
  while (steps > 0) {
    for (int step = shape::least(steps, margin); step > 0; step--, odd = !odd) {
      UNROLL for (int i = 0; i < patch; i++) upper[odd][line * side + px + i] = now[0][i], lower[odd][line * side + px + i] = now[patch - 1][i];
      __syncthreads();
      float32 before[patch];
      int north = shape::greatest(line - 1, 0) * side + px, south = shape::least(line + 1, across - 1) * side + px;
      UNROLL for (int i = 0; i < patch; i++) before[i] = lower[odd][north + i];
      UNROLL for (int r = 0; r < patch; r++) {
        float32 left = from_lane_before(now[r][patch - 1]), right = from_lane_after(now[r][0]), made[patch];
        UNROLL for (int i = 0; i < patch; i++) {
          float32 next = r < patch - 1 ? now[r + 1][i] : upper[odd][south + i];
          float32 sides = plus(i ? now[r][i - 1] : left, i < patch - 1 ? now[r][i + 1] : right);
          made[i] = stepped<4>(now[r][i], plus(sides, plus(before[i], next)), start[r][i], weight[r][i], mu);
        }
        UNROLL for (int i = 0; i < patch; i++) before[i] = now[r][i], now[r][i] = made[i];
      }
    }
    steps -= margin;
    if (steps <= 0) break;
    UNROLL for (int r = 0; r < patch; r++) UNROLL for (int i = 0; i < patch; i++) whole[(py + r) * side + px + i] = now[r][i];
    __syncthreads();
    word *turn = exchange + (int64)(2 * c + (number & 1)) * s.voxels();
    for (int i = thread_x(); i < gives; i += block) {
      int x, y;
      in_frame(i, tile, given, x, y);
      float32 mine = planted(fault::edge) && x == tile - 1 ? 0 : whole[(margin + y) * side + margin + x];
      give(turn + (int64)(y0 + margin + y) * w + x0 + margin + x, (word)(unsigned)number << 32 | as<unsigned>(mine));
    }
    const int each = takes / block;
    static_assert(takes % block == 0, "some pixels are not taken");
    const word *from[each];
    word come[each];
    UNROLL for (int i = 0; i < each; i++) {
      int x, y;
      in_frame(thread_x() + i * block, side, margin, x, y);
      from[i] = turn + (int64)s.mirrored(y0 + y, h) * w + s.mirrored(x0 + x, w);
    }
    // All pixels are requested together; waiting for one after the other would take several times
    // as long.
    for (bool missing = true; missing;) {
      missing = false;
      UNROLL for (int i = 0; i < each; i++) come[i] = take(from[i]);
      UNROLL for (int i = 0; i < each; i++) missing |= (int)(come[i] >> 32) != number;
    }
    UNROLL for (int i = 0; i < each; i++) {
      int x, y;
      in_frame(thread_x() + i * block, side, margin, x, y);
      whole[y * side + x] = as<float32>((unsigned)come[i]);
    }
    __syncthreads();
    if (outside) UNROLL for (int r = 0; r < patch; r++) UNROLL for (int i = 0; i < patch; i++) now[r][i] = whole[(py + r) * side + px + i];
    number++;
  }
  UNROLL for (int r = 0; r < patch; r++) UNROLL for (int i = 0; i < patch; i++) {
    int x = px + i - margin, y = py + r - margin;
    if (x >= 0 && x < tile && y >= 0 && y < tile) to[(int64)(y0 + py + r) * w + x0 + px + i] = now[r][i];
  }
}
