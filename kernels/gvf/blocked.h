// What the kernels that take several steps together have in common: copies of four values of a
// row to shared memory, of a field that is mirrored at its borders.
#pragma once
#include "step.h"

// The ring of neighbours in a row: the last value of the four of the lane before, and the first
// of the lane after. At the ends of a row of a tile they are of no use.
struct beside {
  float32 left, right;
  member explicit beside(const quad &v) : left(from_lane_before(v[3])), right(from_lane_after(v[0])) {}
};

// Four columns of a thread, from x on, in a row of the field that is copied to shared memory.
struct columns {
  int at[4];
  bool whole; // they are in one place, and begin at a multiple of four values
  member columns(const shape &s, int x) {
    UNROLL for (int k = 0; k < 4; k++) at[k] = s.mirrored(x + k, s.w);
    whole = x >= 0 && x + 4 <= s.w && s.w % 4 == 0;
  }
  member void copy(unsigned to, const float32 *row) const {
    if (whole) copy_to_shared<16>(to, row + at[0]);
    else UNROLL for (int k = 0; k < 4; k++) copy_to_shared<4>(to + 4 * k, row + at[k]);
  }
};

// Stores four values of a row of n, from x on, as far as they are in it.
inlined void store(float32 *row, int x, int n, const quad &v) {
  if (n % 4 == 0) *(quad *)(row + x) = v;
  else UNROLL for (int k = 0; k < 4; k++) if (x + k < n) row[x + k] = v[k];
}

// What a place in the ring of a field holds.
inlined quad in_shared(int word) { return *(const quad *)&block_changes[word]; }
