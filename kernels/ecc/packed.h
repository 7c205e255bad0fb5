// The changes that a block collects, two levels to a word, for twice the levels of a
// histogram.
//
// Word w of shared memory is l + 65536·h modulo 2³², where l and h are what levels
// 2w and 2w + 1 have changed by, each more by half of room and from −32768 to
// 32767, so that the word tells both. An addition gives the word before it. A thread
// that finds a counter outside 0 … room − 1 in one of them empties it by an
// exchange, which takes what it holds exactly once, whoever else does the same. (The upper
// one shows one less while the lower is below 0, which shows itself.)
//
// No counter wraps, where each thread adds changes of at most most in sum between
// two calls of settle. Say that an addition takes a counter outside 0 … room − 1,
// and that it stays there until it wraps. Each addition from then on sees it there,
// so the next settle of the thread that made it empties the counter. So a thread
// adds no more than most until then, and the one whose addition it was that much
// before, and the counter comes to room + most·(threads + 1) at most and no lower
// than −most·(threads + 1), which are from −32768 to 32767.
#pragma once
#include "histogram.h"

const int room = 4096; // a power of two
static_assert(!(room & (room - 1)), "a counter outside shows by its upper bits");

struct packed {
  int64 *total;
  unsigned counters; // their address in shared memory
  int levels;
  mutable unsigned seen; // bits of the words before the thread's additions since settle

  static const unsigned empty = room / 2 * 0x10001, outside = (0x10000 - room) * 0x10001u;

  static constexpr bool holds(int most, int threads) { return room + most * (threads + 1) < 32768; }

  inlined int words(int levels) { return (levels + 1) / 2; }
  // spare more words stand behind those of the levels.
  inlined packed start(int64 *total, int levels, int spare) {
    for (int i = thread_x(); i < words(levels) + spare; i += threads()) block_changes[i] = (int)empty;
    __syncthreads();
    return packed{total, shared_address(block_changes), levels, 0};
  }

  // Adds a change to the counter of a word that the shift says: 0 or 16, as its lowest
  // five bits.
  inlined void add(const packed &h, unsigned word, unsigned shift, int change) {
    int addend = (int)shift_left((unsigned)change, shift);
    add_at(h, h.counters + 4 * word, addend);
  }
  // The same at a word's address, of a change that is shifted.
  inlined void add_at(const packed &h, unsigned address, int addend) { h.seen |= fetch_add_shared(address, addend); }

  // Whether one of the counters was outside that the thread added to.
  inlined bool due(const packed &h) { return !planted(fault::overflow) && h.seen & outside; }

  inlined void relieve(const packed &h, unsigned word) {
    if (word >= (unsigned)words(h.levels) || !(*(volatile unsigned *)&block_changes[word] & outside)) return;
    unsigned held = exchange_shared(h.counters + 4 * word, empty);
    move(h, (int)word, held);
    if (planted(fault::twice)) move(h, (int)word, held);
  }

  // Adds what a word holds to the curve's.
  inlined void move(const packed &h, int word, unsigned held) {
    int both = (int)(held - empty), low = (int16)both, high = (int16)((both - low) >> 16);
    if (low) add_global(h.total + 2 * word, low);
    if (high) add_global(h.total + 2 * word + 1, high);
  }

  // Blocks begin at different levels, so that they do not wait for each other.
  inlined void finish(const packed &h) {
    __syncthreads();
    int n = words(h.levels), first = (int)((int64)n * block_x() / blocks());
    for (int i = thread_x(); i < n; i += threads()) {
      int word = i + first < n ? i + first : i + first - n;
      move(h, word, (unsigned)block_changes[word]);
    }
  }
};
