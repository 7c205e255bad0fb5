// The changes that a block collects in shared memory before it adds them to the curve.
#pragma once
#include "../device.h"
#include "fault.h"

extern __shared__ int block_changes[];

// A block's histogram: copies of all levels in shared memory, each shared by a fixed set of warps.
// copies is 0 if the levels do not fit; then every change is added to the curve in global memory.
struct histogram {
  int64 *total;
  unsigned mine; // address of this warp's copy
  int levels, copies;

  inlined histogram start(int64 *total, int levels, int copies) {
    for (int i = thread_x(); i < levels * copies; i += threads()) block_changes[i] = 0;
    __syncthreads();
    unsigned mine = 0;
    if (copies) mine = shared_address(block_changes) + 4 * levels * ((thread_x() >> 5) % copies);
    return histogram{total, mine, levels, copies};
  }

  // The host ensures that a block adds fewer than 2³¹ / 7 voxels, so that no counter overflows.
  inlined void add(const histogram &h, int level, int change) {
    if (h.copies && planted(fault::atomic)) {
      int *mine = block_changes + (h.mine - shared_address(block_changes)) / 4;
      *(volatile int *)(mine + level) += change;
    } else if (h.copies) {
      add_shared(h.mine + 4 * level, change);
    } else if (change) {
      add_global(h.total + level, change);
    }
  }

  inlined void finish(const histogram &h) {
    if (!planted(fault::barrier)) __syncthreads();
    if (!h.copies) return;
    int levels = planted(fault::flush) && h.levels > 512 ? 512 : h.levels;
    for (int k = thread_x(); k < levels; k += threads()) {
      int sum = 0;
      for (int c = 0; c < h.copies; c++) sum += block_changes[c * h.levels + k];
      if (sum) add_global(h.total + k, sum);
    }
  }
};
