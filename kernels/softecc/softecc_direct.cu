// forward:  changes[p] = c(p), and χ(τ) = Σ over voxels with a change of c(p) σ(τ − Y(p))
// backward: dx[p] = −c(p) Σ g σ'(τ − Y(p))
//
// The soft curves of small float32 images, by one sigmoid per change and threshold. `parts` blocks
// share an image. Most voxels have no change, so each warp collects the others in a queue.
// Forward, each lane evaluates one threshold for the voxels of the queue; backward, each lane
// evaluates one voxel at all thresholds. The kernels before and after the forward pass over voxels,
// softecc_lay and softecc_sum, also serve batches in bins: wheels have machine code of this module.
#include "order.h"
#include "parameters.h"
#include "softecc.h"

const int direct_warps = 8;  // of a block
// Limits the registers so that a multiprocessor runs this number of blocks at once.
#define TOGETHER(blocks) __attribute__((launch_bounds(32 * direct_warps, blocks)))
const int direct_groups = 2; // of 32 thresholds
const float32 log2e = 1.442695041f;

// A voxel with a change.
struct alignas(16) changed {
  float32 y, change;
  int at, spare;
};

// Calls evaluate(queue, count) in each warp with the changes of a block's part, count ≤ 32 at a
// time. The rest of 32 has the change 0. of(i, x, row) returns the change of voxel i, or for
// i = −1 the change 0.
template <class F, class G> inlined void each_change(int w, int rows, int part, int parts, F of, G evaluate) {
  __shared__ changed queues[direct_warps * 64];
  changed *queue = queues + 64 * (thread_x() >> 5);
  const int n = w * rows, high = (n + parts - 1) / parts, lane = thread_x() & 31;
  const int end = (part + 1) * high < n ? (part + 1) * high : n;
  int waiting = 0;
  NOT_UNROLLED for (int first = part * high; first < end + threads(); first += threads()) { // once more for the rest
    const int i = first + thread_x(), row = i / w;
    const changed v = of(i < end ? i : -1, i - row * w, row);
    const unsigned lanes = vote(v.change != 0);
    if (v.change != 0) queue[waiting + __builtin_popcount(lanes & ((1u << lane) - 1))] = v;
    waiting += __builtin_popcount(lanes);
    if (waiting < 32 && (first < end || !waiting)) continue;
    const int count = waiting < 32 ? waiting : 32;
    if (lane >= count) queue[lane] = changed{0, 0, 0, 0};
    waiting -= count;
    sync_warp();
    evaluate(queue + waiting, count);
    sync_warp();
  }
}

// Returns σ'(b·ln 2), which does not cancel for large |b|. s receives σ(b·ln 2).
inlined float32 slope_of(float32 b, float32 *s) {
  const float32 e = power_of_two(-__builtin_fabsf(b)), r = reciprocal(1 + e);
  *s = b < 0 ? e * r : r;
  return e * r * r;
}

