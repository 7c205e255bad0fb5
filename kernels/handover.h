// The last block of a launch copies the table to host memory, clears it for the next launch, and
// notifies the host. So the stream needs no other operation for a launch.
#pragma once
#include "device.h"

__device__ unsigned delivered; // blocks whose changes are in the table

inlined void clear_changes(int64 *p) { ((two_changes *)p)[0] = ((two_changes *)p)[1] = two_changes{0, 0}; }
inlined void clear_changes(int *p) { *(four_counts *)p = four_counts{0, 0, 0, 0}; }

// Every block calls it after it has added its changes. The table and its copy have room for a
// multiple of four levels. Without a copy it does nothing. The table is cleared after the host is
// notified, but before the next launch of the stream begins.
template <class N> inlined void hand_over(N *table, int levels, int64 *copy, unsigned *done) {
  static __shared__ bool last;
  if (!copy) return;
  __syncthreads();
  if (!thread_x()) last = deliver_block(&delivered) == (unsigned)blocks() - 1;
  __syncthreads();
  if (!last) return;
  const int each = 4, ahead = 2;
  for (int k = each * thread_x(); k < levels; k += ahead * each * threads()) {
    two_changes changes[ahead][2];
    UNROLL for (int i = 0; i < ahead; i++)
      if (k + i * each * threads() < levels) take_changes(changes[i], table + k + i * each * threads());
    UNROLL for (int i = 0; i < ahead; i++) {
      int at = k + i * each * threads();
      if (at >= levels) break;
      ((two_changes *)(copy + at))[0] = changes[i][0];
      ((two_changes *)(copy + at))[1] = changes[i][1];
    }
  }
  __syncthreads();
  if (!thread_x()) tell_host(done);
  for (int k = each * thread_x(); k < levels; k += each * threads()) clear_changes(table + k);
}
