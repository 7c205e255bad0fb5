// for each voxel v: for each face c of v: if v introduced c: changes[level(v)] += (−1)^dim(c)
//
// One thread for each voxel of a tile, its neighbours fetched through a texture,
// whose cache is laid out for neighbourhoods; each block adds up its changes in
// shared memory and adds those to the curve's once, at its end. Blocks take tiles
// in turn, so that there are as many histograms to add as the device runs blocks
// (Wang et al. 2022, section 4.3 and algorithm 2).
#include "histogram.h"
#include "voxel.h"

typedef unsigned long long texture;

#define FETCH(T, format, constraint)                                                                    \
  inlined void fetch(texture t, int x, int y, int z, const T *, in_register<T>::type &v) {            \
    in_register<T>::type a, b, c;                                                                       \
    asm("tex.3d.v4." format ".s32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"                               \
        : "=" constraint(v), "=" constraint(a), "=" constraint(b), "=" constraint(c)                       \
        : "l"(t), "r"(x), "r"(y), "r"(z));                                                                 \
  }                                                                                                        \
  inlined void fetch(texture t, int x, int y, const T *, in_register<T>::type &v) {                  \
    in_register<T>::type a, b, c;                                                                       \
    asm("tex.2d.v4." format ".s32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                                       \
        : "=" constraint(v), "=" constraint(a), "=" constraint(b), "=" constraint(c)                       \
        : "l"(t), "r"(x), "r"(y));                                                                         \
  }

FETCH(uint8, "u32", "r")
FETCH(int16, "s32", "r")
FETCH(uint16, "u32", "r")
FETCH(float32, "f32", "f")

// The tile of a block: rows of a warp, four of them in a plane of a 3D image.
const int tile_x = 32, tile_y = 4;

template <class T, bool inner>
inlined int change_3d(texture t, int x, int y, int z, int width, int height, int depth, typename in_register<T>::type &v) {
  typedef typename in_register<T>::type V;
  V planes[3][9];
  for (int dz = 0; dz < 3; dz++)
    for (int dy = 0; dy < 3; dy++)
      for (int dx = 0; dx < 3; dx++) {
        V &u = planes[dz][3 * dy + dx];
        int ux = x + dx - 1, uy = y + dy - 1, uz = z + dz - 1;
        if (inner || (ux >= 0 && ux < width && uy >= 0 && uy < height && uz >= 0 && uz < depth))
          fetch(t, ux, uy, uz, (const T *)0, u);
        else
          outside(u);
      }
  v = planes[1][4];
  return introduced(planes[0], planes[1], planes[2]);
}

template <class T> inlined void tiles_3d(texture t, int width, int height, int depth, const ladder &l, const histogram &h) {
  typedef typename in_register<T>::type V;
  int tile_z = threads() / (tile_x * tile_y);
  int nx = (width + tile_x - 1) / tile_x, ny = (height + tile_y - 1) / tile_y, nz = (depth + tile_z - 1) / tile_z;
  int64 tiles = (int64)nx * ny * nz;
  for (int64 tile = block_x(); tile < tiles; tile += blocks()) {
    int x0 = (int)(tile % nx) * tile_x, y0 = (int)(tile / nx % ny) * tile_y, z0 = (int)(tile / nx / ny) * tile_z;
    int x = x0 + (thread_x() & 31), y = y0 + (thread_x() >> 5) % tile_y, z = z0 + (thread_x() >> 5) / tile_y;
    bool inner = x0 > 0 && y0 > 0 && z0 > 0 && x0 + tile_x < width && y0 + tile_y < height && z0 + tile_z < depth;
    V v;
    if (inner) {
      int change = change_3d<T, true>(t, x, y, z, width, height, depth, v);
      histogram::add(h, level(l, v), change);
    } else if (x < width && y < height && z < depth) {
      int change = change_3d<T, false>(t, x, y, z, width, height, depth, v);
      histogram::add(h, level(l, v), change);
    }
  }
}

template <class T> inlined void tiles_2d(texture t, int width, int height, int, const ladder &l, const histogram &h) {
  typedef typename in_register<T>::type V;
  int rows_of_tile = threads() / tile_x;
  int nx = (width + tile_x - 1) / tile_x, ny = (height + rows_of_tile - 1) / rows_of_tile;
  int64 tiles = (int64)nx * ny;
  for (int64 tile = block_x(); tile < tiles; tile += blocks()) {
    int x = (int)(tile % nx) * tile_x + (thread_x() & 31), y = (int)(tile / nx) * rows_of_tile + (thread_x() >> 5);
    if (x >= width || y >= height) continue;
    V rows[3][3];
    for (int dy = 0; dy < 3; dy++)
      for (int dx = 0; dx < 3; dx++) {
        V &u = rows[dy][dx];
        int ux = x + dx - 1, uy = y + dy - 1;
        if (ux >= 0 && ux < width && uy >= 0 && uy < height)
          fetch(t, ux, uy, (const T *)0, u);
        else
          outside(u);
      }
    histogram::add(h, level(l, rows[1][1]), introduced(rows[0], rows[1], rows[2]));
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

KERNEL(2d, uint8)
KERNEL(2d, int16)
KERNEL(2d, uint16)
KERNEL(2d, float32)
KERNEL(3d, uint8)
KERNEL(3d, int16)
KERNEL(3d, uint16)
KERNEL(3d, float32)
