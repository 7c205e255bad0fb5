// faces:    each triangle of each tetrahedron into a table, where a second one meets the first
// join:     a forest of the vertices, joined along the edges of tetrahedra
// boundary: a list of the triangles that have only one tetrahedron
// edges:    their edges into a table, where a second triangle meets the first: corners that share an
//           edge are joined, and the vertices of each triangle are joined in a second forest
// count:    roots, and vertices of the boundary
//
// Betti numbers of tetrahedra in space (doc/homology.md, Delfinado and Edelsbrunner 1995). A table
// uses open addressing. Two bits of a word are the sides of the triangle on which a tetrahedron was
// seen, 32 bits are of the hash, and 30 bits locate the vertices, which are compared for equality.
// Only the positions of words depend on the order of the threads.
#include "words.h"

// The counters.
enum { components, boundary, borders, surfaces, fans, matched, not_in_space, not_a_surface, flat, counters };

inlined word mixed(word h) {
  h ^= h >> 32, h *= 0xd6e8feb86659fd93, h ^= h >> 32, h *= 0xd6e8feb86659fd93;
  return h ^ h >> 32;
}
inlined word hash(unsigned a, unsigned b, unsigned c) { return mixed(mixed((word)a << 32 | b) + c); }

inlined void order(unsigned &a, unsigned &b, bool &mirrored) {
  if (a < b) return;
  unsigned c = a;
  a = b, b = c, mirrored = !mirrored;
}
inlined quad ascending(quad v, bool &mirrored) {
  unsigned a = v[0], b = v[1], c = v[2], d = v[3];
  order(a, b, mirrored), order(c, d, mirrored), order(a, c, mirrored), order(b, d, mirrored), order(b, c, mirrored);
  return quad{a, b, c, d};
}
inlined void without(quad v, int out, unsigned (&t)[3]) {
  t[0] = out > 0 ? v[0] : v[1], t[1] = out > 1 ? v[1] : v[2], t[2] = out > 2 ? v[2] : v[3];
}
// The vertices of triangle f: that of tetrahedron f / 4 without its vertex f % 4, in ascending
// order.
inlined void triangle(const quad *tets, unsigned f, unsigned (&t)[3]) {
  bool any = false;
  without(ascending(tets[f >> 2], any), f & 3, t);
}

enum { index_bits = 30, both = 3 };
inlined unsigned sides_of(word w) { return (unsigned)(w >> 62); }
inlined unsigned tag_of(word w) { return (unsigned)(w >> index_bits); }
inlined unsigned index_of(word w) { return (unsigned)w & ((1u << index_bits) - 1); }
inlined word word_of(unsigned sides, unsigned tag, unsigned index) { return (word)sides << 62 | (word)tag << index_bits | index; }

// Inserts a word into a table, unless an equal one is there. Returns the index of the equal word,
// or its own. before receives the sides that were seen before.
template <class Same> inlined unsigned meet(word *table, unsigned size, word h, unsigned sides, unsigned index, unsigned &before, Same same) {
  unsigned tag = (unsigned)(h >> 32), at = (unsigned)((h & 0xffffffff) * size >> 32);
  word mine = word_of(sides, tag, index), seen = fresh(table + at);
  for (;;) {
    if (!seen) {
      seen = compare_swap_global(table + at, 0, mine);
      if (!seen) return before = 0, index;
    }
    if (tag_of(seen) == tag && same(index_of(seen))) {
      before = sides_of(seen);
      if (before & sides) return index_of(seen);
      word old = compare_swap_global(table + at, seen, seen | (word)sides << 62);
      if (old == seen) return index_of(seen);
      seen = old;
      continue;
    }
    at = at + 1 == size ? 0 : at + 1;
    seen = fresh(table + at);
  }
}

// The side of the first three vertices on which the last one is: 1 or −1; or 0 if rounding errors
// could matter.
inlined int orientation(const double *points, quad v) {
  double p[4][3];
  UNROLL for (int i = 0; i < 4; i++)
    UNROLL for (int k = 0; k < 3; k++) p[i][k] = points[3 * (int64)v[i] + k] - (i ? p[0][k] : 0);
  double x = p[1][1] * p[2][2], y = p[1][2] * p[2][0], z = p[1][0] * p[2][1];
  double x2 = p[1][2] * p[2][1], y2 = p[1][0] * p[2][2], z2 = p[1][1] * p[2][0];
  double det = (x - x2) * p[3][0] + (y - y2) * p[3][1] + (z - z2) * p[3][2];
  // The rounding error of the sum is less than some units in the last place of its terms.
  double bound = 1e-14 * ((__builtin_fabs(x) + __builtin_fabs(x2)) * __builtin_fabs(p[3][0]) +
                          (__builtin_fabs(y) + __builtin_fabs(y2)) * __builtin_fabs(p[3][1]) +
                          (__builtin_fabs(z) + __builtin_fabs(z2)) * __builtin_fabs(p[3][2]));
  return det > bound ? 1 : det < -bound ? -1 : 0;
}

