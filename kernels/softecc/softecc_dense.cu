// changes:  changes[p] = c(p), the signed number of cells whose first voxel in Y is p
// forward:  χ(τ) = Σ over voxels of c(p) σ(τ − Y(p))
// backward: dx[p] = −c(p) Σ g σ'(τ − Y(p)), and the sums over voxels for the other gradients
//
// The soft Euler characteristic curve by one sigmoid per voxel and threshold, in the forward and
// again in the backward pass, with one thread per voxel (Saxena et al. 2025, section 3.2;
// impls/softecc/dense). A sigmoid needs two instructions of the special function unit, which is the
// bottleneck. Sums are in float32, in each thread. Thresholds are handled in groups whose sums fit
// in registers, because atomic additions would take longer than the sigmoids.
#include "order.h"
#include "softecc.h"

// An image, from which warps take 32 voxels of a row at a time.
struct rows {
  int w, h, d;
  member int across() const { return (w + 31) / 32; }
  member int items() const { return across() * h * d; }
  template <class F> member void each(F f) const {
    int warps = threads() >> 5;
    for (int item = block_x() * warps + (thread_x() >> 5); item < items(); item += blocks() * warps) {
      int row = item / across(), x = (item - row * across()) * 32 + (thread_x() & 31);
      if (x < w) f((int64)row * w + x, x, row);
    }
  }
};

// Computes turn·Y. For the vertex construction everything is computed from −Y, with turn = −1.
template <class T> inlined void tilt(const tilted<T> &image, float32 turn, float32 *y) {
  rows{image.w, image.h, image.d}.each([&](int64 i, int x, int row) {
    y[i] = turn * ((float32)image.image[i] + (image.of_row[row] + image.along[x]));
  });
}

// outside is the value beyond the sides. sign is that of the cell which a voxel is.
template <bool solid> inlined void changes_of(const float32 *y, const rows &r, float32 outside, int sign, signed char *changes) {
  r.each([&](int64 i, int x, int row) {
    int z0 = row / r.h, y0 = row - z0 * r.h;
    const float32 own = y[i];
    auto of_row = [&](float32 (&v)[3], int dy, int dz) ALWAYS_INLINED {
      bool in = y0 + dy >= 0 && y0 + dy < r.h && z0 + dz >= 0 && z0 + dz < r.d;
      const float32 *p = y + i + ((int64)dz * r.h + dy) * r.w;
      UNROLL for (int dx = -1; dx <= 1; dx++) {
        v[dx + 1] = outside;
        if (in && x + dx >= 0 && x + dx < r.w) v[dx + 1] = p[dx];
      }
    };
    changes[i] = (signed char)(sign * cells_of<solid>(own, of_row));
  });
}

// The thresholds, as three lists of n float32 numbers: the rounded threshold; its rounding error,
// times the steepness for powers of two; and the upstream gradient. A group of `together`
// thresholds is handled at a time.
struct thresholds {
  const float32 *list;
  int n;
  float32 steep, turn;
  template <int together> member void take(float32 (&of)[together], int kind, int first) const {
    UNROLL for (int k = 0; k < together; k++) of[k] = list[kind * n + first + k];
  }
};

const int most_warps = 8; // per block

// Writes the block's sums of thresholds first to first + together − 1. Each lane holds at most one
// sum of its warp.
template <int together> inlined void keep(const float32 (&sums)[together], double *partial, int first) {
  __shared__ float32 of_warps[most_warps * 32];
  int lane = thread_x() & 31;
  float32 mine = 0;
  UNROLL for (int k = 0; k < together; k++) {
    float32 v = sums[k];
    UNROLL for (int far = 16; far > 0; far >>= 1) v += from_lane(v, lane ^ far);
    if (lane == k) mine = v;
  }
  __syncthreads(); // the previous sums have been read
  of_warps[thread_x()] = mine;
  __syncthreads();
  if (thread_x() >= together) return;
  double v = 0;
  for (int k = thread_x(); k < threads(); k += 32) v += of_warps[k];
  partial[(int64)(first + thread_x()) * blocks() + block_x()] = v;
}

