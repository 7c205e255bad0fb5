// for each component, tile of columns and rows, and run of planes: for each plane that arrives:
//   for each of the steps k: compute the plane k below, from three planes of the previous step
//
// Several steps of the gradient vector flow in 3D at once. A block has a tile of 64 columns and the
// rows of its warps, and streams along z. A thread has a few rows of four columns. For each step
// except the last, it keeps the two planes below the arriving one in registers. It passes its outer
// rows to neighbouring threads through shared memory, in two buffers that alternate. So a warp
// synchronizes only with its two neighbours, once per arriving plane for all steps. V, V0 and b are
// copied ahead.
//
// The edges of a tile become invalid, by one voxel per step, so tiles overlap by that much. At a
// border of the field, where the voxel beyond the border is the one at it, a tile is valid up to
// its edge. With the other boundary condition, or in a field smaller than a tile, the field is
// mirrored beyond its borders, which has the same effect as the boundary condition, so no step
// checks its position.
#pragma once
#include "blocked.h"

// An axis of n in tiles of size `of`, with margins: whether tiles end at its borders, the number of
// tiles, and their starts.
template <int of, int margin> struct tiles {
  bool within;
  int n;
  member tiles(const shape &s, int n, int at_once) : within(!s.third && n >= of && n % at_once == 0), n(n) {}
  member int many() const { return ((within ? n - 2 * margin : n) + of - 2 * margin - 1) / (of - 2 * margin); }
  member int begin(int i) const { return within ? shape::least(i * (of - 2 * margin), n - of) : i * (of - 2 * margin) - margin; }
  // Whether place i of a tile that begins at from is valid after all steps.
  member bool right(int from, int i) const {
    return i >= (within && from == 0 ? 0 : margin) && i < (within && from + of == n ? of : of - margin) && from + i < n;
  }
};

// The columns of a tile: anywhere; in the field, and ending at one of its borders; or in the field,
// away from its borders.
enum place { anywhere, at_border, inside };