// One thread per tetrahedron. Tetrahedra whose orientation rounding hides are listed in hidden. If
// exact is set, found has their orientations, 1 or 2.
extern "C" __global__ void homology_duality_faces(const quad *tets, unsigned n, const double *points, unsigned *hidden, const uint8 *found,
                                                  int exact, word *table, unsigned size, unsigned *parent, unsigned *count) {
  unsigned t = this_thread();
  if (t >= n) return;
  quad v = tets[t];
  int o = orientation(points, v);
  bool mirrored = o < 0;
  UNROLL for (int k = 0; k < 4; k++) parent[v[k]] = v[k];
  if (!o && !exact) {
    hidden[fetch_add_global(count + flat, 1)] = t;
    return;
  }
  if (!o) mirrored = found[t] == 2;
  v = ascending(v, mirrored);
  UNROLL for (int k = 0; k < 4; k++) {
    unsigned f[3], before, side = mirrored != (k & 1) ? 1 : 2;
    without(v, k, f);
    meet(table, size, hash(f[0], f[1], f[2]), side, 4 * t + k, before, [&](unsigned other) {
      unsigned g[3];
      triangle(tets, other, g);
      return f[0] == g[0] && f[1] == g[1] && f[2] == g[2];
    });
    if (before & side) put(count + not_in_space, 4 * t + k + 1);
  }
}

extern "C" __global__ void homology_duality_join(const quad *tets, unsigned n, unsigned *parent) {
  unsigned t = this_thread();
  if (t >= n) return;
  quad v = tets[t];
  join(parent, v[0], v[1]);
  join(parent, v[0], v[2]);
  join(parent, v[0], v[3]);
}

// Lists the triangles of a table that have a tetrahedron on one side only.
extern "C" __global__ void homology_duality_boundary(const quad *tets, const word *table, unsigned size, unsigned *list, unsigned *border,
                                                     unsigned *corner, unsigned *count) {
  unsigned step = all_threads();
  for (unsigned first = this_thread() & ~31u; first < size; first += step) {
    unsigned i = first + (thread_x() & 31);
    word w = i < size ? table[i] : 0;
    bool alone = w && sides_of(w) != both;
    if (planted(fault::last) && i > size / 2) alone = false;
    unsigned at = append(count + boundary, alone);
    if (!alone) continue;
    list[at] = index_of(w);
    unsigned v[3];
    triangle(tets, index_of(w), v);
    UNROLL for (int k = 0; k < 3; k++) border[v[k]] = v[k], corner[3 * at + k] = 3 * at + k;
  }
}

// The part of a table that the edges of the boundary need: each edge has at least two triangles.
inlined unsigned edge_places(const unsigned *count, unsigned most) {
  word n = 3ull * count[boundary] + 1;
  return n < most ? (unsigned)n : most;
}
extern "C" __global__ void homology_duality_clear(word *table, unsigned most, const unsigned *count) {
  unsigned size = edge_places(count, most);
  for (unsigned i = this_thread(); i < size; i += all_threads()) table[i] = 0;
}

extern "C" __global__ void homology_duality_edges(const quad *tets, const unsigned *list, word *table, unsigned most, unsigned *border,
                                                  unsigned *corner, unsigned *count) {
  unsigned n = count[boundary], size = edge_places(count, most);
  for (unsigned i = this_thread(); i < n; i += all_threads()) {
    unsigned v[3];
    triangle(tets, list[i], v);
    join(border, v[0], v[1]);
    join(border, v[0], v[2]);
    UNROLL for (unsigned k = 0; k < 3; k++) {
      unsigned low = k == 0 ? 1 : 0, high = k == 2 ? 1 : 2, a = v[low], b = v[high], before = 0, w[3];
      // The first triangle sets one bit, the second one sets the other bit; a third one finds both
      // set.
      unsigned mine = 3 * i + k;
      auto same = [&](unsigned other) {
        triangle(tets, list[other / 3], w);
        unsigned l = other % 3 == 0 ? 1 : 0, h = other % 3 == 2 ? 1 : 2;
        return w[l] == a && w[h] == b;
      };
      unsigned other = meet(table, size, hash(a, b, ~0u), 1, mine, before, same);
      if (other == mine) continue;
      if (before == 1) other = meet(table, size, hash(a, b, ~0u), 2, mine, before, same);
      if (before != 1) {
        put(count + not_a_surface, mine + 1);
        continue;
      }
      unsigned l = other % 3 == 0 ? 1 : 0, h = other % 3 == 2 ? 1 : 2;
      join(corner, 3 * i + low, other / 3 * 3 + l);
      if (!planted(fault::corner)) join(corner, 3 * i + high, other / 3 * 3 + h);
      fetch_add_global(count + matched, 1);
    }
  }
}

// Counts roots and the vertices of the boundary. Sums are formed by block first.
extern "C" __global__ void homology_duality_count(const unsigned *parent, const unsigned *border, unsigned vertices, const unsigned *corner,
                                                  unsigned *count) {
  if (thread_x() < counters) block_changes[thread_x()] = 0;
  __syncthreads();
  int roots = 0, there = 0, parts = 0, tips = 0;
  for (unsigned v = this_thread(); v < vertices; v += all_threads()) {
    roots += parent[v] == v || (planted(fault::unused) && parent[v] == ~0u);
    there += border[v] != ~0u;
    parts += border[v] == v;
  }
  unsigned ends = 3 * count[boundary];
  for (unsigned c = this_thread(); c < ends; c += all_threads()) tips += corner[c] == c;
  unsigned at = shared_address(block_changes);
  add_shared_unless_0(at + 4 * components, roots);
  add_shared_unless_0(at + 4 * borders, there);
  add_shared_unless_0(at + 4 * surfaces, parts);
  add_shared_unless_0(at + 4 * fans, tips);
  __syncthreads();
  if (thread_x() < counters && block_changes[thread_x()]) fetch_add_global(count + thread_x(), block_changes[thread_x()]);
}
