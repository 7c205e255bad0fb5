// for each plane z: for each set S of the axes x, y: for each cell: s = its least value over S
//   if s(z) > s(z+1): changes[s(z)] ± 1, changes[s(z+1)] ∓ 1
//
// Every cell of the complex is counted at its least value. A cell at z and its prism between z and
// z + 1 cancel where the value does not fall. So only extrema along z count, of four images: v, its
// minima of neighbours along x, along y, and along both (doc/extrema.md). A warp takes 128 columns
// of a few rows and marches along z, with the four images of the previous plane in registers. Each
// cell's change is handed to the voxel that has the cell's value: from the minima along both axes
// to those along y, and from these and the minima along x to the voxels. So each voxel needs at
// most one addition in shared memory.
#pragma once
#include "extrema.h"

template <class L> struct plane {
  typename L::value v[held + 1][4], x[held][4], y[held][4], xy[held][4];
};
// 1 where an image of a plane is less than that of the previous plane, else 0.
template <class L> struct falls {
  typename L::number v[held][4], x[held][4], y[held][4], xy[held][4];
};

// Computes the minima of a plane from its voxels. extra is the first column beyond the warp's, one
// row per lane. It is stored for the seam.
template <class L> inlined void take_least(plane<L> &p, typename L::value extra, seam<L> *s, int slot) {
  int lane = thread_x() & 31;
  typename L::value beyond[held + 1], y_beyond[held];
  UNROLL for (int r = 0; r <= held; r++) {
    typename L::value theirs = r ? from_lane(extra, r) : extra;
    if (!lane) s->v[slot & (slots - 1)][r] = theirs;
    beyond[r] = from_lane(lane ? p.v[r][0] : theirs, (lane + 1) & 31);
  }
  UNROLL for (int r = 0; r < held; r++) {
    UNROLL for (int c = 0; c < 4; c++) {
      p.x[r][c] = L::least(p.v[r][c], c < 3 ? p.v[r][c + 1] : beyond[r]);
      p.y[r][c] = L::least(p.v[r][c], p.v[r + 1][c]);
    }
    y_beyond[r] = L::least(beyond[r], beyond[r + 1]);
    UNROLL for (int c = 0; c < 4; c++) p.xy[r][c] = L::least(p.y[r][c], c < 3 ? p.y[r][c + 1] : y_beyond[r]);
  }
}

template <class L> inlined void compare(falls<L> &f, const plane<L> &last, const plane<L> &next) {
  UNROLL for (int r = 0; r < held; r++)
    UNROLL for (int c = 0; c < 4; c++) {
      f.v[r][c] = L::greater(last.v[r][c], next.v[r][c]);
      f.x[r][c] = L::greater(last.x[r][c], next.x[r][c]);
      f.y[r][c] = L::greater(last.y[r][c], next.y[r][c]);
      f.xy[r][c] = L::greater(last.xy[r][c], next.xy[r][c]);
    }
}

// The changes of the cells of one row: the part for the voxel (or minimum along y) in the same
// column, and the part for the next column (beyond).
template <class L> struct handed {
  typename L::number to_y[4], beyond_y[4], to_v[4], beyond_v[4];
};
template <class L, class N>
inlined void hand_along_x(handed<L> &to, const plane<L> &p, int r, int c, N of_v, N of_x, N of_y, N of_xy) {
  N whose = L::equal(p.xy[r][c], p.y[r][c]);
  to.to_y[c] = L::fma(of_xy, whose, of_y);
  to.beyond_y[c] = L::fma(-of_xy, whose, of_xy);
  whose = planted(fault::owner) ? L::times(1) : L::equal(p.x[r][c], p.v[r][c]);
  if (planted(fault::sign)) of_x = -of_x;
  to.to_v[c] = L::fma(of_x, whose, of_v);
  to.beyond_v[c] = L::fma(-of_x, whose, of_x);
}

// Adds the change of a voxel, including the parts handed to it along x and from the row above, and
// leaves in down the part for the row below.
template <class L, class T, class N, class H>
inlined void add_and_hand_down(const plane<L> &p, int r, int c, N of_v, N of_y, N &down, typename L::value nowhere, const H &h,
                               const ladder &l) {
  N mine = L::equal(p.y[r][c], p.v[r][c]);
  of_v = L::fma(of_y, mine, of_v) + down;
  down = L::fma(-of_y, mine, of_y) + L::bias();
  add<T>(p.v[r][c], of_v, nowhere, h, l);
}

