// Shared by the kernels that take several steps at once: copies of four values of a row to shared
// memory, from a field that is mirrored at its borders.
#pragma once
#include "step.h"

// The neighbours of a thread's four values in a row: the last value of the previous lane and the
// first value of the next lane. At the ends of a tile's row they are invalid.
struct beside {
  float32 left, right;
  member explicit beside(const quad &v) : left(from_lane_before(v[3])), right(from_lane_after(v[0])) {}
};

// Starts to copy four values to shared memory, float32 or halves.
template <class Four> inlined void copy_four(unsigned to, const void *from) {
#ifndef ON_HOST
  if (sizeof(Four) == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
  else
#endif
    copy_to_shared<sizeof(Four)>(to, from);
}

// Copies one value. A value of 16 bits is copied synchronously, because there is no asynchronous
// copy of that size.
inlined void copy_one(int *shared, unsigned to, const float32 *from) { copy_to_shared<4>(shared_address(shared) + to, from); }
template <class V> inlined void copy_one(int *shared, unsigned to, const V *from) { *(V *)((char *)shared + to) = *from; }

// Four columns of a thread, from x on, in rows that are copied to shared memory. With inside, the
// columns of all threads of a block are contiguous, inside the field and aligned to four values, so
// no column needs a check.
template <bool inside> struct columns {
  int at[inside ? 1 : 4];
  bool whole;
  member columns(const shape &s, int x) {
    at[0] = x;
    whole = x >= 0 && x + 4 <= s.w && s.w % 4 == 0;
    if (!inside) UNROLL for (int k = 0; k < 4; k++) at[k] = s.mirrored(x + k, s.w);
  }
  // Starts to copy the columns of a row to a byte of shared memory.
  template <class Kept, class V> member void copy(unsigned to, const V *row) const {
    if (inside || whole) copy_four<typename Kept::four>(shared_address(block_changes) + to, row + at[0]);
    else UNROLL for (int k = 0; k < 4; k++) copy_one(block_changes, to + (int)sizeof(V) * k, row + at[k]);
  }
};

// Stores four values of a row of n, from x on. Values beyond the row are not stored.
template <bool inside, class Kept, class V> inlined void store(V *row, int x, int n, const quad &v) {
  if (inside || n % 4 == 0) *(typename Kept::four *)(row + x) = Kept::narrow(v);
  else UNROLL for (int k = 0; k < 4; k++) if (x + k < n) row[x + k] = Kept::narrow(v[k]);
}

// Four values from a byte of shared memory.
template <class Kept> inlined typename Kept::four as_kept(int byte) { return *(const typename Kept::four *)((const char *)block_changes + byte); }
template <class Kept> inlined quad in_shared(int byte) { return Kept::wide(as_kept<Kept>(byte)); }

// The values of a step, rounded as they would be if they were stored.
template <class Kept> inlined quad rounded(const quad &v) { return Kept::wide(Kept::narrow(v)); }
