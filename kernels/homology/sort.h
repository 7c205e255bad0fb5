// records: the faces of cells, then given simplices, each a tuple of k ascending vertices; a record
//          is identified by its number, and its vertices are read from its origin
// digits:  for each block, the number of records with each value of 8 bits of one vertex
// scan:    the sums of all previous numbers
// place:   each record after those with lower digits, and in order among equal ones
//
// A radix sort from the last vertex to the first, 8 bits at a time. It is stable: equal records
// stay in the order of their numbers.
#pragma once
#include "words.h"

enum { tile = 2048, sorters = 256, warps = sorters / 32, each_warp = tile / warps, values = 256 };

// The records: faces of cells with k + 1 vertices each (`faces` of them), followed by given
// simplices.
struct tuples {
  const unsigned *cells, *given;
  unsigned faces, k;

  member unsigned vertex(unsigned record, unsigned i) const {
    if (record >= faces) return given[(int64)(record - faces) * k + i];
    unsigned cell = record / (k + 1), out = record % (k + 1);
    return cells[(int64)cell * (k + 1) + i + (i >= out)];
  }
  member bool same(unsigned a, unsigned b) const {
    for (unsigned i = 0; i < k; i++)
      if (vertex(a, i) != vertex(b, i)) return false;
    return true;
  }
};

inlined unsigned digit_of(const tuples &of, unsigned record, unsigned column, unsigned shift) {
  return of.vertex(record, column) >> shift & (values - 1);
}

// Counts the digits of a tile of n records. order has their numbers, or is null before the first
// pass.
inlined void count_digits(const tuples &of, const unsigned *order, unsigned n, unsigned column, unsigned shift, unsigned *counts) {
  unsigned at = shared_address(block_changes);
  block_changes[thread_x()] = 0;
  __syncthreads();
  unsigned first = (unsigned)block_x() * tile;
  for (unsigned i = first + thread_x(); i < first + tile && i < n; i += sorters)
    add_shared(at + 4 * digit_of(of, order ? order[i] : i, column, shift), 1);
  __syncthreads();
  counts[(unsigned)thread_x() * blocks() + block_x()] = (unsigned)block_changes[thread_x()];
}

// Moves a tile of records to the positions given by the scanned counts.
inlined void place_records(const tuples &of, const unsigned *order, unsigned n, unsigned column, unsigned shift, const unsigned *counts,
                           unsigned *to) {
  unsigned *seen = (unsigned *)block_changes; // records with each digit, by warp
  for (int i = thread_x(); i < warps * values; i += sorters) seen[i] = 0;
  __syncthreads();
  enum { steps = each_warp / 32 };
  int lane = thread_x() & 31, warp = thread_x() >> 5;
  unsigned records[steps], digits[steps], ranks[steps];
  UNROLL for (int s = 0; s < steps; s++) {
    unsigned i = (unsigned)block_x() * tile + warp * each_warp + s * 32 + lane;
    bool there = i < n;
    unsigned r = there ? order ? order[i] : i : 0, d = there ? digit_of(of, r, column, shift) : 0;
    unsigned peers = vote(there);
    for (int b = 0; b < 8; b++) {
      unsigned ones = vote(d >> b & 1);
      peers &= d >> b & 1 ? ones : ~ones;
    }
    unsigned rank = before_in(peers), old = there ? seen[warp * values + d] : 0;
    sync_warp();
    if (there && !rank) seen[warp * values + d] = old + (unsigned)__builtin_popcount(peers);
    sync_warp();
    records[s] = r, digits[s] = there ? d : ~0u, ranks[s] = old + rank;
  }
  __syncthreads();
  unsigned sum = counts[(unsigned)thread_x() * blocks() + block_x()];
  for (int w = 0; w < warps; w++) {
    unsigned c = seen[w * values + thread_x()];
    seen[w * values + thread_x()] = sum;
    sum += c;
  }
  __syncthreads();
  UNROLL for (int s = 0; s < steps; s++)
    if (digits[s] != ~0u) to[seen[warp * values + digits[s]] + ranks[s]] = records[s];
}

// Exclusive prefix sums: first the sums of tiles, then the scan of these in one block, then the
// scans of all tiles.
enum { scanners = 256, scanned = 4096, each_scanner = scanned / scanners };

// The sum of v over the lower threads of the block, and the total.
inlined unsigned scan_block(unsigned v, unsigned &total) {
  unsigned *sums = (unsigned *)block_changes;
  unsigned mine = v;
  int lane = thread_x() & 31, warp = thread_x() >> 5;
  for (int step = 1; step < 32; step *= 2) {
    unsigned other = from_lane(mine, lane >= step ? lane - step : lane);
    if (lane >= step) mine += other;
  }
  if (lane == 31) sums[warp] = mine;
  __syncthreads();
  unsigned before = 0;
  total = 0;
  for (int w = 0; w < scanners / 32; w++) {
    if (w < warp) before += sums[w];
    total += sums[w];
  }
  __syncthreads();
  return before + mine - v;
}

inlined void scan_parts(const unsigned *list, unsigned n, unsigned *parts) {
  unsigned sum = 0, total;
  for (unsigned i = 0; i < each_scanner; i++) {
    unsigned at = (unsigned)block_x() * scanned + i * scanners + thread_x();
    if (at < n) sum += list[at];
  }
  scan_block(sum, total);
  if (!thread_x()) parts[block_x()] = total;
}

// One block. The total is stored behind the last element.
inlined void scan_tops(unsigned *parts, unsigned n) {
  unsigned before = 0, total;
  for (unsigned first = 0; first < n; first += scanners) {
    unsigned at = first + thread_x(), v = at < n ? parts[at] : 0, sum = scan_block(v, total);
    if (at < n) parts[at] = before + sum;
    before += total;
  }
  if (!thread_x()) parts[n] = before;
}

inlined void scan_ends(unsigned *list, unsigned n, const unsigned *parts) {
  unsigned before = parts[block_x()], total;
  for (unsigned i = 0; i < each_scanner; i++) {
    unsigned at = (unsigned)block_x() * scanned + i * scanners + thread_x(), v = at < n ? list[at] : 0, sum = scan_block(v, total);
    if (at < n) list[at] = before + sum;
    before += total;
  }
}
