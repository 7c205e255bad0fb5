// begin:   label[p] = the first neighbour before p with the same membership, or p itself
// flatten: label[p] = the root of p
// link:    for each neighbour before p with the same membership: join the roots of both
// count:   the number of roots in the set, and in the background
//
// Labels of all voxels, of the set and of the background, in the same array (Komura 2015, Playne
// and Hawick 2018): the usual method of programs that need labels. The label of a voxel is its
// number plus one; label 0 is the outside of the box. χ is counted from the eight voxels around
// each vertex.
#include "../swap.h"

enum { components, cavities, characteristic, sums, copies = 32 };

template <class T, class L> struct image {
  const T *voxels;
  int w, h, d;
  L limit;
  member bool in(int x, int y, int z) const {
    return (unsigned)x < (unsigned)w && (unsigned)y < (unsigned)h && (unsigned)z < (unsigned)d;
  }
  member int64 at(int x, int y, int z) const { return ((int64)z * h + y) * w + x; }
  member bool inside(int x, int y, int z) const { return in(x, y, z) && (L)voxels[at(x, y, z)] <= limit; }
  member int64 count() const { return (int64)w * h * d; }
  member bool side(int x, int y, int z) const { return x == 0 || x == w - 1 || y == 0 || y == h - 1 || z == 0 || z == d - 1; }
  member void place(int64 p, int &x, int &y, int &z) const {
    x = (int)(p % w), p /= w;
    y = (int)(p % h), z = (int)(p / h);
  }
  // Calls f with the label of each neighbour before a voxel that has the same membership. Returns
  // whether the voxel is in the set.
  template <class F> member bool before(int x, int y, int z, const F &f) const {
    bool mine = inside(x, y, z);
    auto one = [&](int dx, int dy, int dz) {
      if (in(x + dx, y + dy, z + dz) && inside(x + dx, y + dy, z + dz) == mine) f((unsigned)at(x + dx, y + dy, z + dz) + 1);
    };
    if (!mine) {
      if (side(x, y, z)) f(0u);
      one(0, 0, -1), one(0, -1, 0), one(-1, 0, 0);
      return mine;
    }
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++) one(dx, dy, -1);
    one(-1, -1, 0), one(0, -1, 0), one(1, -1, 0), one(-1, 0, 0);
    return mine;
  }
};

// Returns the root of a label, and halves the path to it. Concurrent writes are harmless: they only
// move labels closer to their roots. So are cached labels, which lie on the same path; all threads read
// the label of a large component.
inlined unsigned root(unsigned *labels, unsigned a) {
  for (unsigned b; (b = labels[a]) != a; a = b) {
    unsigned c = labels[b];
    if (c != b) labels[a] = c;
  }
  return a;
}

inlined void unite(unsigned *labels, unsigned a, unsigned b) {
  for (;;) {
    a = root(labels, a), b = root(labels, b);
    if (a == b) return;
    unsigned most = a > b ? a : b, least = a > b ? b : a;
    unsigned was = compare_swap_global(labels + most, most, least);
    if (was == most) return;
    a = was, b = least;
  }
}

inlined void add_all(int64 *to, int what, int v) {
  for (int k = 16; k; k >>= 1) v += from_lane(v, (thread_x() & 31) ^ k);
  if (!(thread_x() & 31) && v) add_global(to + (block_x() & (copies - 1)) * sums + what, (int64)v);
}

#define OF_ALL(p) for (int64 p = (int64)block_x() * threads() + thread_x(), step = (int64)blocks() * threads(); p < of.count(); p += step)

template <class I> inlined void begin(const I &of, unsigned *labels) {
  if (!block_x() && !thread_x()) labels[0] = 0;
  OF_ALL(p) {
    int x, y, z;
    of.place(p, x, y, z);
    unsigned first = (unsigned)p + 1;
    of.before(x, y, z, [&](unsigned label) { first = label < first ? label : first; });
    labels[p + 1] = first;
  }
}

template <class I> inlined void link(const I &of, unsigned *labels) {
  OF_ALL(p) {
    int x, y, z;
    of.place(p, x, y, z);
    of.before(x, y, z, [&](unsigned label) {
      if (labels[label] != labels[p + 1]) unite(labels, (unsigned)p + 1, label);
    });
  }
}

template <class I> inlined void count(const I &of, const unsigned *labels, int64 *out) {
  int roots = 0, holes = 0, chi = 0;
  // For each vertex: there is one more along each axis than voxels.
  int64 all = (int64)(of.w + 1) * (of.h + 1) * (of.d + 1), step = (int64)blocks() * threads();
  for (int64 p = (int64)block_x() * threads() + thread_x(); p < all; p += step) {
    int x = (int)(p % (of.w + 1)), y = (int)(p / (of.w + 1) % (of.h + 1)), z = (int)(p / (of.w + 1) / (of.h + 1));
    unsigned cube = 0;
    UNROLL for (int i = 0; i < 8; i++) cube |= (unsigned)of.inside(x - 1 + (i & 1), y - 1 + (i >> 1 & 1), z - 1 + (i >> 2)) << i;
    // The cells that begin at the vertex. A cell exists if it is a face of a voxel in the set.
    chi += !!cube - !!(cube & 0xaa) - !!(cube & 0xcc) - !!(cube & 0xf0) + !!(cube & 0x88) + !!(cube & 0xa0) + !!(cube & 0xc0) - !!(cube & 0x80);
    if (of.in(x, y, z)) {
      unsigned label = (unsigned)of.at(x, y, z) + 1;
      if (labels[label] == label) cube & 0x80 ? roots++ : holes++;
    }
  }
  add_all(out, components, roots), add_all(out, cavities, holes), add_all(out, characteristic, chi);
}

