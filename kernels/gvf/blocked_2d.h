// for each component, strip of columns and run of rows: for each row that comes:
//   for each of the steps: make the row that many above, of three of the step before
//
// Steps of the gradient vector flow in 2D, several together. A warp has a strip of 128 columns,
// four a thread, and streams along y. Of each step but the last a thread keeps in registers the
// two rows above the one that comes; columns beside its own are the threads' beside it. V, V0
// and b come by copies that run ahead, each read by the thread that asked for it: nobody waits
// for anybody. Strips overlap by what is wrong at their edges, one column further in with each
// step, and beyond its borders a field is mirrored (blocked_3d.h).
#pragma once
#include "blocked.h"

template <int depth> struct blocked_2d {
  enum {
    width = 128, margin = depth > 4 ? 8 : 4, wide = width - 2 * margin, // whole quads
    ahead = 3, // rows that are on their way
    // The rings: of V this row and those on their way, of V0 and b those of all steps, too.
    v_slots = 4, slots = 16,
    v_ring = 0, v0_ring = v_slots * width, b_ring = v0_ring + slots * width,
    words = b_ring + slots * width, // of a warp
    pairs = depth / 2,
  };
  static_assert(ahead < v_slots && depth + ahead <= slots, "a step needs what is no longer there");

  float32 mu;
  int own;                            // place in a row of a ring, in words
  quad kept[depth][2];                // of each step two rows, in turn the upper one
  quad v0s[pairs + 1], bs[pairs + 1]; // V0 and b of the next row of the second of two steps

  // A row comes: step k makes the one that is k above.
  template <int odd> member void turn(int turn, quad &comes) {
    quad v0, b;
    comes = in_shared(own + v_ring + (turn & (v_slots - 1)) * width);
    UNROLL for (int k = 1; k <= depth; k++) {
      quad v0_k, b_k, made;
      if (k % 2) {
        int at = own + ((turn - k - planted(fault::ring)) & (slots - 1)) * width;
        v0 = v0_k = in_shared(v0_ring + at), b = b_k = in_shared(b_ring + at);
      } else {
        v0_k = v0s[k / 2], b_k = bs[k / 2];
        v0s[k / 2] = v0, bs[k / 2] = b;
      }
      const quad &v = kept[k - 1][1 - odd], &above = kept[k - 1][odd];
      beside x(v);
      float32 row[6] = {x.left, v[0], v[1], v[2], v[3], x.right};
      UNROLL for (int i = 0; i < 4; i++) {
        made[i] = stepped<4>(v[i], plus(plus(row[i], row[i + 2]), plus(above[i], comes[i])), v0_k[i], b_k[i], mu);
      }
      kept[k - 1][odd] = comes;
      comes = made;
    }
  }

  // The warp's strip, of rows first ≤ y < last of a component.
  member void run(const float32 *v, const float32 *v_0, const float32 *b, float32 *to, const shape &s, int x0, int first, int last) {
    int column = 4 * (thread_x() & 31), ring = (thread_x() >> 5) * words;
    own = ring + column;
    columns x(s, x0 - margin + column);
    UNROLL for (int k = 0; k < depth; k++) kept[k][0] = kept[k][1] = quad{};
    UNROLL for (int k = 0; k <= pairs; k++) v0s[k] = bs[k] = quad{};
    unsigned shared = shared_address(block_changes) + 4 * own;
    auto copy = [&](int place, const float32 *field, int turn) {
      x.copy(shared + 4 * place, field + (int64)s.mirrored(first - depth + turn, s.h) * s.w);
    };
    auto ask = [&](int turn) {
      copy(v_ring + (turn & (v_slots - 1)) * width, v, turn);
      copy(v0_ring + (turn & (slots - 1)) * width, v_0, turn);
      copy(b_ring + (turn & (slots - 1)) * width, b, turn);
      end_of_copies();
    };
    bool mine = column >= margin && column < width - margin && x0 - margin + column < s.w && !(planted(fault::edge) && column == width - margin - 4);
    auto store_of = [&](int turn, const quad &made) {
      int y = first - 2 * depth + turn;
      if (mine && y >= first && y < last) store(to + (int64)y * s.w, x0 - margin + column, s.w, made);
    };
    UNROLL for (int t = 0; t < ahead; t++) ask(t);
    for (int t = 0; t < last - first + 2 * depth; t += 2) {
      quad made;
      wait_for_copies<ahead - 1>();
      turn<0>(t, made);
      ask(t + ahead);
      store_of(t, made);
      wait_for_copies<ahead - 1>();
      turn<1>(t + 1, made);
      ask(t + 1 + ahead);
      store_of(t + 1, made);
    }
    wait_for_copies<0>();
  }

  // The warp's part of all: components are next to each other, for they share b.
  member static void part(const float32 *v, const float32 *v_0, const float32 *b, float32 *to, const shape &s, float32 mu, int rows) {
    int across = (s.w + wide - 1) / wide, item = block_x() * (threads() >> 5) + (thread_x() >> 5), c = item % 2;
    item /= 2;
    int first = item / across * rows;
    if (first >= s.h) return;
    int64 from = c * s.voxels();
    blocked_2d k;
    k.mu = mu;
    k.run(v + from, v_0 + from, b, to + from, s, item % across * wide, first, shape::least(first + rows, s.h));
  }
};
