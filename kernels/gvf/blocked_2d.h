// for each component, strip of columns and run of rows: for each row that arrives:
//   for each of the steps k: compute the row k above, from three rows of the previous step
//
// Several steps of the gradient vector flow in 2D at once. A block is one warp, so that all values
// except the columns are uniform. It has a strip of 128 columns, four per thread, and streams along
// y. For each step except the last, a thread keeps the two rows above the arriving one in
// registers; neighbouring columns come from the neighbouring lanes. V, V0 and b are copied ahead,
// and each thread reads only its own copies, so no thread waits for another one. The edges of a
// strip become invalid, by one column per step, so strips overlap by that much. Beyond its borders
// a field is mirrored (blocked_3d.h).
#pragma once
#include "blocked.h"

template <int depth, int slots, class Kept> struct blocked_2d {
  typedef typename Kept::value value;
  enum {
    width = 128, margin = depth > 4 ? 8 : 4, wide = width - 2 * margin, // margins of whole groups of four
    // The rings: V has the current row and those in flight. V0 and b also have the rows that later
    // steps need. Only odd steps read them; even steps reuse the values. If a ring is short, its
    // rows are copied one turn later (late).
    v_slots = 4, late = depth + 3 > slots, ahead = 3 - late,
    size = (int)sizeof(value), kept_row = width * size, wide_row = 4 * width,
    v_ring = 0, v0_ring = v_slots * kept_row, b_ring = v0_ring + slots * kept_row,
    bytes = b_ring + slots * wide_row,
    pairs = depth / 2,
  };
  float32 mu;
  int own;                            // place in a row of a ring, in values
  quad kept[depth][2];                // two rows of each step, which alternate as the upper one
  quad v0s[pairs + 1], bs[pairs + 1]; // V0 and b of the next row of each even step

  // Processes an arriving row: step k computes the row that is k above.
  template <int odd> member void turn(int turn, quad &comes) {
    quad v0, b;
    comes = in_shared<Kept>(v_ring + (turn & (v_slots - 1)) * kept_row + size * own);
    UNROLL for (int k = 1; k <= depth; k++) {
      quad v0_k, b_k, made;
      if (k % 2) {
        int slot = (turn - k - planted(fault::ring)) & (slots - 1);
        v0 = v0_k = in_shared<Kept>(v0_ring + slot * kept_row + size * own), b = b_k = in_shared<in_float32>(b_ring + slot * wide_row + 4 * own);
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
      if (k < depth) made = rounded<Kept>(made);
      kept[k - 1][odd] = comes;
      comes = made;
    }
  }

  // Computes the block's strip for rows first ≤ y < last of a component.
  template <bool inside> member void run(const value *v, const value *v_0, const float32 *b, value *to, const shape &s, int x0, int first, int last) {
    int column = 4 * thread_x();
    own = column;
    columns<inside> x(s, x0 - margin + column);
    UNROLL for (int k = 0; k < depth; k++) kept[k][0] = kept[k][1] = quad{};
    UNROLL for (int k = 0; k <= pairs; k++) v0s[k] = bs[k] = quad{};
    auto row_of = [&](int turn) { return (int64)s.mirrored(first - depth + turn, s.h) * s.w; };
    int64 row = row_of(0);
    auto ask = [&](int turn) {
      int slot = (turn - late) & (slots - 1);
      int64 before = row;
      row = row_of(turn);
      if (!late) before = row;
      x.template copy<Kept>(v_ring + (turn & (v_slots - 1)) * kept_row + size * own, v + row);
      x.template copy<Kept>(v0_ring + slot * kept_row + size * own, v_0 + before);
      x.template copy<in_float32>(b_ring + slot * wide_row + 4 * own, b + before);
      end_of_copies();
    };
    bool mine = column >= margin && column < width - margin && x0 - margin + column < s.w && !(planted(fault::edge) && column == width - margin - 4);
    auto store_of = [&](int turn, const quad &made) {
      int y = first - 2 * depth + turn;
      if (mine && y >= first && y < last) store<inside, Kept>(to + (int64)y * s.w, x0 - margin + column, s.w, made);
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

  // Computes the block's part. The components of a strip have consecutive block numbers, because
  // they share b.
  member static void part(const value *v, const value *v_0, const float32 *b, value *to, const shape &s, float32 mu, int rows) {
    int across = (s.w + wide - 1) / wide, c = block_x() % 2, item = block_x() / 2, first = item / across * rows;
    int64 from = c * s.voxels();
    blocked_2d k;
    k.mu = mu;
    int x0 = item % across * wide, last = shape::least(first + rows, s.h);
    if (x0 >= margin && x0 - margin + width <= s.w && s.w % 4 == 0) k.template run<true>(v + from, v_0 + from, b, to + from, s, x0, first, last);
    else k.template run<false>(v + from, v_0 + from, b, to + from, s, x0, first, last);
  }
};
