// Many images of one shape, contiguous in memory, are counted in one launch. A block is one warp
// with its own counters, so no warp waits for another. It takes parts of images (strips of rows in
// 3D) from a queue. When the image changes, it adds its counters to the image's table, or stores
// them there if an image is one part.
//
// An image of at most 128 columns (narrow) has no column beyond a warp's. The last column never
// hands on a change: its minimum with the outside is its own value. So narrow images need no seam,
// and in 2D the warp's two tiles are two more segments of rows.
#pragma once
#include "extrema_2d.h"
#include "extrema_3d.h"

// A single part of an image, taken once, in place of a queue.
struct one_turn {
  int part;
  inlined int warp() { return 0; }
  inlined int warps() { return 1; }
  member int take(int) {
    int taken = part;
    part = 0x7fffffff;
    return taken;
  }
  inlined void end() {}
};

// The destination of the counters: one table of int32 per image, one element per level.
struct tables {
  int *first;
  int images, levels, stored; // stored: tables are stored, not added to, because an image is one part
};


inlined void clear(int counters) {
  for (int k = thread_x(); k < counters; k += 32) block_changes[k] = 0;
  sync_warp();
}

// Adds a warp's counters to the table of an image, or stores them, and clears them.
template <class T> inlined void deliver(const tables &to, int image, const ladder &l) {
  const int counters = sizeof(T) == 1 ? 256 : l.n;
  sync_warp();
  for (int k = thread_x(); k < counters; k += 32) {
    int sum = block_changes[k], whose = image;
    block_changes[k] = 0;
    if (planted(fault::image) && k >= counters - 32 && image + 1 < to.images) whose++;
    int *p = to.first + (int64)whose * to.levels + (sizeof(T) == 1 && l.lut ? l.lut[k] : k);
    if (to.stored && !planted(fault::image)) *p = sum;
    else if (sum) add_global(p, sum);
  }
  sync_warp();
}

// Turns from the queue. The next turn is requested one part ahead, but not after the last part,
// because a block waits for every request before it ends.
struct part_turns {
  int ahead;
  inlined part_turns start() {
    part_turns t{0};
    if (!thread_x()) t.ahead = (int)take_turn(&queue);
    return t;
  }
  inlined int take(part_turns &t, int turns) {
    int turn = from_lane(t.ahead, 0);
    if (!thread_x() && turn < turns) t.ahead = (int)take_turn(&queue);
    return turn;
  }
};

template <class L> inlined typename L::value column_after(typename L::value first) {
  int lane = thread_x() & 31;
  typename L::value next = from_lane(first, (lane + 1) & 31);
  return lane == 31 ? L::outside() : next;
}

// Computes the minima of a plane that ends with the warp's last column.
template <class L> inlined void take_least(plane<L> &p) {
  typename L::value beyond[held + 1];
  UNROLL for (int r = 0; r <= held; r++) beyond[r] = column_after<L>(p.v[r][0]);
  UNROLL for (int r = 0; r < held; r++) {
    UNROLL for (int c = 0; c < 4; c++) {
      p.x[r][c] = L::least(p.v[r][c], c < 3 ? p.v[r][c + 1] : beyond[r]);
      p.y[r][c] = L::least(p.v[r][c], p.v[r + 1][c]);
    }
    typename L::value y_beyond = L::least(beyond[r], beyond[r + 1]);
    UNROLL for (int c = 0; c < 4; c++) p.xy[r][c] = L::least(p.y[r][c], c < 3 ? p.y[r][c + 1] : y_beyond);
  }
}

// The constants of a thread of a narrow image.
template <class L> struct narrow {
  typename L::number left, top; // 0 in the first column (left), in the first row (top), else 1
  typename L::value nowhere;
};

// top of the voxels of a pair, by strip: 0 if the voxel's first row is the image's first, else 1.
template <class L> inlined typename L::number rows_before(int strip) {
  if constexpr (L::voxels == 2) return half2{(_Float16)(strip ? 1 : 0), 1};
  else return L::times(strip ? 1 : 0);
}

