// The changes that a block collects, for two levels per word, so that twice as many levels fit as
// in a histogram.
//
// Word w of shared memory is l + 65536·h modulo 2³². l and h are the changes of levels 2w and 2w +
// 1, each plus room/2, from −32768 to 32767, so that the word determines both. An atomic addition
// returns the previous word. A thread that finds a counter outside 0 … room − 1 in it empties the
// word by an atomic exchange. The exchange returns its content exactly once, even if several
// threads do so. (While the lower counter is negative, the upper one reads one less; the lower one
// is then outside itself.)
//
// No counter overflows if each thread adds changes of at most `most` in total between two calls of
// settle. Proof: suppose that an addition moves a counter outside 0 … room − 1, and that it stays
// there. Every thread that adds to it from then on sees it outside, and empties it at its next
// settle. Until then, each thread adds at most `most`, and the thread of the first addition at most
// `most` before it. So the counter is at most room + most·(threads + 1) and at least −most·(threads
// + 1). Both are from −32768 to 32767.
#pragma once
#include "histogram.h"

const int room = 4096; // a power of two
static_assert(!(room & (room - 1)), "a counter outside shows by its upper bits");

struct packed {
  int64 *total;
  unsigned counters; // the address in shared memory
  int levels;
  mutable unsigned seen; // OR of the words returned by the thread's additions since settle

  static const unsigned empty = room / 2 * 0x10001, outside = (0x10000 - room) * 0x10001u;

  static constexpr bool holds(int most, int threads) { return room + most * (threads + 1) < 32768; }

  inlined int words(int levels) { return (levels + 1) / 2; }
  // spare is the number of extra words behind those of the levels.
  inlined packed start(int64 *total, int levels, int spare) {
    for (int i = thread_x(); i < words(levels) + spare; i += threads()) block_changes[i] = (int)empty;
    __syncthreads();
    return packed{total, shared_address(block_changes), levels, 0};
  }

  // Adds a change to one counter of a word. The lowest five bits of shift are 0 or 16.
  inlined void add(const packed &h, unsigned word, unsigned shift, int change) {
    int addend = (int)shift_left((unsigned)change, shift);
    add_at(h, h.counters + 4 * word, addend);
  }
  // The same for the address of a word and a change that is already shifted.
  inlined void add_at(const packed &h, unsigned address, int addend) { h.seen |= fetch_add_shared(address, addend); }

  // Whether a counter that the thread added to was outside 0 … room − 1.
  inlined bool due(const packed &h) { return !planted(fault::overflow) && h.seen & outside; }

  inlined void relieve(const packed &h, unsigned word) {
    if (word >= (unsigned)words(h.levels) || !(*(volatile unsigned *)&block_changes[word] & outside)) return;
    unsigned held = exchange_shared(h.counters + 4 * word, empty);
    move(h, (int)word, held);
    if (planted(fault::twice)) move(h, (int)word, held);
  }

  // Adds the content of a word to the curve.
  inlined void move(const packed &h, int word, unsigned held) {
    int both = (int)(held - empty), low = (int16)both, high = (int16)((both - low) >> 16);
    if (low) add_global(h.total + 2 * word, low);
    if (high) add_global(h.total + 2 * word + 1, high);
  }

  // Blocks begin at different levels, so that their atomic additions do not conflict.
  inlined void finish(const packed &h) {
    __syncthreads();
    int n = words(h.levels), first = (int)((int64)n * block_x() / blocks());
    for (int i = thread_x(); i < n; i += threads()) {
      int word = i + first < n ? i + first : i + first - n;
      move(h, word, (unsigned)block_changes[word]);
    }
  }
};
