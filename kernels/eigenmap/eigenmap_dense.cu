// weights: for each pair of tiles of 128 patches, the first not after the second: W of all pairs of patches
// product: for the same tiles: the products with v of their rows, and of their columns
// rows:    z = q − D^−½ Σ of the tiles' products
//
// The dense matrix of weights in float64, as in Cheng et al. 2014 (routines 1 and 2). Only its
// upper half is stored, because it is symmetric. Degrees are its product with ones. A block handles
// a tile of 128 × 128 numbers, a warp 16 rows of it, and a lane four columns. The products of each
// tile are stored separately, and are added in the order of the tiles.
#include "steps.h"
#include "weight.h"

enum { tile = chunk, warps = 8, rows = tile / warps, columns = 4 };

// The row and column of a block's tile in the upper half. Each row of blocks combines a row of
// tiles from the top with one from the bottom, so that all rows of blocks are equally long.
struct place {
  int row, column;
  member place(int block, int tiles) {
    int even = !(tiles & 1), wide = tiles + even, r = block / wide, c = block % wide;
    if (c >= r + even) row = r, column = c - even;
    else row = tiles - r - even, column = tiles - 1 - c;
  }
};

// The column of a lane within a tile. Pairs of columns are adjacent.
inlined int column_of(int lane, int c) { return (c >> 1) * 64 + 2 * lane + (c & 1); }

template <class Patch>
inlined void weigh(const features &f, const int *places, int n, int tiles, double by_feature, double by_place, double *w) {
  place at(block_x(), tiles);
  int stride = tiles * tile, lane = thread_x() & 31, first = at.row * tile + (thread_x() >> 5) * rows;
  double *out = w + (int64)block_x() * tile * tile + (thread_x() >> 5) * rows * tile;
  Patch other[columns];
  int square[columns], x[columns], y[columns], z[columns], number[columns];
  UNROLL for (int c = 0; c < columns; c++) {
    int j = number[c] = at.column * tile + column_of(lane, c);
    other[c] = Patch(f, j), square[c] = f.squares[j];
    x[c] = places[j], y[c] = places[stride + j], z[c] = places[2 * stride + j];
  }
  NOT_UNROLLED for (int r = 0; r < rows; r++) {
    int i = first + r, own = f.squares[i], ix = places[i], iy = places[stride + i], iz = places[2 * stride + i];
    Patch here(f, i);
    pair two[columns / 2];
    UNROLL for (int c = 0; c < columns; c++) {
      unsigned unlike = (unsigned)own + (unsigned)square[c] - 2 * here.dot(f, other[c]);
      int dx = x[c] - ix, dy = y[c] - iy, dz = z[c] - iz;
      unsigned apart = (unsigned)(dx * dx + dy * dy + dz * dz);
      double v = exponential(-whole(unlike) * by_feature - whole(apart) * by_place);
      if (i >= n || number[c] >= n || (i == number[c] && !planted(fault::diagonal))) v = 0;
      two[c >> 1][c & 1] = v;
    }
    UNROLL for (int c = 0; c < columns; c += 2) *(pair *)(out + r * tile + column_of(lane, c)) = two[c >> 1];
  }
}

#define WEIGHTS(name, Patch)                                                                                                \
  extern "C" __global__ __attribute__((launch_bounds(32 * warps, 2))) void eigenmap_weights##name(                        \
    const unsigned *all, int words, const int *squares, const int *places, int n, int tiles, double by_feature, double by_place, double *w) { \
    weigh<Patch>({all, words, squares}, places, n, tiles, by_feature, by_place, w);                                         \
  }
WEIGHTS(, of_many)
WEIGHTS(_four, of_four)

extern "C" __global__ __attribute__((launch_bounds(32 * warps, 2))) void eigenmap_dense_product(const double *w, const double *v, int tiles, double *parts) {
  __shared__ double below[warps][tile];
  place at(block_x(), tiles);
  int lane = thread_x() & 31, warp = thread_x() >> 5;
  const double *mine = w + (int64)block_x() * tile * tile + warp * rows * tile, *above = v + at.row * tile + warp * rows;
  double beside[columns], down[columns];
  UNROLL for (int c = 0; c < columns; c++) beside[c] = v[at.column * tile + column_of(lane, c)], down[c] = 0;
  const int ahead = 8; // rows whose sums are computed together
  double *sums = parts + ((int64)at.row * tiles + at.column) * tile + warp * rows;
  NOT_UNROLLED for (int r = 0; r < rows; r += ahead) {
    pair two[ahead][columns / 2];
    double across[ahead];
    UNROLL for (int k = 0; k < ahead; k++)
      UNROLL for (int c = 0; c < columns; c += 2) two[k][c >> 1] = *(const pair *)(mine + (r + k) * tile + column_of(lane, c));
    UNROLL for (int k = 0; k < ahead; k++) {
      double x = above[r + k], sum = 0;
      UNROLL for (int c = 0; c < columns; c++) {
        double number = two[k][c >> 1][c & 1];
        sum = __builtin_fma(number, beside[c], sum), down[c] = __builtin_fma(number, x, down[c]);
      }
      across[k] = sum;
    }
    double sum = over_lanes_each(across);
    if (lane % (32 / ahead) == 0) sums[r + lane / (32 / ahead)] = sum;
  }
  if (at.row == at.column) return;
  UNROLL for (int c = 0; c < columns; c++) below[warp][column_of(lane, c)] = down[c];
  __syncthreads();
  if (thread_x() >= tile) return;
  double all = 0;
  UNROLL for (int i = 0; i < warps; i++) all += below[i][thread_x()];
  parts[((int64)at.column * tiles + at.row) * tile + thread_x()] = planted(fault::mirror) ? 0 : all;
}

// The sum of the tiles' products for the block's rows. Each of four groups of threads adds every
// fourth tile.
inlined double of_tiles(const double *parts, int tiles) {
  __shared__ double all[groups][tile];
  int i = thread_x() % tile, group = thread_x() / tile;
  double sum = 0;
  for (int k = group; k < tiles; k += groups) sum += parts[((int64)block_x() * tiles + k) * tile + i];
  all[group][i] = sum;
  __syncthreads();
  return (all[0][i] + all[1][i]) + (all[2][i] + all[3][i]);
}

// z = q − D^−½ W v with v = D^−½ q: the normalised Laplacian of column `column` of q.
extern "C" __global__ void eigenmap_dense_rows(const double *parts, int tiles, const double *q, int column, const double *scale, double *z) {
  double sum = of_tiles(parts, tiles);
  int i = block_x() * tile + thread_x();
  if (thread_x() < tile) z[i] = q[(int64)column * tiles * tile + i] - scale[i] * sum;
}

// Degrees, if v is ones, and D^−½, which is 0 beyond the end.
extern "C" __global__ void eigenmap_dense_degrees(const double *parts, int tiles, int n, double *degree, double *scale) {
  double sum = of_tiles(parts, tiles);
  int i = block_x() * tile + thread_x();
  if (thread_x() < tile) degree[i] = sum, scale[i] = i < n ? 1 / root(sum) : 0;
}