template <bool solid>
inlined void direct_forward(const tilted<float32> &y, signed char *changes, int part, int parts, const void *tau,
                            const void *lambda, int doubles, int thresholds, float32 turn, laid *over, float32 start,
                            float32 sign, double *partial, int total, float32 *chi, double *derivatives) {
  __shared__ double sums[direct_warps * direct_groups * 32];
  __shared__ int strays;
  const int lane = thread_x() & 31, warp = thread_x() >> 5, rows = y.h * y.d, width = (y.w + 3) / 4 * 4;
  int each = 32; // lanes per voxel
  while (each > 4 && each >= 2 * thresholds) each >>= 1;
  const double steep = number(lambda, 0, doubles & double_lambda);
  const float32 scale = (float32)steep * log2e;
  bool good = steep > 0 && finite(scale);
  float32 at[direct_groups], rest[direct_groups];
  UNROLL for (int k = 0; k < direct_groups; k++) {
    const int j = 32 * k + (lane & (each - 1));
    at[k] = rest[k] = 0;
    if (j >= thresholds) continue;
    const double t = turn * number(tau, j, doubles & double_tau);
    at[k] = (float32)t;
    good &= finite(at[k]);
    rest[k] = (float32)((t - at[k]) * steep) * log2e;
    if (!block_x() && warp == 0 && lane < each) ((threshold *)(over + 1))[j] = threshold{as<int>(at[k]), rest[k]};
  }
  good = !any(!good);
  if (!block_x() && !thread_x()) *over = laid{0, 0, steep, 0, good ? 1. : 0};
  if (!thread_x()) strays = 0;
  __syncthreads();
  double of_chi[direct_groups] = {}, of_tau[direct_groups] = {}, of_lambda[direct_groups] = {};
  auto evaluate = [&](const changed *of, int count) ALWAYS_INLINED {
    const int step = 32 / each; // voxels at once, in each of four turns without a branch
    UNROLL for (int k = 0; k < direct_groups; k++) {
      if (32 * k >= thresholds) break;
      float32 a = 0, b = 0, c = 0;
      const changed *own = of + lane / each;
      if (derivatives) {
        for (int r = 0; r < count; r += 4 * step) UNROLL for (int i = 0; i < 4; i++, own += step) {
          const float32 far = __builtin_fmaf(at[k] - own->y, scale, rest[k]);
          float32 s, d = own->change * slope_of(far, &s);
          a += own->change * s, b += d, c += d * __builtin_copysignf(__builtin_fminf(__builtin_fabsf(far), 256), far);
        }
        of_tau[k] += b, of_lambda[k] += c;
      } else {
        for (int r = 0; r < count; r += 4 * step) UNROLL for (int i = 0; i < 4; i++, own += step)
          a += own->change * reciprocal(1 + power_of_two(__builtin_fmaf(own->y - at[k], scale, -rest[k])));
      }
      of_chi[k] += a;
    }
  };
  each_change(y.w, rows, part, parts, [&](int i, int x, int row) ALWAYS_INLINED {
    changed own{0, 0, i, 0};
    if (i >= 0) {
      const int z0 = row / y.h, y0 = row - z0 * y.h;
      auto of_row = [&](float32 (&v)[3], int dy, int dz) ALWAYS_INLINED {
        // Where there is no voxel, the nearest one is read.
        const bool in_y = (unsigned)(y0 + dy) < (unsigned)y.h, in_z = (unsigned)(z0 + dz) < (unsigned)y.d;
        const int other = row + (in_z ? dz * y.h : 0) + (in_y ? dy : 0);
        const float32 term = y.term_of(other);
        UNROLL for (int dx = -1; dx <= 1; dx++) {
          const bool in_x = (unsigned)(x + dx) < (unsigned)y.w;
          const int column = in_x ? x + dx : x;
          const float32 value = y.image[other * y.w + column] + (term + y.term_along(column));
          v[dx + 1] = in_x && in_y && in_z ? value : __builtin_huge_valf();
        }
      };
      float32 middle[3];
      of_row(middle, 0, 0);
      own.y = middle[1];
      const int c = (solid ? -1 : 1) * cells_of<solid>(own.y, of_row);
      changes[(int64)row * width + x] = (signed char)c;
      if (x == y.w - 1) for (int k = y.w; k < width; k++) changes[(int64)row * width + k] = 0;
      own.change = (float32)c;
      const float32 term = y.term_of(row) + y.term_along(x);
      if (own.y != own.y || term - term != 0) strays = 1;
    }
    return own;
  }, evaluate);
  const int image = block_x() / parts, kinds = derivatives ? 3 : 1;
  for (int kind = 0; kind < kinds; kind++) {
    __syncthreads();
    UNROLL for (int k = 0; k < direct_groups; k++) {
      double v = kind == 0 ? of_chi[k] : kind == 1 ? of_tau[k] : of_lambda[k];
      for (int far = each; far < 32; far <<= 1) v += from_lane_by(v, lane ^ far);
      if (lane < each) sums[(warp * direct_groups + k) * 32 + lane] = v;
    }
    __syncthreads();
    for (int j = thread_x(); j < thresholds; j += threads()) {
      double v = 0;
      for (int k = 0; k < threads() >> 5; k++) v += sums[k * direct_groups * 32 + j];
      if (!good || strays) v = __builtin_nan("");
      if (kind == 1) v *= steep;
      if (kind == 2) v /= steep * (double)log2e;
      const int64 to = (int64)image * thresholds + j;
      if (parts > 1) partial[((int64)block_x() * thresholds + j) * kinds + kind] = v;
      else if (kind == 0) chi[to] = (float32)(start + sign * v);
      else derivatives[(kind - 1) * (int64)total + to] = (kind == 1 ? turn * sign : sign) * v;
    }
  }
}

