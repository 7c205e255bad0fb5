// The kernels before and between the passes over the voxels of a soft curve (softecc.h).
#include "parameters.h"
#include "softecc.h"

// The curve by places, and the table of its gradient, in one launch: they are independent, and each
// alone leaves most of the device idle.
extern "C" __global__ void softecc_curve_and_table(const double *at, const int64 *counts, int n, double lambda,
                                                   const double *tau, const double *g, int thresholds, double *out, float32 *slopes) {
  sums b{at, counts, n, lambda};
  if (block_x() < thresholds) curve_of(b, tau, g, out);
  else table_of(b, tau, g, thresholds, block_x() - thresholds, blocks() - thresholds, slopes);
}

// The least value over a block, in all its threads.
inlined double least_of_block(double v, double *shared) {
  UNROLL for (int far = 16; far > 0; far >>= 1) v = __builtin_fmin(v, from_lane_by(v, (thread_x() & 31) ^ far));
  __syncthreads(); // the previous value has been read
  if (!(thread_x() & 31)) shared[thread_x() >> 5] = v;
  __syncthreads();
  for (int k = 0; k < threads() >> 5; k++) v = __builtin_fmin(v, shared[k]);
  return v;
}

// Computes bins (at most `most`) that cover the range of the thresholds, and the thresholds'
// positions. There is no answer if 1/λ is less than 11 bins. The tilt α⟨u, p⟩ is rounded in the
// order given in doc/proofs/softecc.md; u is v normalised, and the last axis of v is x. For the
// vertex construction everything is negated, by turn = −1.
extern "C" __global__ void softecc_lay(const void *tau, const void *lambda, const void *alpha, const void *v, int doubles, int thresholds,
                                       int most, double turn, int axes, int w, int h, int d, laid *over, float32 *along, float32 *of_row) {
  __shared__ double shared[32];
  const double infinity = __builtin_huge_val(), steep = number(lambda, 0, doubles & double_lambda);
  double least = infinity, greatest = infinity; // greatest is negated
  bool good = steep > 0 && finite(steep);
  // The same in all threads.
  NOT_UNROLLED for (int j = 0; j < thresholds; j++) good &= finite(number(tau, j, doubles & double_tau));
  NOT_UNROLLED for (int j = thread_x(); j < thresholds; j += threads()) {
    const double t = turn * number(tau, j, doubles & double_tau);
    least = __builtin_fmin(least, t), greatest = __builtin_fmin(greatest, -t);
  }
  least = least_of_block(least, shared), greatest = -least_of_block(greatest, shared);
  double rise[3] = {0, 0, 0}; // along x, y and z
  if (of_row) {
    double length = 0;
    NOT_UNROLLED for (int i = 0; i < axes; i++) length += number(v, i, doubles & double_direction) * number(v, i, doubles & double_direction);
    length = __builtin_sqrt(length);
    NOT_UNROLLED for (int i = 0; i < axes; i++) {
      rise[axes - 1 - i] = turn * number(alpha, 0, doubles & double_alpha) * (number(v, i, doubles & double_direction) / length);
      good &= finite(rise[axes - 1 - i]);
    }
  }
  // If all sigmoids overlap, their sum may be much smaller than its terms, so bins are finer.
  const double far = near_reach / steep, range = greatest - least + 2 * far, wide = range * steep * 16 + 4;
  const double many = wide < 16 * 90 && most > 4096 ? 4096 : wide;
  const int n = many < most ? (int)many : most;
  const float32 width = (float32)(range / (n - 3));
  const double middle = (least + greatest) / 2, zero = __builtin_fabs(middle) > 1.5 * range ? (double)(float32)middle : 0;
  const double lowest = __builtin_floor((least - far - zero) / width);
  good &= steep * width <= 1. / 11 && width > 1e-37f && finite(lowest);
  if (!block_x()) {
    threshold *at = (threshold *)(over + 1);
    if (!thread_x()) *over = laid{zero, width, steep, good ? lowest : 0, good ? (double)n : 0};
    NOT_UNROLLED for (int j = thread_x(); j < thresholds; j += threads()) {
      const double t = turn * number(tau, j, doubles & double_tau) - zero - lowest * width;
      const int near = good ? (int)(t / width + 0.5) : 0;
      at[j] = threshold{near, (float32)((t - (double)near * width) * steep)};
    }
  }
  if (!of_row) return;
  const int all = blocks() * threads(), first = block_x() * threads() + thread_x();
  NOT_UNROLLED for (int x = first; x < w; x += all) along[x] = (float32)(rise[0] * (x - (w - 1) / 2.));
  NOT_UNROLLED for (int row = first; row < h * d; row += all) {
    const int z = row / h, y = row - z * h;
    const double by_y = rise[1] * (y - (h - 1) / 2.), by_z = rise[2] * (z - (d - 1) / 2.);
    of_row[row] = (float32)(by_y + by_z);
  }
}

// χ = start + sign·χ', summed over the parts of an image's blocks; and, if requested, its
// derivatives by the threshold, followed by those by λ. One warp handles a threshold of an image.
extern "C" __global__ void softecc_sum(const double *partial, int parts, int thresholds, int total, float32 start, float32 sign, float32 turn,
                                       float32 *chi, double *derivatives) {
  const int each = derivatives ? 3 : 1, lane = thread_x() & 31, item = block_x() * (threads() >> 5) + (thread_x() >> 5);
  if (item >= total) return;
  const int image = item / thresholds, j = item - image * thresholds;
  double sum[3] = {0, 0, 0};
  for (int p = lane; p < parts; p += 32) {
    const double *from = partial + (((int64)image * parts + p) * thresholds + j) * each;
    for (int k = 0; k < each; k++) sum[k] += from[k];
  }
  UNROLL for (int k = 0; k < 3; k++) sum[k] = sum_of_warp(sum[k]);
  if (lane) return;
  chi[item] = (float32)(start + sign * sum[0]);
  if (derivatives) derivatives[item] = turn * sum[1], derivatives[(int64)total + item] = sign * sum[2];
}
