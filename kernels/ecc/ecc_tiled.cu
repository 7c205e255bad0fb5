// for each voxel v: for each face c of v: if v introduced c: changes[level(v)] += (−1)^dim(c)
//
// One thread handles one voxel of a tile or of its collar. Rows are fetched through a texture,
// whose cache is laid out for neighbourhoods. Each block collects its changes in shared memory and
// adds them to the curve once, at its end. A block handles several tiles, so the number of
// histograms to add is the number of blocks (Wang et al. 2022, section 4.3 and algorithm 2).
#include "../texture.h"
#include "histogram.h"
#include "voxel.h"

// A warp fetches a row of 32 voxels and counts the 30 inner ones, because their neighbours in the
// row are in the neighbouring lanes. In 3D a block covers 4 rows of a quarter as many planes as it has
// warps.
const int row = 30, rows = 4;

// The number of tiles of size `of` along an axis of n rows or planes, and whether a lane fetches
// its voxel.
inlined int tiles_along(int n, int of) { return planted(fault::slab) ? n / of : (n + of - 1) / of; }
inlined bool fetches(int lane) { return !planted(fault::halo) || (lane > 0 && lane <= row); }

// out receives the values of the previous lane, of this lane and of the next one.
template <class V> inlined void spread(V *out, V v) {
  out[0] = from_lane_before(v);
  out[1] = v;
  out[2] = from_lane_after(v);
}

template <class T> inlined void tiles_3d(texture t, int width, int height, int depth, const ladder &l, const histogram &h) {
  typedef typename in_register<T>::type V;
  int lane = thread_x() & 31, warp = thread_x() >> 5, planes = threads() / (32 * rows);
  int nx = (width + row - 1) / row, ny = (height + rows - 1) / rows, nz = tiles_along(depth, planes);
  int64 tiles = (int64)nx * ny * nz;
  for (int64 tile = block_x(); tile < tiles; tile += blocks()) {
    int x = (int)(tile % nx) * row + lane - 1, y = (int)(tile / nx % ny) * rows + warp % rows, z = (int)(tile / nx / ny) * planes + warp / rows;
    if (y >= height || z >= depth) continue; // the same for all lanes of the warp
    V around[3][9];
    for (int dz = 0; dz < 3; dz++)
      for (int dy = 0; dy < 3; dy++) {
        V v;
        int uy = y + dy - 1, uz = z + dz - 1;
        outside(v);
        if (fetches(lane) && x >= 0 && x < width && uy >= 0 && uy < height && uz >= 0 && uz < depth) fetch(t, x, uy, uz, (const T *)0, v);
        spread(around[dz] + 3 * dy, v);
      }
    if (lane > 0 && lane <= row && x < width)
      histogram::add(h, level(l, around[1][4]), introduced(around[0], around[1], around[2]));
  }
}

template <class T> inlined void tiles_2d(texture t, int width, int height, int, const ladder &l, const histogram &h) {
  typedef typename in_register<T>::type V;
  int lane = thread_x() & 31, warps = threads() >> 5;
  int nx = (width + row - 1) / row, ny = tiles_along(height, warps);
  int64 tiles = (int64)nx * ny;
  for (int64 tile = block_x(); tile < tiles; tile += blocks()) {
    int x = (int)(tile % nx) * row + lane - 1, y = (int)(tile / nx) * warps + (thread_x() >> 5);
    if (y >= height) continue; // the same for all lanes of the warp
    V around[3][3];
    for (int dy = 0; dy < 3; dy++) {
      V v;
      int uy = y + dy - 1;
      outside(v);
      if (fetches(lane) && x >= 0 && x < width && uy >= 0 && uy < height) fetch(t, x, uy, (const T *)0, v);
      spread(around[dy], v);
    }
    if (lane > 0 && lane <= row && x < width)
      histogram::add(h, level(l, around[1][1]), introduced(around[0], around[1], around[2]));
  }
}

#define KERNEL(dim, type)                                                                               \
  extern "C" __global__ void ecc_tiled_##dim##_##type(                                                  \
      texture image, int width, int height, int depth, int levels, int least, int affine, float32 lo,   \
      float32 inverse, const int *lut, const float32 *values, int64 *total, int copies) {               \
    histogram h = histogram::start(total, levels, copies);                                              \
    tiles_##dim<type>(image, width, height, depth, ladder{levels, least, affine, lo, inverse, lut, values}, h); \
    histogram::finish(h);                                                                               \
  }

KERNELS(KERNEL)
