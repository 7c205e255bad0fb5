// Words of 64 bits and counters that threads of a launch share, and forests of them.
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
// Gives what was there before.
inlined unsigned fetch_add_global(unsigned *p, unsigned v) {
  unsigned old;
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
  return old;
}
inlined void most_global(unsigned *p, unsigned v) { asm volatile("red.global.max.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
#endif

// What others may just have written.
template <class V> inlined V fresh(const V *p) { return *(const volatile V *)p; }
template <class V> inlined void put(V *p, V v) { *(volatile V *)p = v; }

// The threads of the launch, and this one's number.
inlined unsigned all_threads() { return (unsigned)blocks() * threads(); }
inlined unsigned this_thread() { return (unsigned)block_x() * threads() + thread_x(); }

// How many of the lower threads of the warp vote for it.
inlined unsigned before_in(unsigned votes) { return __builtin_popcount(votes & ((1u << (thread_x() & 31)) - 1)); }

// A place at the end of a list for each thread of the warp that asks for one; all of them call it.
inlined unsigned append(unsigned *length, bool asks) {
  unsigned votes = vote(asks), from = 0;
  if (!votes) return 0;
  if (!(thread_x() & 31)) from = fetch_add_global(length, __builtin_popcount(votes));
  return from_lane(from, 0) + before_in(votes);
}

// The root of v; the way there is halved. A parent is never greater than its child, so that every
// way ends whatever others do.
inlined unsigned root_of(unsigned *parent, unsigned v) {
  for (;;) {
    unsigned p = fresh(parent + v);
    if (p == v) return v;
    unsigned q = fresh(parent + p);
    if (p != q) put(parent + v, q);
    v = q;
  }
}

// Joins two trees of a forest. A root takes a parent by one compare-and-swap.
inlined void join(unsigned *parent, unsigned a, unsigned b) {
  a = root_of(parent, a), b = root_of(parent, b);
  while (a != b) {
    unsigned low = a < b ? a : b, high = a < b ? b : a;
    if (compare_swap_global(parent + high, high, low) == high) return;
    a = root_of(parent, low), b = root_of(parent, high);
  }
}