// Counts a plane. fell marks falls from the previous plane to it, falling those from it to the next
// plane.
template <class L, class T, class H>
inlined void count(const plane<L> &p, const falls<L> &fell, const falls<L> &falling, const counting<L> &k, int slot,
                   const H &h, const ladder &l) {
  typedef typename L::number N;
  int lane = thread_x() & 31;
  N down[4];
  UNROLL for (int c = 0; c < 4; c++) down[c] = L::bias();
  UNROLL for (int r = 0; r < held; r++) {
    handed<L> to;
    UNROLL for (int c = 0; c < 4; c++) {
      N of_v = fell.v[r][c] - falling.v[r][c], of_x = falling.x[r][c] - fell.x[r][c];
      N of_y = falling.y[r][c] - fell.y[r][c], of_xy = fell.xy[r][c] - falling.xy[r][c];
      if (c == 0) of_v *= k.border, of_y *= k.border;
      hand_along_x(to, p, r, c, of_v, of_x, of_y, of_xy);
    }
    N y_in = from_lane(to.beyond_y[3], (lane - 1) & 31), v_in = from_lane(to.beyond_v[3], (lane - 1) & 31);
    if (!lane) k.s->n[slot & (slots - 1)][r] = y_in, k.s->n[slot & (slots - 1)][held + r] = v_in;
    UNROLL for (int c = 0; c < 4; c++) {
      N of_y = c ? to.to_y[c] + to.beyond_y[c - 1] : L::fma(y_in, k.inner, to.to_y[0]);
      N of_v = c ? to.to_v[c] + to.beyond_v[c - 1] : L::fma(v_in, k.inner, to.to_v[0]);
      add_and_hand_down<L, T>(p, r, c, of_v, of_y, down[c], k.nowhere, h, l);
    }
  }
  UNROLL for (int c = 0; c < 4; c++) add<T>(p.v[held][c], down[c], k.nowhere, h, l);
  settle<T>(h, p.v);
}

// Counts the seam of planes from … to − 1, at most 32, one per lane.
template <class L, class T, class H>
inlined void count_seam(const counting<L> &k, int from, int to, const H &h, const ladder &l) {
  typedef typename L::number N;
  if (planted(fault::halo)) return;
  sync_warp();
  int slot = from + (thread_x() & 31);
  if (slot < to) {
    const auto &v = k.s->v[slot & (slots - 1)];
    const auto &n = k.s->n[slot & (slots - 1)];
    N down = L::bias();
    UNROLL for (int r = 0; r < held; r++) {
      N mine = L::equal(L::least(v[r], v[r + 1]), v[r]);
      add<T>(v[r], L::fma(n[r], mine, n[held + r] + down), k.nowhere, h, l);
      down = L::fma(-n[r], mine, n[r]) + L::bias();
    }
    add<T>(v[held], down, k.nowhere, h, l);
    settle<T>(h, v);
  }
  sync_warp();
}

// The rows that a thread reads, and the column beyond the warp's: lanes 0 to held − 1 read one row
// of it each, the others row held. Reads may lie outside of the image, and their values are then
// replaced. The host allocates enough memory around the image (impls/extrema); in a bare image, the
// addresses in the first and last planes are clamped to the image.
template <class L, class T> struct rows {
  static const int n = held * L::voxels + 1;
  const T *p, *extra;
  const T *image; // for a bare image, as is voxels
  int64 voxels;
  four_of<T> raw[n];
  T raw_extra[L::voxels];
};

inlined int second(int r, int voxels) { return voxels == 2 ? r + held : r; }

template <class L, class T>
inlined void start(rows<L, T> &in, const T *image, int width, int height, int x, int y, int z, const bounds &to) {
  int lane = thread_x() & 31;
  in.image = image, in.voxels = to.voxels;
  in.p = image + ((int64)z * height + y) * width + x;
  in.extra = in.p - 4 * lane + columns + (int64)(lane < held ? lane : held) * width;
}

// Loads the rows of the current plane, without the column beyond, and does not advance to the next
// plane.
template <int how, class L, class T> inlined void load_rows(rows<L, T> &in, int width, bool edge) {
  if ((how & bare) && edge) {
    UNROLL for (int r = 0; r < rows<L, T>::n; r++) {
      const T *p = in.p + (int64)r * width;
      if (how & fours) in.raw[r] = *(const four_of<T> *)within(p, in.image, in.voxels, 4);
      else UNROLL for (int c = 0; c < 4; c++) in.raw[r][c] = *within(p + c, in.image, in.voxels, 1);
    }
    return;
  }
  UNROLL for (int r = 0; r < rows<L, T>::n; r++) {
    const T *p = in.p + (int64)r * width;
    if (how & fours) in.raw[r] = *(const four_of<T> *)p;
    else UNROLL for (int c = 0; c < 4; c++) in.raw[r][c] = p[c];
  }
}
template <int how, class L, class T> inlined void load(rows<L, T> &in, int width, int64 plane, bool edge) {
  load_rows<how>(in, width, edge);
  UNROLL for (int i = 0; i < L::voxels; i++) {
    const T *p = in.extra + (int64)i * held * width;
    in.raw_extra[i] = *((how & bare) && edge ? within(p, in.image, in.voxels, 1) : p);
  }
  in.p += plane;
  in.extra += plane;
}