template <int depth, int rows, int warps, int ahead, class Kept> struct blocked_3d {
  typedef typename Kept::value value;
  enum {
    width = 64, height = 2 * rows * warps, plane = width * height, // of a tile
    margin = 4, // at the tile's edges: at least the number of steps, and whole groups of four
    // The rings. V: the plane of the previous turn, the current one, and those ahead. V0 and b: one
    // more, because later steps need them.
    v_slots = 2 + ahead, slots = 3 + ahead, line_bytes = width * (int)sizeof(value), kept_plane = height * line_bytes, wide_plane = 4 * plane,
    v_ring = 0, v0_ring = v_slots * kept_plane, b_ring = v0_ring + slots * kept_plane, exchange = b_ring + slots * wide_plane,
    bytes = exchange + 2 * (depth - 1) * wide_plane,
    pairs = depth / 2, size = (int)sizeof(value),
  };
  static_assert(depth <= margin && depth <= 4, "a step needs what is no longer there");

  float32 mu;
  int own, north, south;                    // places in a plane, in values
  bool leftmost, rightmost;                 // the thread's columns are the first, last ones of the tile
  quad kept[depth][2][rows];                // two planes of each step, which alternate as the lower one
  typename Kept::four v0s[pairs + 1][rows]; // V0 of the next plane of each even step
  quad bs[pairs + 1][rows];                 // b of the same planes

  // Synchronizes with the warps of the neighbouring rows only, by one barrier for each pair of
  // warps.
  member static void meet() {
#ifdef ON_HOST
    __syncthreads();
#else
    const int warp = thread_x() >> 5;
    UNROLL for (int i = 0; i < 2; i++) {
      int lower = warp - ((warp + i) & 1), both = lower >= 0 && lower < warps - 1 ? 64 : 32; // no neighbour at the ends
      asm volatile("bar.sync %0, %1;" ::"r"(lower + 1), "r"(both) : "memory");
    }
#endif
  }

  // Processes an arriving plane: step k computes the plane that is k below. Rows are passed on at
  // the end, so that no load waits for a store.
  template <int odd, place where> member void turn(int now, int before, quad (&comes)[rows]) {
    typename Kept::four v0[rows];
    quad b[rows];
    UNROLL for (int k = 1; k <= depth; k++) {
      quad up, down, made[rows];
      if (k == 1) {
        const int ring = v_ring + before * kept_plane;
        up = in_shared<Kept>(ring + size * north), down = in_shared<Kept>(ring + size * south);
      } else {
        const int plane_before = exchange + (2 * (k - 2) + 1 - odd) * wide_plane;
        up = in_shared<in_float32>(plane_before + 4 * north), down = in_shared<in_float32>(plane_before + 4 * south);
      }
      UNROLL for (int r = 0; r < rows; r++) {
        quad v0_k, b_k;
        if (k % 2) {
          int slot = back<slots>(now, k + planted(fault::ring)), at = own + r * width;
          v0[r] = as_kept<Kept>(v0_ring + slot * kept_plane + size * at), v0_k = Kept::wide(v0[r]), b[r] = b_k = in_shared<in_float32>(b_ring + slot * wide_plane + 4 * at);
        } else {
          v0_k = Kept::wide(v0s[k / 2][r]), b_k = bs[k / 2][r];
          v0s[k / 2][r] = v0[r], bs[k / 2][r] = b[r];
        }
        const quad *here = kept[k - 1][1 - odd], &below = kept[k - 1][odd][r], &v = here[r];
        const quad &n = r ? here[r - 1] : up, &m = r < rows - 1 ? here[r + 1] : down;
        beside x(v);
        float32 row[6] = {x.left, v[0], v[1], v[2], v[3], x.right};
        if (where == at_border && leftmost) row[0] = v[0];
        if (where == at_border && rightmost) row[5] = v[3];
        UNROLL for (int i = 0; i < 4; i++) {
          float32 sum = plus(plus(plus(row[i], row[i + 2]), plus(n[i], m[i])), plus(below[i], comes[r][i]));
          made[r][i] = stepped<6>(v[i], sum, v0_k[i], b_k[i], mu);
        }
        if (k < depth) made[r] = rounded<Kept>(made[r]);
      }
      UNROLL for (int r = 0; r < rows; r++) {
        kept[k - 1][odd][r] = comes[r];
        comes[r] = made[r];
      }
    }
    UNROLL for (int k = 1; k < depth; k++) UNROLL for (int r = 0; r < rows; r += rows > 1 ? rows - 1 : 1) {
      *(quad *)((char *)block_changes + exchange + (2 * (k - 1) + odd) * wide_plane + 4 * (own + r * width)) = kept[k][odd][r];
    }
  }

  // The slot k before slot, in a ring of `of` slots.
  template <int of> member static int back(int slot, int k) { return slot < k ? slot - k + of : slot - k; }

  // Computes the block's tile for planes first ≤ z < last of a component.
  template <place where> member void run(const value *v, const value *v_0, const float32 *b, value *to, const shape &s, int x0, int y0, int first, int last) {
    const tiles<width, margin> columns_of(s, s.w, 4);
    const tiles<height, margin> rows_of(s, s.h, 1);
    int lane = thread_x() & 31, column = 4 * (lane & 15), line = (2 * (thread_x() >> 5) + (lane >> 4)) * rows;
    own = line * width + column;
    north = own - (line > 0 ? width : 0), south = own + (line + rows < height ? rows : rows - 1) * width;
    leftmost = column == 0, rightmost = column == width - 4;
    columns<where != anywhere> x(s, x0 + column);
    int row[rows];
    UNROLL for (int r = 0; r < rows; r++) {
      row[r] = s.mirrored(y0 + line + r, s.h) * s.w;
      UNROLL for (int k = 0; k < depth; k++) kept[k][0][r] = kept[k][1][r] = quad{};
      UNROLL for (int k = 0; k <= pairs; k++) v0s[k][r] = {}, bs[k][r] = quad{};
    }
    // Copies a plane of V or V0, and of b.
    auto copy = [&](int ring, int slot, const value *from) {
      UNROLL for (int r = 0; r < rows; r++) x.template copy<Kept>(ring + slot * kept_plane + size * (own + r * width), from + row[r]);
    };
    auto copy_wide = [&](int ring, int slot, const float32 *from) {
      UNROLL for (int r = 0; r < rows; r++) x.template copy<in_float32>(ring + slot * wide_plane + 4 * (own + r * width), from + row[r]);
    };
    auto plane_of = [&](int turn) { return s.mirrored(first - depth + turn, s.d) * s.plane(); };
    bool mine = columns_of.right(x0, column) && !(planted(fault::edge) && column == width - margin - 4);
    auto store_of = [&](int turn, const quad (&made)[rows]) {
      int z = first - 2 * depth + turn;
      if (!mine || z < first || z >= last) return;
      UNROLL for (int r = 0; r < rows; r++) {
        if (!rows_of.right(y0, line + r)) continue;
        store<where != anywhere, Kept>(to + z * s.plane() + (int64)(y0 + line + r) * s.w, x0 + column, s.w, made[r]);
      }
    };
    // V0 and b of a plane are requested together with the next plane of V.
    int64 at = plane_of(0);
    int v_next = 0, next = 0; // the slots that are filled next
    auto ask = [&](int turn) {
      copy(v0_ring, next, v_0 + at);
      copy_wide(b_ring, next, b + at);
      next = next + 1 < slots ? next + 1 : 0;
      at = plane_of(turn + ahead);
      copy(v_ring, v_next, v + at);
      v_next = v_next + 1 < v_slots ? v_next + 1 : 0;
      end_of_copies();
    };
    copy(v_ring, v_next++, v + at);
    end_of_copies();
    UNROLL for (int t = 1 - ahead; t < 0; t++) ask(t);
    int come = 0, now = 0; // the current slots, of V and of V0 and b
    quad made[rows];
    auto begin = [&](int turn) {
      wait_for_copies<ahead - 1>();
      UNROLL for (int r = 0; r < rows; r++) made[r] = in_shared<Kept>(v_ring + come * kept_plane + size * (own + r * width));
      meet();
      ask(turn);
    };
    auto end = [&](int turn) {
      store_of(turn, made);
      come = come + 1 < v_slots ? come + 1 : 0, now = now + 1 < slots ? now + 1 : 0;
    };
    for (int t = 0; t < last - first + 2 * depth; t += 2) {
      begin(t);
      turn<0, where>(now, back<v_slots>(come, 1), made);
      end(t);
      begin(t + 1);
      turn<1, where>(now, back<v_slots>(come, 1), made);
      end(t + 1);
    }
    wait_for_copies<0>();
  }

  // Computes the block's part. The components of a tile have consecutive block numbers, because
  // they share b.
  member static void part(const value *v, const value *v_0, const float32 *b, value *to, const shape &s, float32 mu, int planes) {
    const tiles<width, margin> columns(s, s.w, 4);
    const tiles<height, margin> rows_of(s, s.h, 1);
    int across = columns.many(), down = rows_of.many(), tile = block_x() / 3, c = block_x() % 3;
    int first = tile / (across * down) * planes;
    tile %= across * down;
    int64 from = c * s.voxels();
    blocked_3d k;
    k.mu = mu;
    int x0 = columns.begin(tile % across), y0 = rows_of.begin(tile / across), last = shape::least(first + planes, s.d);
    if (!columns.within) k.template run<anywhere>(v + from, v_0 + from, b, to + from, s, x0, y0, first, last);
    else if (x0 == 0 || x0 + width == s.w) k.template run<at_border>(v + from, v_0 + from, b, to + from, s, x0, y0, first, last);
    else k.template run<inside>(v + from, v_0 + from, b, to + from, s, x0, y0, first, last);
  }
};