// Counts a plane as in 3D. Before the first row, the minima along y are equal to the row itself, so
// they cancel v and x there. Likewise the minima along x before the first column cancel v and y.
template <class L, class T>
inlined void count(const plane<L> &p, const falls<L> &fell, const falls<L> &falling, const narrow<L> &k, const histogram &h,
                   const ladder &l) {
  typedef typename L::number N;
  int before = (thread_x() - 1) & 31;
  N down[4];
  UNROLL for (int c = 0; c < 4; c++) down[c] = L::bias();
  UNROLL for (int r = 0; r < held; r++) {
    handed<L> to;
    UNROLL for (int c = 0; c < 4; c++) {
      N of_v = fell.v[r][c] - falling.v[r][c], of_x = falling.x[r][c] - fell.x[r][c];
      N of_y = falling.y[r][c] - fell.y[r][c], of_xy = fell.xy[r][c] - falling.xy[r][c];
      if (c == 0) of_v *= k.left, of_y *= k.left;
      if (r == 0) of_v *= k.top, of_x *= k.top;
      hand_along_x(to, p, r, c, of_v, of_x, of_y, of_xy);
    }
    N y_in = from_lane(to.beyond_y[3], before), v_in = from_lane(to.beyond_v[3], before);
    UNROLL for (int c = 0; c < 4; c++) {
      N of_y = to.to_y[c] + (c ? to.beyond_y[c - 1] : y_in), of_v = to.to_v[c] + (c ? to.beyond_v[c - 1] : v_in);
      add_and_hand_down<L, T>(p, r, c, of_v, of_y, down[c], k.nowhere, h, l);
    }
  }
  UNROLL for (int c = 0; c < 4; c++) add<T>(p.v[held][c], down[c], k.nowhere, h, l);
}

template <class L, class T, int how>
inlined void bring(rows<L, T> &in, plane<L> &p, const edges &e, int z, int depth, int safe, bool more, int width, int64 size,
                   const scaling &s) {
  UNROLL for (int r = 0; r <= held; r++) lanes(p.v[r], in.raw[r], in.raw[second(r, L::voxels)], s);
  if (more) load_rows<how>(in, width, z + 1 >= safe), in.p += size;
  if (!e.none || z == depth) {
    unsigned all = z == depth ? 0xffffffff : 0;
    UNROLL for (int r = 0; r <= held; r++)
      UNROLL for (int c = 0; c < 4; c++) p.v[r][c] = mark(p.v[r][c], (e.bits[r] | all) >> c);
  }
  take_least(p);
}

// The views of an image: narrow ones in strips of whole rows, wide ones as the kernels for a single
// image do.
template <class L, class T, int how> struct narrow_3d {
  static const int high = held * L::voxels;
  inlined int parts(int, int height, int depth, int segment) {
    return ((height + high - 1) / high) * ((depth + segment - 1) / segment);
  }
  inlined void count_part(int part, const T *image, int width, int height, int depth, int segment, const scaling &sc,
                          const ladder &l, const histogram &h, seam<L> *, const bounds &to = bounds{}) {
    int down = (height + high - 1) / high, strip = part % down, x = 4 * (thread_x() & 31), first = part / down * segment;
    if (planted(fault::slab)) depth--;
    int last = first + segment < depth ? first + segment : depth;
    if (first >= last) return;
    int64 size = (int64)width * height;
    narrow<L> k{L::times(x ? 1 : 0), rows_before<L>(strip), no_level<T>(l, L())};
    plane<L> a, b;
    falls<L> fa, fb;
    rows<L, T> in;
    edges e = edges_at<L>(width, height, x, strip * high);
    int z = first ? first - 1 : 0;
    in.p = image + ((int64)z * height + strip * high) * width + x;
    in.image = image, in.voxels = to.voxels;
    load_rows<how>(in, width, true);
    in.p += size;
    if (first) {
      bring<L, T, how>(in, a, e, z, depth, to.safe, true, width, size, sc);
      z++;
    } else {
      take_outside(a);
    }
    bring<L, T, how>(in, b, e, z, depth, to.safe, z + 1 < depth, width, size, sc);
    compare(fa, a, b);
    for (;;) {
      z++;
      bring<L, T, how>(in, a, e, z, depth, to.safe, z < last && z + 1 < depth, width, size, sc);
      compare(fb, b, a);
      count<L, T>(b, fa, fb, k, h, l);
      if (z == last) break;
      z++;
      bring<L, T, how>(in, b, e, z, depth, to.safe, z < last && z + 1 < depth, width, size, sc);
      compare(fa, a, b);
      count<L, T>(a, fb, fa, k, h, l);
      if (z == last) break;
    }
  }
};

