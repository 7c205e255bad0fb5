// for each component, tile of columns and rows, and run of planes: for each plane that comes:
//   for each of the steps: make the plane that many below, of three of the step before
//
// Steps of the gradient vector flow in 3D, several together. A block has a tile of 64 columns
// and the rows of its warps, and streams along z. A thread has a few rows of four columns: of
// each step but the last it keeps in registers the two planes below the one that comes, and
// hands rows on to the threads beside it through shared memory, in two planes in turn, so that
// there is one barrier for each plane that comes, however many steps. V, V0 and b come by copies
// that run ahead. At the edges of a tile values are wrong, one further in with each step, and
// tiles overlap by that. Beyond its borders a field is mirrored, which is what the boundary comes
// to, so that no step looks where it is.
#pragma once
#include "blocked.h"

template <int depth, int rows, int warps> struct blocked_3d {
  enum {
    width = 64, height = 2 * rows * warps, plane = width * height, // of a tile
    margin = 4, // at its edges: as many as there are steps, and whole quads
    wide = width - 2 * margin, high = height - 2 * margin,
    // The rings: of V the plane of the last turn, of this one and of the next one; of V0 and b
    // four in a row.
    v_slots = 3, slots = 4,
    v_ring = 0, v0_ring = v_slots * plane, b_ring = v0_ring + slots * plane, exchange = b_ring + slots * plane,
    words = exchange + 2 * (depth - 1) * plane,
    pairs = depth / 2,
  };
  static_assert(depth <= margin && depth <= slots, "a step needs what is no longer there");

  float32 mu;
  int own, north, south;                      // places in a plane, in words
  quad kept[depth][2][rows];                  // of each step two planes, in turn the lower one
  quad v0s[pairs + 1][rows], bs[pairs + 1][rows]; // V0 and b of the next plane of the second of two steps

  // A plane comes: step k makes the one that is k below. It is handed on where the turn's is.
  template <int odd> member void turn(int turn, int come, int before, quad (&comes)[rows]) {
    quad v0[rows], b[rows];
    UNROLL for (int r = 0; r < rows; r++) comes[r] = in_shared(v_ring + come * plane + own + r * width);
    UNROLL for (int k = 1; k <= depth; k++) {
      const int before_that = k == 1 ? v_ring + before * plane : exchange + (2 * (k - 2) + 1 - odd) * plane;
      quad up = in_shared(before_that + north), down = in_shared(before_that + south), made[rows];
      UNROLL for (int r = 0; r < rows; r++) {
        quad v0_k, b_k;
        if (k % 2) {
          int at = ((turn - k - planted(fault::ring)) & (slots - 1)) * plane + own + r * width;
          v0[r] = v0_k = in_shared(v0_ring + at), b[r] = b_k = in_shared(b_ring + at);
        } else {
          v0_k = v0s[k / 2][r], b_k = bs[k / 2][r];
          v0s[k / 2][r] = v0[r], bs[k / 2][r] = b[r];
        }
        const quad *here = kept[k - 1][1 - odd], &below = kept[k - 1][odd][r], &v = here[r];
        const quad &n = r ? here[r - 1] : up, &m = r < rows - 1 ? here[r + 1] : down;
        beside x(v);
        float32 row[6] = {x.left, v[0], v[1], v[2], v[3], x.right};
        UNROLL for (int i = 0; i < 4; i++) {
          float32 sum = plus(plus(plus(row[i], row[i + 2]), plus(n[i], m[i])), plus(below[i], comes[r][i]));
          made[r][i] = stepped<6>(v[i], sum, v0_k[i], b_k[i], mu);
        }
      }
      UNROLL for (int r = 0; r < rows; r++) {
        kept[k - 1][odd][r] = comes[r];
        comes[r] = made[r];
        if (k < depth && (r == 0 || r == rows - 1)) *(quad *)&block_changes[exchange + (2 * (k - 1) + odd) * plane + own + r * width] = made[r];
      }
    }
  }

  // The block's tile, of planes first ≤ z < last of a component.
  member void run(const float32 *v, const float32 *v_0, const float32 *b, float32 *to, const shape &s, int x0, int y0, int first, int last) {
    int lane = thread_x() & 31, column = 4 * (lane & 15), line = (2 * (thread_x() >> 5) + (lane >> 4)) * rows;
    own = line * width + column;
    north = own - (line > 0 ? width : 0), south = own + (line + rows < height ? rows : rows - 1) * width;
    columns x(s, x0 - margin + column);
    int row[rows];
    UNROLL for (int r = 0; r < rows; r++) {
      row[r] = s.mirrored(y0 - margin + line + r, s.h) * s.w;
      UNROLL for (int k = 0; k < depth; k++) kept[k][0][r] = kept[k][1][r] = quad{};
      UNROLL for (int k = 0; k <= pairs; k++) v0s[k][r] = bs[k][r] = quad{};
    }
    unsigned shared = shared_address(block_changes) + 4 * own;
    auto copy = [&](int ring, int slot, const float32 *field, int turn) {
      const float32 *from = field + s.mirrored(first - depth + turn, s.d) * s.plane();
      UNROLL for (int r = 0; r < rows; r++) x.copy(shared + 4 * (ring + slot * plane + r * width), from + row[r]);
    };
    bool mine = column >= margin && column < width - margin && x0 - margin + column < s.w && !(planted(fault::edge) && column == width - margin - 4);
    auto store_of = [&](int turn, const quad (&made)[rows]) {
      int z = first - 2 * depth + turn;
      if (!mine || z < first || z >= last) return;
      UNROLL for (int r = 0; r < rows; r++) {
        int y = y0 - margin + line + r;
        if (line + r < margin || line + r >= height - margin || y >= s.h) continue;
        store(to + z * s.plane() + (int64)y * s.w, x0 - margin + column, s.w, made[r]);
      }
    };
    copy(v_ring, 0, v, 0);
    end_of_copies();
    int come = 0, before = 2, next = 1;
    auto begin = [&](int turn) {
      wait_for_copies<0>();
      __syncthreads();
      copy(v_ring, next, v, turn + 1);
      copy(v0_ring, turn & (slots - 1), v_0, turn);
      copy(b_ring, turn & (slots - 1), b, turn);
      end_of_copies();
    };
    auto move = [&] {
      int free = before;
      before = come, come = next, next = free;
    };
    for (int t = 0; t < last - first + 2 * depth; t += 2) {
      quad made[rows];
      begin(t);
      turn<0>(t, come, before, made);
      store_of(t, made);
      move();
      begin(t + 1);
      turn<1>(t + 1, come, before, made);
      store_of(t + 1, made);
      move();
    }
    wait_for_copies<0>();
  }

  // The block's part of all: components are next to each other, for they share b.
  member static void part(const float32 *v, const float32 *v_0, const float32 *b, float32 *to, const shape &s, float32 mu, int planes) {
    int across = (s.w + wide - 1) / wide, down = (s.h + high - 1) / high, tile = block_x() / 3, c = block_x() % 3;
    int first = tile / (across * down) * planes;
    tile %= across * down;
    int64 from = c * s.voxels();
    blocked_3d k;
    k.mu = mu;
    k.run(v + from, v_0 + from, b, to + from, s, tile % across * wide, tile / across * high, first, shape::least(first + planes, s.d));
  }
};