#define LABELS(T, L)                                                                                                        \
  extern "C" __global__ void betti_labels_begin_##T(const T *voxels, int w, int h, int d, L limit, unsigned *labels) {      \
    begin(image<T, L>{voxels, w, h, d, limit}, labels);                                                                     \
  }                                                                                                                         \
  extern "C" __global__ void betti_labels_link_##T(const T *voxels, int w, int h, int d, L limit, unsigned *labels) {       \
    link(image<T, L>{voxels, w, h, d, limit}, labels);                                                                      \
  }                                                                                                                         \
  extern "C" __global__ void betti_labels_count_##T(const T *voxels, int w, int h, int d, L limit, const unsigned *labels,  \
                                                    int64 *out) {                                                           \
    count(image<T, L>{voxels, w, h, d, limit}, labels, out);                                                                \
  }
LABELS(uint8, int)
LABELS(int16, int)
LABELS(uint16, int)
LABELS(float32, float32)

// Most labels become roots. A thread that halves a path at the same time may store an older ancestor.
extern "C" __global__ void betti_labels_flatten(unsigned *labels, int64 n) {
  labels += block_y() * n;
  for (int64 p = (int64)block_x() * threads() + thread_x(); p < n; p += (int64)blocks() * threads()) labels[p] = root(labels, labels[p]);
}

// Pairs of masks, one per row of the grid: the matched features (matching.h), by labels of the
// voxels of the union. With `around`, masks are the complements, connected with the outside, and voxels
// are connected if one complement has both. met is the masks that each label meets, a byte for each.
struct pair {
  const uint8 *pred, *truth;
  int w, h, d;
  bool around, corners;
  unsigned *labels;
  uint8 *met;

  member pair(const uint8 *images, int w, int h, int d, int around, int corners, unsigned *of_all, uint8 *met_of_all)
      : w(w), h(h), d(d), around(around), corners(corners) {
    pred = images + 2 * block_y() * count(), truth = pred + count();
    labels = of_all + block_y() * (count() + 1), met = met_of_all + 2 * block_y() * (count() + 1);
  }
  member int64 count() const { return (int64)w * h * d; }
  // Bit 0: the prediction has the voxel; bit 1: the truth.
  member unsigned masks(int64 p) const { return ((pred[p] ? 1u : 0) | (truth[p] ? 2u : 0)) ^ (around ? 3 : 0); }
  member void place(int64 p, int &x, int &y, int &z) const {
    x = (int)(p % w), y = (int)(p / w % h), z = (int)(p / w / h);
  }
  template <class F> member void before(int x, int y, int z, const F &f) const {
    int64 p = ((int64)z * h + y) * w + x;
    unsigned mine = masks(p), found = 0;
    if (!mine) return;
    UNROLL for (int n = 0; n < 13; n++) {
      int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1;
      bool in = (unsigned)(x + dx) < (unsigned)w && (unsigned)(y + dy) < (unsigned)h && z + dz >= 0;
      if (in && (corners || !dx + !dy + !dz == 2))
        found |= (masks(p + before(n)) & (around ? mine : 3) ? 1u : 0) << n;
    }
    bool side = x == 0 || x == w - 1 || y == 0 || y == h - 1 || (d > 1 && (z == 0 || z == d - 1));
    if (around && side) f(0u);
    NOT_UNROLLED for (; found; found &= found - 1) f((unsigned)(p + before(__builtin_ctz(found))) + 1);
  }
  // The number of a voxel's neighbour, less its own.
  member int64 before(int n) const { return ((int64)(n / 9 - 1) * h + n / 3 % 3 - 1) * w + n % 3 - 1; }
};

#define OF_PAIR(name)                                                                                                  \
  extern "C" __global__ void betti_pair_##name(const uint8 *images, int w, int h, int d, int around, int corners,      \
                                               unsigned *labels, uint8 *met, int64 *out) {                             \
    pair of(images, w, h, d, around, corners, labels, met);                                                            \
    name##_pair(of, out + block_y() * (copies * sums));                                                                \
  }

inlined void begin_pair(const pair &of, int64 *) {
  begin(of, of.labels);
  OF_ALL(p) of.met[2 * p + 2] = of.met[2 * p + 3] = 0;
}
inlined void link_pair(const pair &of, int64 *) { link(of, of.labels); }
// Of the complements only voxels in both count, where components of both overlap.
inlined void meet_pair(const pair &of, int64 *) {
  OF_ALL(p) {
    unsigned by = of.masks(p);
    if (of.around && by != 3) continue;
    for (int i = 0; i < 2; i++) {
      uint8 &met = of.met[2 * (int64)root(of.labels, p + 1) + i];
      if (by >> i & 1 && !met) met = 1;
    }
  }
}
inlined void count_pair(const pair &of, int64 *out) {
  int matched = 0, differ = 0;
  OF_ALL(p) {
    matched += of.labels[p + 1] == p + 1 && of.met[2 * p + 2] && of.met[2 * p + 3];
    differ += !of.around && of.masks(p) % 3;
  }
  add_all(out, of.around, matched), add_all(out, 2, differ);
}
OF_PAIR(begin)
OF_PAIR(link)
OF_PAIR(meet)
OF_PAIR(count)

// Adds the copies of the sums of each pair.
extern "C" __global__ void betti_pair_numbers(const int64 *all, int64 *numbers) {
  if (thread_x()) return;
  for (int i = 0; i < copies * sums; i++) {
    int64 *to = numbers + block_y() * sums + i % sums, sum = all[block_y() * (copies * sums) + i];
    *to = i < sums ? sum : *to + sum;
  }
}
