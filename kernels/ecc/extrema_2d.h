// In 2D, a warp marches along y over two neighbouring tiles of 128 columns; a pair of halves covers
// two segments of rows. Only the image and its minima along x are compared. The changes that the
// first tile's last column hands on stay in the warp.
#pragma once
#include "extrema.h"

const int tiles = 2;
template <class L> struct row {
  typename L::value v[tiles][4], x[tiles][4];
};
template <class L> struct row_falls {
  typename L::number v[tiles][4], x[tiles][4];
};

// The raw values of a row of each of the pair's segments, loaded ahead.
template <class L, class T> struct segments {
  four_of<T> raw[tiles][L::voxels];
  T raw_extra[L::voxels];
  unsigned outer; // bits 0 and 16: the pair's first, second voxel is outside
};

// The offset of the n columns that a thread reads from column `first` on. left is the number of
// columns up to the end of the row. In a bare image, columns that reach beyond the row are replaced
// by the row's last n columns.
template <int how> inlined int columns_from(int first, int n, int left) {
  return how & bare && first > left - n ? left - n : first;
}

// Starts to load row y of the first segment and the same row of the others.
template <int how, class L, class T>
inlined void load(segments<L, T> &in, const T *image, int left, int width, int height, int y, int segment) {
  in.outer = 0;
  UNROLL for (int i = 0; i < L::voxels; i++) {
    int at = y + i * segment;
    bool inside = at >= 0 && at < height;
    if (!inside) in.outer |= 1u << (16 * i);
    const T *p = image + (int64)(inside ? at : 0) * width;
    UNROLL for (int t = 0; t < tiles; t++) {
      if (how & fours) in.raw[t][i] = *(const four_of<T> *)(p + columns_from<how>(t * columns, 4, left));
      else UNROLL for (int c = 0; c < 4; c++) in.raw[t][i][c] = p[columns_from<how>(t * columns + c, 1, left)];
    }
    in.raw_extra[i] = p[columns_from<how>(tiles * columns - 4 * (thread_x() & 31), 1, left)];
  }
}

// Converts row y, which was loaded before, and starts to load row y + 2.
template <class L, class T, int how>
inlined void bring(segments<L, T> &in, row<L> &p, const counting<L> &k, int left, const T *image, int width, int height,
                   int y, int segment, const scaling &s) {
  int thread = thread_x() & 31;
  UNROLL for (int t = 0; t < tiles; t++) lanes(p.v[t], in.raw[t][0], in.raw[t][L::voxels - 1], s);
  typename L::value extra = lane<L>(in.raw_extra[0], in.raw_extra[L::voxels - 1], s);
  unsigned outer = in.outer;
  load<how>(in, image, left, width, height, y + 2, segment);
  if (left < columns + 4 || outer)
    UNROLL for (int t = 0; t < tiles; t++) UNROLL for (int c = 0; c < 4; c++)
      p.v[t][c] = mark(p.v[t][c], t * columns + c < left ? outer : 0x10001);
  extra = mark(extra, tiles * columns - 4 * thread < left ? outer : 0x10001);
  if (!thread) k.s->v[y & (slots - 1)][0] = extra;
  UNROLL for (int t = 0; t < tiles; t++) {
    typename L::value beyond = from_lane(thread ? p.v[t][0] : t + 1 < tiles ? p.v[t + 1][0] : extra, (thread + 1) & 31);
    UNROLL for (int c = 0; c < 4; c++) p.x[t][c] = L::least(p.v[t][c], c < 3 ? p.v[t][c + 1] : beyond);
  }
}

template <class L> inlined void compare(row_falls<L> &f, const row<L> &last, const row<L> &next) {
  UNROLL for (int t = 0; t < tiles; t++) UNROLL for (int c = 0; c < 4; c++) {
    f.v[t][c] = L::greater(last.v[t][c], next.v[t][c]);
    f.x[t][c] = L::greater(last.x[t][c], next.x[t][c]);
  }
}