extern "C" __global__ void softecc_dense_forward(const float32 *y, const signed char *changes, int w, int h, int d, const float32 *tau, int n,
                                                 float32 steep, float32 turn, double *partial) {
  const int together = 32;
  thresholds t{tau, n, steep, turn};
  NOT_UNROLLED for (int first = 0; first < n; first += together) {
    float32 at[together], rest[together], sums[together] = {};
    t.take(at, 0, first), t.take(rest, 1, first);
    rows{w, h, d}.each([&](int64 i, int, int) {
      float32 v = turn * y[i], c = changes[i];
      UNROLL for (int k = 0; k < together; k++)
        sums[k] += c * reciprocal(1 + power_of_two(__builtin_fmaf(v - at[k], steep, -rest[k])));
    });
    keep(sums, partial, first);
  }
}

// For each threshold, the sum of c σ(1 − σ). Then over all thresholds: the sums of ∂X, of ∂X times
// x, y and z, and of c g σ(1 − σ) times the scaled distance from the threshold. These sums follow
// those of forward in partial.
extern "C" __global__ void softecc_dense_backward(const float32 *y, const signed char *changes, int w, int h, int d, const float32 *tau, int n,
                                                  float32 steep, float32 turn, float32 lambda, float32 *dx, double *partial, int64 forward) {
  const int together = 16;
  __shared__ double shared[32];
  thresholds t{tau, n, steep, turn};
  double all = 0, by_x = 0, by_y = 0, by_z = 0;
  partial += forward;
  float32 by_lambda = 0;
  NOT_UNROLLED for (int first = 0; first < n; first += together) {
    float32 at[together], rest[together], g[together], sums[together] = {};
    t.take(at, 0, first), t.take(rest, 1, first), t.take(g, 2, first);
    rows{w, h, d}.each([&](int64 i, int x, int row) {
      float32 v = turn * y[i], c = changes[i], slope = 0, far = 0;
      UNROLL for (int k = 0; k < together; k++) {
        // Where the power underflows to 0, the distance has no effect. It is limited so that it
        // stays finite.
        float32 a = __builtin_fmaf(at[k] - v, steep, rest[k]), b = __builtin_fminf(__builtin_fabsf(a), 256);
        float32 e = power_of_two(-b), s = reciprocal(1 + e), one = e * s * s;
        sums[k] += c * one;
        slope += g[k] * one;
        far += __builtin_copysignf(b, a) * (g[k] * one);
      }
      float32 of = (first ? dx[i] : 0) - c * lambda * slope;
      dx[i] = of;
      by_lambda += c * far;
      if (first + together < n) return;
      double o = of;
      int z = row / h;
      all += o, by_x += o * x, by_y += o * (row - z * h), by_z += o * z;
    });
    keep(sums, partial, first);
  }
  double last[] = {all, by_x, by_y, by_z, by_lambda};
  UNROLL for (int k = 0; k < 5; k++) {
    double v = sum_of_block(last[k], shared);
    if (!thread_x()) partial[(int64)(n + k) * blocks() + block_x()] = v;
  }
}

// Adds up the sums of all blocks, one block per number: first those of forward, then those of
// backward.
extern "C" __global__ void softecc_dense_sums(const double *partial, int n, int forward, int backward, double *out) {
  __shared__ double shared[32];
  int of_backward = block_x() - n, each = of_backward < 0 ? forward : backward;
  const double *from = partial + (of_backward < 0 ? (int64)block_x() * forward : (int64)n * forward + (int64)of_backward * backward);
  double v = 0;
  for (int k = thread_x(); k < each; k += threads()) v += from[k];
  v = sum_of_block(v, shared);
  if (!thread_x()) out[block_x()] = v;
}

#define CHANGES(dim, solid)                                                                                                                    \
  extern "C" __global__ void softecc_dense_changes_##dim(const float32 *y, int w, int h, int d, float32 outside, int sign, signed char *changes) { \
    changes_of<solid>(y, rows{w, h, d}, outside, sign, changes);                                                                                \
  }
CHANGES(2d, false)
CHANGES(3d, true)

#define TILT(T) \
  extern "C" __global__ void softecc_dense_tilt_##T(IMAGE(T), float32 turn, float32 *y) { tilt(TILTED(T), turn, y); }
TILT(uint8)
TILT(int16)
TILT(uint16)
TILT(float32)