// A row of a narrow 2D image: one segment for each voxel of a pair, in each tile.
template <class L, class T> struct narrow_rows {
  four_of<T> raw[tiles][L::voxels];
  unsigned outer[tiles];
};

template <int how, class L, class T>
inlined void load_rows(narrow_rows<L, T> &in, const T *image, int left, int width, int height, int y, int segment) {
  UNROLL for (int t = 0; t < tiles; t++) {
    in.outer[t] = 0;
    UNROLL for (int i = 0; i < L::voxels; i++) {
      int at = y + (t * L::voxels + i) * segment;
      bool inside = at >= 0 && at < height;
      if (!inside) in.outer[t] |= 1u << (16 * i);
      const T *p = image + (int64)(inside ? at : 0) * width;
      if (how & fours) in.raw[t][i] = *(const four_of<T> *)(p + columns_from<how>(0, 4, left));
      else UNROLL for (int c = 0; c < 4; c++) in.raw[t][i][c] = p[columns_from<how>(c, 1, left)];
    }
  }
}

template <class L, class T, int how>
inlined void bring(narrow_rows<L, T> &in, row<L> &p, int left, const T *image, int width, int height, int y, int segment,
                   const scaling &s) {
  UNROLL for (int t = 0; t < tiles; t++) lanes(p.v[t], in.raw[t][0], in.raw[t][L::voxels - 1], s);
  unsigned outer[tiles], any = 0;
  UNROLL for (int t = 0; t < tiles; t++) any |= outer[t] = in.outer[t];
  load_rows<how>(in, image, left, width, height, y + 2, segment);
  if (left < 4 || any)
    UNROLL for (int t = 0; t < tiles; t++) UNROLL for (int c = 0; c < 4; c++)
      p.v[t][c] = mark(p.v[t][c], c < left ? outer[t] : 0x10001);
  UNROLL for (int t = 0; t < tiles; t++) {
    typename L::value beyond = column_after<L>(p.v[t][0]);
    UNROLL for (int c = 0; c < 4; c++) p.x[t][c] = L::least(p.v[t][c], c < 3 ? p.v[t][c + 1] : beyond);
  }
}

template <class L, class T>
inlined void count(const row<L> &p, const row_falls<L> &fell, const row_falls<L> &falling, const narrow<L> &k,
                   const histogram &h, const ladder &l) {
  typedef typename L::number N;
  UNROLL for (int t = 0; t < tiles; t++) {
    N to_v[4], beyond_v[4];
    UNROLL for (int c = 0; c < 4; c++) {
      N of_v = falling.v[t][c] - fell.v[t][c], of_x = fell.x[t][c] - falling.x[t][c];
      N whose = planted(fault::owner) ? L::times(1) : L::equal(p.x[t][c], p.v[t][c]);
      if (planted(fault::sign)) of_x = -of_x;
      if (c == 0) of_v *= k.left;
      to_v[c] = L::fma(of_x, whose, of_v) + L::bias();
      beyond_v[c] = L::fma(-of_x, whose, of_x);
    }
    N v_in = from_lane(beyond_v[3], (thread_x() - 1) & 31);
    UNROLL for (int c = 0; c < 4; c++) add<T>(p.v[t][c], to_v[c] + (c ? beyond_v[c - 1] : v_in), k.nowhere, h, l);
  }
}

template <class L, class T, int how> struct narrow_2d {
  inlined int parts(int, int, int height, int segment) {
    return (height + tiles * L::voxels * segment - 1) / (tiles * L::voxels * segment);
  }
  inlined void count_part(int part, const T *image, int width, int, int height, int segment, const scaling &s,
                          const ladder &l, const histogram &h, seam<L> *, const bounds & = bounds{}) {
    if (planted(fault::slab)) height--;
    int x = 4 * (thread_x() & 31), first = part * tiles * L::voxels * segment, last = first + segment, left = width - x;
    narrow<L> k{L::times(x ? 1 : 0), L::times(1), no_level<T>(l, L())};
    image += x;
    row<L> a, b;
    row_falls<L> fa, fb;
    narrow_rows<L, T> in, then;
    int y = first - 1;
    load_rows<how>(in, image, left, width, height, y, segment);
    load_rows<how>(then, image, left, width, height, y + 1, segment);
    bring<L, T, how>(in, a, left, image, width, height, y, segment, s);
    y++;
    bring<L, T, how>(then, b, left, image, width, height, y, segment, s);
    compare(fa, a, b);
    for (;;) {
      y++;
      bring<L, T, how>(in, a, left, image, width, height, y, segment, s);
      compare(fb, b, a);
      count<L, T>(b, fa, fb, k, h, l);
      if (y == last) break;
      y++;
      bring<L, T, how>(then, b, left, image, width, height, y, segment, s);
      compare(fa, a, b);
      count<L, T>(a, fb, fa, k, h, l);
      if (y == last) break;
    }
  }
};