// Computes ∂X, and if moments is not null each block's sums of c·G' and of c·G' times x, y and z.
extern "C" __global__ TOGETHER(4) void softecc_direct_backward(
    const float32 *image, const float32 *along, const float32 *of_row, int w, int h, int d, const signed char *changes,
    float32 *dx, double *moments, int parts, const laid *over, int thresholds, const float32 *g, float32 turn) {
  struct alignas(16) weighted { float32 at, rest, weight, spare; };
  __shared__ weighted list[32 * direct_groups];
  __shared__ double shared[32];
  const int which = block_x() / parts, part = block_x() - which * parts, rows = h * d, width = (w + 3) / 4 * 4;
  const int64 first = (int64)which * rows * w;
  const tilted<float32> y{image + first, along, of_row, w, h, d};
  dx += first, changes += (int64)which * rows * width;
  const float32 scale = (float32)over->lambda * log2e, lambda = turn * (float32)over->lambda;
  for (int j = thread_x(); j < 32 * direct_groups; j += threads()) {
    list[j] = weighted{0, 0, 0, 0};
    if (j >= thresholds) continue;
    const threshold t = ((const threshold *)(over + 1))[j];
    const float32 weight = g[(int64)which * thresholds + j] * lambda;
    list[j] = weighted{as<float32>(t.near), t.rest, over->bins > 0 && finite(weight) ? weight : __builtin_nanf(""), 0};
  }
  __syncthreads();
  double sum = 0, by_x = 0, by_y = 0, by_z = 0;
  auto evaluate = [&](const changed *of, int) ALWAYS_INLINED {
    const changed own = of[thread_x() & 31];
    if (own.change == 0) return;
    float32 slope = 0, s;
    for (int j = 0; j < thresholds; j += 4) UNROLL for (int i = 0; i < 4; i++) {
      const weighted t = list[j + i];
      slope = __builtin_fmaf(t.weight, slope_of(__builtin_fmaf(t.at - own.y, scale, t.rest), &s), slope);
    }
    const float32 p = own.change * slope;
    dx[own.at] = -p;
    if (!moments) return;
    const int row = own.at / w, z = row / h;
    sum += p, by_x += (double)p * (own.at - row * w), by_y += (double)p * (row - z * h), by_z += (double)p * z;
  };
  each_change(w, rows, part, parts, [&](int i, int x, int row) ALWAYS_INLINED {
    changed own{0, 0, i, 0};
    if (i >= 0) {
      own.change = changes[(int64)row * width + x];
      own.y = y.image[i] + (y.term_of(row) + y.term_along(x));
      if (own.change == 0) dx[i] = 0;
    }
    return own;
  }, evaluate);
  if (!moments) return;
  sum = sum_of_block(sum, shared), by_x = sum_of_block(by_x, shared);
  by_y = sum_of_block(by_y, shared), by_z = sum_of_block(by_z, shared);
  if (thread_x()) return;
  double *out = moments + 4 * (int64)block_x();
  out[0] = sum, out[1] = by_x, out[2] = by_y, out[3] = by_z;
}

#define DIRECT_FORWARD(dim, solid)                                                                                     \
  extern "C" __global__ TOGETHER(3) void softecc_direct_##dim(                                                         \
      const float32 *image, const float32 *along, const float32 *of_row, int w, int h, int d, signed char *changes,    \
      int parts, const void *tau, const void *lambda, int doubles, int thresholds, float32 turn, laid *over,           \
      float32 start, float32 sign, double *partial, int total, float32 *chi, double *derivatives) {                    \
    const int which = block_x() / parts, part = block_x() - which * parts, rows = h * d;                               \
    const tilted<float32> y{image + (int64)which * rows * w, along, of_row, w, h, d};                                  \
    direct_forward<solid>(y, changes + (int64)which * rows * ((w + 3) / 4 * 4), part, parts, tau, lambda, doubles,     \
                          thresholds, turn, over, start, sign, partial, total, chi, derivatives);                      \
  }
DIRECT_FORWARD(2d, false)
DIRECT_FORWARD(3d, true)

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
extern "C" __global__ void softecc_lay(const void *tau, const void *lambda, const void *alpha, const void *v,
                                       int doubles, int thresholds, int most, double turn, int axes, int w, int h,
                                       int d, laid *over, float32 *along, float32 *of_row) {
  __shared__ double shared[32];
  const double infinity = __builtin_huge_val(), steep = number(lambda, 0, doubles & double_lambda);
  double least = infinity, greatest = infinity; // greatest is negated
  bool good = steep > 0 && finite(steep);
  NOT_UNROLLED for (int j = thread_x(); j < thresholds; j += threads()) { // over an infinite range, no width is good
    const double own = number(tau, j, doubles & double_tau), t = finite(own) ? turn * own : infinity;
    least = __builtin_fmin(least, t), greatest = __builtin_fmin(greatest, -t);
  }
  least = least_of_block(least, shared), greatest = -least_of_block(greatest, shared);
  double rise[3] = {0, 0, 0}; // along x, y and z
  if (of_row) {
    double length = 0;
    NOT_UNROLLED for (int i = 0; i < axes; i++) {
      const double part = number(v, i, doubles & double_direction);
      length += part * part;
    }
    length = __builtin_sqrt(length);
    NOT_UNROLLED for (int i = 0; i < axes; i++) {
      const double part = number(v, i, doubles & double_direction) / length;
      rise[axes - 1 - i] = turn * number(alpha, 0, doubles & double_alpha) * part;
      good &= finite(rise[axes - 1 - i]);
    }
  }
  // If all sigmoids overlap, their sum may be much smaller than its terms, so bins are finer.
  const double far = near_reach / steep, range = greatest - least + 2 * far, wide = range * steep * 16 + 4;
  const double many = wide < 16 * 90 && most > 4096 ? 4096 : wide;
  const int n = many < most ? (int)many : most;
  const float32 width = (float32)(range / (n - 3));
  const double middle = (least + greatest) / 2;
  const double zero = __builtin_fabs(middle) > 1.5 * range ? (double)(float32)middle : 0;
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
extern "C" __global__ void softecc_sum(const double *partial, int parts, int thresholds, int total, float32 start,
                                       float32 sign, float32 turn, float32 *chi, double *derivatives) {
  const int each = derivatives ? 3 : 1, lane = thread_x() & 31;
  const int item = block_x() * (threads() >> 5) + (thread_x() >> 5);
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
