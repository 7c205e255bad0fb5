// 64-bit words, counters that the threads of a launch share, and union-find forests.
#pragma once
#include "../swap.h"
#include "fault.h"

extern __shared__ int block_changes[];

typedef unsigned long long word;
typedef unsigned quad __attribute__((vector_size(16)));

#ifdef ON_HOST
inlined unsigned fetch_add_global(unsigned *p, unsigned v) {
  unsigned old = *p;
  *p += v;
  return old;
}
inlined void most_global(unsigned *p, unsigned v) {
  if (v > *p) *p = v;
}
#else
// Returns the previous value.
inlined unsigned fetch_add_global(unsigned *p, unsigned v) {
  unsigned old;
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
  return old;
}
inlined void most_global(unsigned *p, unsigned v) { asm volatile("red.global.max.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
#endif

// Reads a value that other threads may have just written, and writes one that they may read.
template <class V> inlined V fresh(const V *p) { return *(const volatile V *)p; }
template <class V> inlined void put(V *p, V v) { *(volatile V *)p = v; }

// The number of threads in the launch, and the number of this thread.
inlined unsigned all_threads() { return (unsigned)blocks() * threads(); }
inlined unsigned this_thread() { return (unsigned)block_x() * threads() + thread_x(); }

// The number of lower lanes whose bit is set in votes.
inlined unsigned before_in(unsigned votes) { return __builtin_popcount(votes & ((1u << (thread_x() & 31)) - 1)); }

// An index at the end of a list for each lane that asks. All lanes of the warp call it.
inlined unsigned append(unsigned *length, bool asks) {
  unsigned votes = vote(asks), from = 0;
  if (!votes) return 0;
  if (!(thread_x() & 31)) from = fetch_add_global(length, __builtin_popcount(votes));
  return from_lane(from, 0) + before_in(votes);
}

// Returns the root of v, and halves the path to it. A parent is never greater than its child, so
// every path ends, whatever other threads do.
inlined unsigned root_of(unsigned *parent, unsigned v) {
  for (;;) {
    unsigned p = fresh(parent + v);
    if (p == v) return v;
    unsigned q = fresh(parent + p);
    if (p != q) put(parent + v, q);
    v = q;
  }
}

// Joins two trees of a forest. A root gets a parent by a compare-and-swap.
inlined void join(unsigned *parent, unsigned a, unsigned b) {
  a = root_of(parent, a), b = root_of(parent, b);
  while (a != b) {
    unsigned low = a < b ? a : b, high = a < b ? b : a;
    if (compare_swap_global(parent + high, high, low) == high) return;
    a = root_of(parent, low), b = root_of(parent, high);
  }
}
