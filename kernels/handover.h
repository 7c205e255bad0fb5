// How the last block of a launch ends it, so that nothing needs to be added to the
// stream beside the launch: it writes the table to memory of the host, clears it
// for the next launch, and says that it is done.
#pragma once
#include "device.h"

typedef int64 two_changes __attribute__((ext_vector_type(2)));
typedef int four_counts __attribute__((ext_vector_type(4)));

__attribute__((device)) unsigned delivered; // blocks whose changes are in the table

// What other blocks added, which this one's first-level cache does not have, and what
// is cleared.
inlined void take_changes(two_changes *out, int64 *p) {
  asm volatile("ld.global.cg.v2.s64 {%0, %1}, [%2];" : "=l"(out[0].x), "=l"(out[0].y) : "l"(p));
  asm volatile("ld.global.cg.v2.s64 {%0, %1}, [%2];" : "=l"(out[1].x), "=l"(out[1].y) : "l"(p + 2));
}
inlined void take_changes(two_changes *out, int *p) {
  int a, b, c, d;
  asm volatile("ld.global.cg.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p));
  out[0] = two_changes{a, b};
  out[1] = two_changes{c, d};
}
inlined void clear_changes(int64 *p) { ((two_changes *)p)[0] = ((two_changes *)p)[1] = two_changes{0, 0}; }
inlined void clear_changes(int *p) { *(four_counts *)p = four_counts{0, 0, 0, 0}; }

// Adds a block to those that have delivered, with all that its threads did before the
// last barrier, and tells what the others did that came before it.
inlined unsigned deliver_block() {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(&delivered), "r"(blocks() - 1) : "memory");
  return before;
}

// Every block calls it when its changes are added. The table and its copy have room
// for a multiple of four levels. Without a copy nothing is done. What follows the word
// that says so, the clearing, is done before the next launch begins.
template <class N> inlined void hand_over(N *table, int levels, int64 *copy, unsigned *done) {
  __shared__ bool last;
  if (!copy) return;
  __syncthreads();
  if (!thread_x()) last = deliver_block() == (unsigned)blocks() - 1;
  __syncthreads();
  if (!last) return;
  const int each = 4, ahead = 2;
  for (int k = each * thread_x(); k < levels; k += ahead * each * threads()) {
    two_changes changes[ahead][2];
    _Pragma("unroll") for (int i = 0; i < ahead; i++)
      if (k + i * each * threads() < levels) take_changes(changes[i], table + k + i * each * threads());
    _Pragma("unroll") for (int i = 0; i < ahead; i++) {
      int at = k + i * each * threads();
      if (at >= levels) break;
      ((two_changes *)(copy + at))[0] = changes[i][0];
      ((two_changes *)(copy + at))[1] = changes[i][1];
    }
  }
  __syncthreads();
  if (!thread_x()) asm volatile("st.release.sys.u32 [%0], 1;" ::"l"(done) : "memory");
  for (int k = each * thread_x(); k < levels; k += each * threads()) clear_changes(table + k);
}