template <class L, class T, int how> struct wide_3d {
  inlined int parts(int width, int height, int depth, int segment) {
    const int high = held * L::voxels;
    return ((width + columns - 1) / columns) * ((height + high) / high) * ((depth + segment - 1) / segment);
  }
  inlined void count_part(int part, const T *image, int width, int height, int depth, int segment, const scaling &s,
                          const ladder &l, const histogram &h, seam<L> *seams, const bounds &to = bounds{}) {
    extrema_3d<L, T, how>(image, width, height, depth, segment, s, l, h, seams, one_turn{part}, to);
  }
};
template <class L, class T, int how> struct wide_2d {
  inlined int parts(int width, int, int height, int segment) {
    return ((width + tiles * columns - 1) / (tiles * columns)) * ((height + L::voxels * segment - 1) / (L::voxels * segment));
  }
  inlined void count_part(int part, const T *image, int width, int one, int height, int segment, const scaling &s,
                          const ladder &l, const histogram &h, seam<L> *seams, const bounds &to = bounds{}) {
    extrema_2d<L, T, how>(image, width, one, height, segment, s, l, h, seams, one_turn{part});
  }
};

template <class View, class L, class T>
inlined void extrema_batch(const T *batch, int64 voxels, int width, int height, int slices, int segment, const scaling &s,
                           const ladder &l, const tables &to, seam<L> *seams) {
  const int counters = sizeof(T) == 1 ? 256 : l.n;
  clear(counters);
  histogram h{0, shared_address(block_changes), counters, 1};
  int parts = View::parts(width, height, slices, segment), image = -1;
  part_turns turns = part_turns::start();
  for (int turn; (turn = part_turns::take(turns, to.images * parts)) < to.images * parts;) {
    int next = turn / parts;
    if (next != image && image >= 0) deliver<T>(to, image, l);
    image = next;
    View::count_part(turn - next * parts, batch + next * voxels, width, height, slices, segment, s, l, h, seams);
  }
  if (image >= 0) deliver<T>(to, image, l);
  block_turns::end();
}

// Blocks of one warp for which a multiprocessor has enough registers.
enum { narrow_2d_blocks = 16, narrow_3d_blocks = 12, wide_2d_blocks = 12, wide_3d_blocks = 12 };

#define BATCH(name, dim, view, L, T, aligned)                                                                          \
  extern "C" __global__ __attribute__((launch_bounds(32, view##_##dim##_blocks)))                                      \
  void ecc_extrema_batch##name##_##dim##_##T(                                                                          \
      const T *batch, int64 voxels, int images, int width, int height, int slices, int segment, int stored,            \
      float32 scale, float32 offset, unsigned bias, int levels, int least, int affine, float32 lo, float32 inverse,    \
      const int *lut, const float32 *values, int *first, int) {                                                        \
    __shared__ seam<L> seams[1];                                                                                       \
    ladder l{levels, least, affine, lo, inverse, lut, values};                                                         \
    extrema_batch<view##_##dim<L, T, aligned>, L, T>(batch, voxels, width, height, slices, segment,                    \
                                                     scaling{scale, offset, bias}, l,                                  \
                                                     tables{first, images, levels, stored}, seams);                    \
  }
#ifdef NARROW_ONLY
#define BATCHES(dim, T) BATCH(_narrow, dim, narrow, pair, T, true)
#else
#define BATCHES(dim, T)                                                                  \
  BATCH(_narrow, dim, narrow, pair, T, true) BATCH(, dim, wide, pair, T, true) BATCH(_unaligned, dim, wide, pair, T, false)
#endif
#define BATCHES_OF_SINGLES(T) \
  BATCH(_single, 2d, wide, single, T, false) BATCH(_single, 3d, wide, single, T, false) STRAYS(T)
