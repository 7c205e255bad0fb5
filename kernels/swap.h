// Atomic compare-and-swap.
#pragma once
#include "device.h"

#ifdef ON_HOST
template <class W> inlined W compare_swap_of(W *p, W expected, W v) {
  W old = *p;
  if (old == expected) *p = v;
  return old;
}
inlined unsigned compare_swap_shared(unsigned address, unsigned expected, unsigned v) {
  return compare_swap_of((unsigned *)onhost::reach_shared("exchanges", address, 4), expected, v);
}
inlined unsigned compare_swap_global(unsigned *p, unsigned expected, unsigned v) { return compare_swap_of(p, expected, v); }
inlined unsigned long long compare_swap_global(unsigned long long *p, unsigned long long expected, unsigned long long v) {
  return compare_swap_of(p, expected, v);
}
#else
// They return the previous value.
inlined unsigned compare_swap_shared(unsigned address, unsigned expected, unsigned v) {
  unsigned old;
  asm volatile("atom.shared.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "r"(address), "r"(expected), "r"(v) : "memory");
  return old;
}
inlined unsigned compare_swap_global(unsigned *p, unsigned expected, unsigned v) {
  unsigned old;
  asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(p), "r"(expected), "r"(v) : "memory");
  return old;
}
inlined unsigned long long compare_swap_global(unsigned long long *p, unsigned long long expected, unsigned long long v) {
  unsigned long long old;
  asm volatile("atom.global.cas.b64 %0, [%1], %2, %3;" : "=l"(old) : "l"(p), "l"(expected), "l"(v) : "memory");
  return old;
}
#endif
