// for each pixel: w0·v + Σ wk·(v at −k + v at +k), along x and then along y
//
// A separable Gaussian, 13 pixels wide, of a 2D float32 image. Each product and sum is rounded
// separately, in the order of impls/smooth/gauss.go, so the result has the bits that a CPU
// computes. Rows are read through shared memory. Columns are in registers, with a strip of rows per
// thread.
#include "../rounded.h"

const int radius = 6;
const int tile = 256; // pixels of a row that a block smooths at a time
const int strip = 8;  // rows that a thread smooths at a time

struct weights { float32 w[radius + 1]; };

// The smoothed value of the pixel at v[0], whose neighbours are in v.
inlined float32 smoothed(const float32 *v, const weights &w) {
  float32 sum = times(w.w[0], v[0]);
#pragma unroll
  for (int k = 1; k <= radius; k++) sum = plus(sum, times(w.w[k], plus(v[-k], v[k])));
  return sum;
}

inlined int inside(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }

extern "C" __global__ void smooth_rows(const float32 *in, float32 *out, int width, int height, float32 w0, float32 w1,
                                       float32 w2, float32 w3, float32 w4, float32 w5, float32 w6) {
  __shared__ float32 row[tile + 2 * radius];
  weights w{{w0, w1, w2, w3, w4, w5, w6}};
  int across = (width + tile - 1) / tile;
  int64 tiles = (int64)across * height;
  for (int64 t = block_x(); t < tiles; t += blocks()) {
    int x0 = (int)(t % across) * tile;
    int64 line = t / across * width;
    __syncthreads(); // the previous row has been read
    for (int i = thread_x(); i < tile + 2 * radius; i += threads()) row[i] = in[line + inside(x0 + i - radius, width)];
    __syncthreads();
    for (int i = thread_x(); i < tile && x0 + i < width; i += threads()) out[line + x0 + i] = smoothed(row + radius + i, w);
  }
}

extern "C" __global__ void smooth_columns(const float32 *in, float32 *out, int width, int height, float32 top, float32 w0,
                                          float32 w1, float32 w2, float32 w3, float32 w4, float32 w5, float32 w6) {
  weights w{{w0, w1, w2, w3, w4, w5, w6}};
  int strips = (height + strip - 1) / strip;
  int64 columns = (int64)width * strips;
  for (int64 t = (int64)block_x() * threads() + thread_x(); t < columns; t += (int64)blocks() * threads()) {
    int x = (int)(t % width), y0 = (int)(t / width) * strip;
    float32 v[strip + 2 * radius];
#pragma unroll
    for (int i = 0; i < strip + 2 * radius; i++) v[i] = in[(int64)inside(y0 + i - radius, height) * width + x];
#pragma unroll
    for (int i = 0; i < strip; i++) {
      if (y0 + i >= height) break;
      float32 sum = smoothed(v + radius + i, w);
      out[(int64)(y0 + i) * width + x] = sum < top ? sum : top;
    }
  }
}