template <class L, class T, class H>
inlined void count(const row<L> &p, const row_falls<L> &fell, const row_falls<L> &falling, const counting<L> &k, int slot,
                   const H &h, const ladder &l) {
  typedef typename L::number N;
  int thread = thread_x() & 31;
  N to_v[tiles][4], beyond_v[tiles][4];
  UNROLL for (int t = 0; t < tiles; t++) UNROLL for (int c = 0; c < 4; c++) {
    N of_v = falling.v[t][c] - fell.v[t][c], of_x = fell.x[t][c] - falling.x[t][c];
    N whose = planted(fault::owner) ? L::times(1) : L::equal(p.x[t][c], p.v[t][c]);
    if (planted(fault::sign)) of_x = -of_x;
    if (t + c == 0) of_v *= k.border;
    to_v[t][c] = L::fma(of_x, whose, of_v) + L::bias();
    beyond_v[t][c] = L::fma(-of_x, whose, of_x);
  }
  if (thread == 31) k.s->n[slot & (slots - 1)][0] = beyond_v[tiles - 1][3];
  UNROLL for (int t = 0; t < tiles; t++) {
    N v_in = from_lane(t && thread == 31 ? beyond_v[t - 1][3] : beyond_v[t][3], (thread - 1) & 31);
    UNROLL for (int c = 0; c < 4; c++)
      add<T>(p.v[t][c], c ? to_v[t][c] + beyond_v[t][c - 1] : t ? to_v[t][0] + v_in : L::fma(v_in, k.inner, to_v[0][0]),
             k.nowhere, h, l);
  }
  settle<T>(h, p.v);
}

template <class L, class T, class H>
inlined void count_row_seam(const counting<L> &k, int from, int to, const H &h, const ladder &l) {
  if (planted(fault::halo)) return;
  sync_warp();
  int slot = from + (thread_x() & 31);
  if (slot < to) {
    add<T>(k.s->v[slot & (slots - 1)][0], k.s->n[slot & (slots - 1)][0] + L::bias(), k.nowhere, h, l);
    settle<T>(h, k.s->v[slot & (slots - 1)]);
  }
  sync_warp();
}

template <class L, class T, int how, class H, class Turns>
inlined void extrema_2d(const T *image, int width, int, int height, int segment, const scaling &s, const ladder &l,
                        const H &h, seam<L> *seams, Turns turns, const bounds & = bounds{}) {
  if (planted(fault::slab)) height--;
  int thread = thread_x() & 31, warp = turns.warp(), warps = turns.warps();
  int across = (width + tiles * columns - 1) / (tiles * columns);
  int groups = (across + warps - 1) / warps, down = (height + L::voxels * segment - 1) / (L::voxels * segment);
  for (int item; (item = turns.take(groups * down)) < groups * down;) {
    int tile = item % groups * warps + warp;
    if (tile >= across) continue;
    int x = tile * tiles * columns + 4 * thread, first = item / groups * L::voxels * segment;
    int last = first + segment, left = width - x; // last: of the first segment; the others end at the same distance
    counting<L> k{L::times(x ? 1 : 0), L::times(thread ? 1 : 0), no_level<T>(l, L()), seams + warp};
    row<L> a, b;
    row_falls<L> fa, fb;
    segments<L, T> in, then;
    int y = first - 1;
    load<how>(in, image + x, left, width, height, y, segment);
    load<how>(then, image + x, left, width, height, y + 1, segment);
    bring<L, T, how>(in, a, k, left, image + x, width, height, y, segment, s);
    y++;
    bring<L, T, how>(then, b, k, left, image + x, width, height, y, segment, s);
    compare(fa, a, b);
    int from = first;
    for (;;) {
      y++;
      bring<L, T, how>(in, a, k, left, image + x, width, height, y, segment, s);
      compare(fb, b, a);
      count<L, T>(b, fa, fb, k, y - 1, h, l);
      if (y == last) break;
      y++;
      bring<L, T, how>(then, b, k, left, image + x, width, height, y, segment, s);
      compare(fa, a, b);
      count<L, T>(a, fb, fa, k, y - 1, h, l);
      if (y == last) break;
      if (y - from == 32) {
        count_row_seam<L, T>(k, from, y, h, l);
        from = y;
      }
    }
    count_row_seam<L, T>(k, from, y, h, l);
  }
  turns.end();
}
