// A sweep over an image in global memory. A warp takes 32 neighbouring columns of voxels, so that
// each row that it loads is one 128-byte transaction (float32), and marches along the slowest axis
// with the neighbourhood in registers.
#pragma once
#include "histogram.h"
#include "voxel.h"

// Slices first … last − 1 are counted. The other slices, 0 … first − 1 and last … slices − 1, are
// the collar.
struct slab {
  int width, height, slices, first, last;

  // The end of the counted slices, and the slice before z.
  inlined int end(const slab &s) { return s.last - (planted(fault::slab) ? 1 : 0); }
  inlined int before(int z) { return planted(fault::halo) && z > 0 ? z : z - 1; }
};

const int march = 64; // slices that a warp counts before it takes other columns

// Three voxels of a row around column x. Voxels beyond the row, or of a row that is not inside, are
// outside.
template <class T, class V> inlined void load_row(V *out, const T *row, int x, int width, bool inside) {
  outside(out[0]); outside(out[1]); outside(out[2]);
  if (inside) {
    if (x > 0) out[0] = row[x - 1];
    out[1] = row[x];
    if (x + 1 < width) out[2] = row[x + 1];
  }
}

template <class T, class V> inlined void load_plane(V (&out)[9], const T *image, const slab &s, int x, int y, int z) {
  bool inside = z >= 0 && z < s.slices;
  const T *row = image + ((int64)z * s.height + y) * s.width;
  load_row(out, row - s.width, x, s.width, inside && y > 0);
  load_row(out + 3, row, x, s.width, inside);
  load_row(out + 6, row + s.width, x, s.width, inside && y + 1 < s.height);
}

template <class T> inlined void sweep_3d(const T *image, slab s, const ladder &l, const histogram &h) {
  typedef typename in_register<T>::type V;
  int lane = thread_x() & 31, warps = threads() >> 5;
  int across = (s.width + 31) >> 5, along = (s.last - s.first + march - 1) / march;
  int64 tiles = (int64)across * s.height * along;
  for (int64 tile = (int64)block_x() * warps + (thread_x() >> 5); tile < tiles; tile += (int64)blocks() * warps) {
    int x = (int)(tile % across) * 32 + lane;
    int64 rest = tile / across;
    int y = (int)(rest % s.height), z = s.first + (int)(rest / s.height) * march;
    int end = z + march < slab::end(s) ? z + march : slab::end(s);
    if (x >= s.width) continue;
    V before[9], at[9], after[9];
    load_plane(before, image, s, x, y, slab::before(z));
    load_plane(at, image, s, x, y, z);
    load_plane(after, image, s, x, y, z + 1);
    for (; z < end; z++) {
      V next[9];
      load_plane(next, image, s, x, y, z + 2); // in flight while this plane is counted
      histogram::add(h, level(l, at[4]), introduced(before, at, after));
      for (int i = 0; i < 9; i++) { before[i] = at[i]; at[i] = after[i]; after[i] = next[i]; }
    }
  }
}

// In 2D the slices are the rows of the image, and height is 1.
template <class T> inlined void sweep_2d(const T *image, slab s, const ladder &l, const histogram &h) {
  typedef typename in_register<T>::type V;
  int lane = thread_x() & 31, warps = threads() >> 5;
  int across = (s.width + 31) >> 5, along = (s.last - s.first + march - 1) / march;
  int64 tiles = (int64)across * along;
  for (int64 tile = (int64)block_x() * warps + (thread_x() >> 5); tile < tiles; tile += (int64)blocks() * warps) {
    int x = (int)(tile % across) * 32 + lane, y = s.first + (int)(tile / across) * march;
    int end = y + march < slab::end(s) ? y + march : slab::end(s);
    if (x >= s.width) continue;
    V before[3], at[3], after[3];
    load_row(before, image + (int64)slab::before(y) * s.width, x, s.width, y > 0);
    load_row(at, image + (int64)y * s.width, x, s.width, true);
    load_row(after, image + (int64)(y + 1) * s.width, x, s.width, y + 1 < s.slices);
    for (; y < end; y++) {
      V next[3];
      load_row(next, image + (int64)(y + 2) * s.width, x, s.width, y + 2 < s.slices);
      histogram::add(h, level(l, at[1]), introduced(before, at, after));
      for (int i = 0; i < 3; i++) { before[i] = at[i]; at[i] = after[i]; after[i] = next[i]; }
    }
  }
}
