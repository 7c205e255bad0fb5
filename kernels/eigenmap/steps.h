// dots:    c = Qᵀz for each chunk of rows               sums: over all chunks
// update:  z −= Qc, followed by the dots again, or by the square of |z|
// next:    the next column of Q = z / |z|
// combine: sums of columns
//
// Steps of Lanczos' method in float64, with full reorthogonalisation applied twice, each time by
// two products with all previous vectors (Cheng et al. 2014, algorithm 1). Q is stored by columns,
// and a block handles 128 of its rows. Each sum has a fixed order.
#pragma once
#include "sums.h"

enum { groups = 4, step_warps = groups * chunk / 32 };

// The dot products of a chunk of each column with the chunk of z. A warp handles every 16th column.
inlined void chunk_dots(const double *q, int columns, int chunks, const double (&z)[4], double *parts) {
  int lane = thread_x() & 31, warp = thread_x() >> 5;
  for (int j = warp; j < columns; j += step_warps) {
    const pair *at = (const pair *)(q + ((int64)j * chunks + block_x()) * chunk) + lane;
    pair a = at[0], b = at[32];
    double sum = __builtin_fma(a[0], z[0], a[1] * z[1]) + __builtin_fma(b[0], z[2], b[1] * z[3]);
    sum = over_lanes(sum);
    if (!lane) parts[(int64)j * chunks + block_x()] = sum;
  }
}

// The four numbers of a chunk that a lane handles, from shared or global memory.
inlined void of_lane(const double *all, double (&z)[4]) {
  int lane = thread_x() & 31;
  z[0] = all[2 * lane], z[1] = all[2 * lane + 1], z[2] = all[64 + 2 * lane], z[3] = all[64 + 2 * lane + 1];
}

extern "C" __global__ void eigenmap_dots(const double *q, int columns, int chunks, const double *z, double *parts) {
  double mine[4];
  of_lane(z + (int64)block_x() * chunk, mine);
  chunk_dots(q, columns, chunks, mine, parts);
}

// c of all columns, one warp per column. The coefficients of the last column in both passes sum to
// a diagonal element of T: pass 0 sets it, pass 1 adds to it. Step −1 has none.
extern "C" __global__ void eigenmap_sums(const double *parts, int columns, int chunks, double *c, double *diagonal, int step, int pass) {
  int lane = thread_x() & 31, j = block_x() * (threads() >> 5) + (thread_x() >> 5);
  if (j >= columns) return;
  double sum = 0;
  for (int i = lane; i < chunks; i += 32) sum += parts[(int64)j * chunks + i];
  sum = over_lanes(sum);
  if (lane) return;
  if (step >= 0 && j == columns - 1) diagonal[step] = pass ? diagonal[step] + sum : sum;
  c[j] = planted(fault::once) && !j ? sum / 2 : sum;
}

// The linear combination of columns over a chunk, in the first threads of the block. Each group of
// threads adds every fourth column.
inlined double of_columns(const double *q, int columns, int chunks, const double *c) {
  __shared__ double all[groups][chunk];
  int i = thread_x() % chunk, group = thread_x() / chunk;
  const double *at = q + (int64)block_x() * chunk + i;
  double sum = 0;
  for (int j = group; j < columns; j += groups) sum = __builtin_fma(c[j], at[(int64)j * chunks * chunk], sum);
  __syncthreads(); // the previous sums have been read
  all[group][i] = sum;
  __syncthreads();
  return (all[0][i] + all[1][i]) + (all[2][i] + all[3][i]);
}

// z −= Qc, then the dot products of all columns again, or in the last pass a chunk's part of |z|².
extern "C" __global__ void eigenmap_update(const double *q, int columns, int chunks, const double *c, double *z, double *parts, int last) {
  __shared__ double now[chunk];
  double taken = of_columns(q, columns, chunks, c), *at = z + (int64)block_x() * chunk;
  if (thread_x() < chunk) at[thread_x()] = now[thread_x()] = at[thread_x()] - taken;
  __syncthreads();
  double mine[4];
  of_lane(now, mine);
  if (!last) {
    chunk_dots(q, columns, chunks, mine, parts);
  } else if (thread_x() < 32) {
    double sum = over_lanes(__builtin_fma(mine[0], mine[0], mine[1] * mine[1]) + __builtin_fma(mine[2], mine[2], mine[3] * mine[3]));
    if (!thread_x()) parts[block_x()] = sum;
  }
}

// Appends a column to Q: z / |z|, or 0 if |z| is not above least. |z| is an off-diagonal element of
// T. v is the column times D^−½, for the next product.
template <class V>
inlined void add_column(const double *z, const double *parts, int chunks, double least, double *q, int column, const double *scale, V *v, double *beside, int step) {
  __shared__ double length;
  if (thread_x() < 32) {
    double sum = 0;
    for (int i = thread_x(); i < chunks; i += 32) sum += parts[i];
    sum = over_lanes(sum);
    if (!thread_x()) length = root(sum);
  }
  __syncthreads();
  int64 i = (int64)block_x() * chunk + thread_x();
  double number = length > least ? z[i] / length : 0;
  q[(int64)column * chunks * chunk + i] = number;
  v[i] = (V)(number * scale[i]);
  if (!i && step >= 0) beside[step] = length;
}

#define NEXT(name, V)                                                                                                                              \
  extern "C" __global__ void eigenmap_next_##name(                                                                                                 \
    const double *z, const double *parts, int chunks, double least, double *q, int column, const double *scale, V *v, double *beside, int step) { \
    add_column(z, parts, chunks, least, q, column, scale, v, beside, step);                                                                              \
  }
NEXT(wide, double)
NEXT(narrow, float32)

// Vectors that are linear combinations of the columns, each with its own coefficients.
extern "C" __global__ void eigenmap_combine(const double *q, int columns, int chunks, const double *c, int vectors, double *to) {
  for (int k = 0; k < vectors; k++) {
    double sum = of_columns(q, columns, chunks, c + (int64)k * columns);
    if (thread_x() < chunk) to[((int64)k * chunks + block_x()) * chunk + thread_x()] = sum;
  }
}