// The lanes outside of the image, as bits: bit c for the first voxel of column c, bit c + 16 for
// the second. bits is by row; extra is for the column beyond.
struct edges {
  unsigned bits[held + 1], extra;
  bool none; // no lane of the warp is outside
};
template <class L> inlined edges edges_at(int width, int height, int x, int y) {
  int lane = thread_x() & 31, beyond = x - 4 * lane + columns;
  edges e{};
  UNROLL for (int i = 0; i < L::voxels; i++) {
    UNROLL for (int r = 0; r <= held; r++) {
      int row = y + r + i * held;
      UNROLL for (int c = 0; c < 4; c++)
        if (x + c >= width || row < 0 || row >= height) e.bits[r] |= 1u << (c + 16 * i);
    }
    int row = y + lane + i * held;
    if (beyond >= width || row < 0 || row >= height) e.extra |= 1u << (16 * i);
  }
  unsigned any = 0;
  UNROLL for (int r = 0; r <= held; r++) any |= e.bits[r];
  e.none = !::any(any);
  return e;
}

// Converts plane z, which was loaded before, and starts to load the next one if more.
template <class L, class T, int how>
inlined void bring(rows<L, T> &in, plane<L> &p, const counting<L> &k, const edges &e, int z, int depth, int safe, bool more,
                   int width, int64 size, const scaling &s) {
  UNROLL for (int r = 0; r <= held; r++) lanes(p.v[r], in.raw[r], in.raw[second(r, L::voxels)], s);
  typename L::value extra = lane<L>(in.raw_extra[0], in.raw_extra[L::voxels - 1], s);
  if (more) load<how>(in, width, size, z + 1 >= safe);
  if (!e.none || z == depth) {
    unsigned all = z == depth ? 0xffffffff : 0;
    UNROLL for (int r = 0; r <= held; r++)
      UNROLL for (int c = 0; c < 4; c++) p.v[r][c] = mark(p.v[r][c], (e.bits[r] | all) >> c);
    extra = mark(extra, all);
  }
  extra = mark(extra, e.extra);
  take_least(p, extra, k.s, z);
}

// The plane before the image's first: everything is outside.
template <class L> inlined void take_outside(plane<L> &p) {
  UNROLL for (int c = 0; c < 4; c++) {
    UNROLL for (int r = 0; r < held; r++) p.x[r][c] = p.y[r][c] = p.xy[r][c] = L::outside();
    UNROLL for (int r = 0; r <= held; r++) p.v[r][c] = L::outside();
  }
}

template <class L, class T, int how, class H, class Turns>
inlined void extrema_3d(const T *image, int width, int height, int depth, int segment, const scaling &sc,
                        const ladder &l, const H &h, seam<L> *seams, Turns turns, const bounds &to = bounds{}) {
  int lane = thread_x() & 31, warp = turns.warp(), warps = turns.warps();
  const int high = held * L::voxels;
  if (planted(fault::slab)) depth--;
  int64 size = (int64)width * height;
  int across = (width + columns - 1) / columns, down = (height + high) / high;
  int groups = (down + warps - 1) / warps, segments = (depth + segment - 1) / segment;
  int items = across * groups * segments;
  for (int item; (item = turns.take(items)) < items;) {
    int tile = item % across, rest = item / across, strip = rest % groups * warps + warp;
    if (strip >= down) continue;
    int x = tile * columns + 4 * lane, first = rest / groups * segment;
    int last = first + segment < depth ? first + segment : depth;
    counting<L> k{L::times(x ? 1 : 0), L::times(lane ? 1 : 0), no_level<T>(l, L()), seams + warp};
    // Two planes take turns, so that none is copied.
    plane<L> a, b;
    falls<L> fa, fb;
    rows<L, T> in;
    edges e = edges_at<L>(width, height, x, strip * high - 1);
    int z = first ? first - 1 : 0; // the plane that is loaded
    start(in, image, width, height, x, strip * high - 1, z, to);
    load<how>(in, width, size, true);
    if (first) {
      bring<L, T, how>(in, a, k, e, z, depth, to.safe, true, width, size, sc);
      z++;
    } else {
      take_outside(a);
    }
    bring<L, T, how>(in, b, k, e, z, depth, to.safe, z + 1 < depth, width, size, sc);
    compare(fa, a, b);
    int from = first;
    for (;;) {
      z++;
      bring<L, T, how>(in, a, k, e, z, depth, to.safe, z < last && z + 1 < depth, width, size, sc);
      compare(fb, b, a);
      count<L, T>(b, fa, fb, k, z - 1, h, l);
      if (z == last) break;
      z++;
      bring<L, T, how>(in, b, k, e, z, depth, to.safe, z < last && z + 1 < depth, width, size, sc);
      compare(fa, a, b);
      count<L, T>(a, fb, fa, k, z - 1, h, l);
      if (z == last) break;
      if (z - from == 32) {
        count_seam<L, T>(k, from, z, h, l);
        from = z;
      }
    }
    count_seam<L, T>(k, from, z, h, l);
  }
  turns.end();
}
