// Runs the blocks of a launch, one after the other or at the same time, with each thread as a fiber
// (device.h). With -DINTERLEAVED, blocks, warps and lanes run in a random order, and threads are interrupted.
#pragma once
#include "device.h"
#include <thread>

namespace onhost {
enum { stack_bytes = 128 << 10 }; // per thread

// The i-th of n numbers, forwards or backwards, from another one on.
struct order {
  bool backwards;
  unsigned from;
  int operator()(int i, int n) const { return (int)((from + (backwards ? n - 1 - i : i)) % n); }
};
}

#ifdef INTERLEAVED
#include "interleave.h"
#else
namespace onhost {
inline order next_order(bool backwards) { return {backwards, 0}; }
inline void enter(const char *) {}
inline void leave() {}
}
#endif

alignas(128) __shared__ int block_changes[onhost::most_shared / 4];

namespace onhost {

static void (*call)(); // the kernel with its parameters

// Binds a kernel to its parameters, which list initialization reads in their order. std::function and std::tuple
// would take a third of the time to compile a module.
struct bound {
  template <class Kernel, class... P> bound(Kernel kernel, P... p) {
    static const auto kept = [=] { kernel(p...); };
    call = [] { kept(); };
  }
};

static thread_local std::unique_ptr<char[]> stacks; // of all threads of a block, in one allocation

static void fail(const char *why) {
  fprintf(stderr, "%s\n", why);
  exit(3);
}

// The entry of a fiber. It runs all blocks, because a new fiber needs system calls.
static void body() {
  for (;;) {
    call();
    meet(place::end);
  }
}

// Runs thread t until it meets others.
static void go_on(int t) {
  fiber &f = fibers[thread = t];
  if (_setjmp(scheduler)) return leave();
  enter((char *)f.context.uc_stack.ss_sp);
  if (f.begun) _longjmp(f.here, 1);
  f.begun = true;
  setcontext(&f.context);
}

// Whether a thread of a warp is spinning.
static bool spins(int first) {
  for (int i = 0; i < lanes; i++)
    if (fibers[first + i].waits == place::spin) return true;
  return false;
}

// Runs the threads of a warp until they meet, in an order. If some of them spin, only those are run.
static void go_on_together(int first, order of) {
  const bool some = spins(first);
  for (int i = 0; i < lanes; i++) {
    int t = first + of(i, lanes);
    if (!some || fibers[t].waits == place::spin) go_on(t);
  }
  if (spins(first)) {
    std::this_thread::yield(); // to other blocks
    return;
  }
  for (int i = 0; i < lanes; i++) {
    if (fibers[first + i].waits != fibers[first].waits) fail("threads of a warp wait in different places");
    met[first + i] = fibers[first + i].gives;
  }
}

const char before = 0x5b, beyond = 0x7d; // the contents of shared memory before a block, and behind its end

// Runs a block. Shared memory has a fixed pattern at first; memory behind it must not change.
static void run_block() {
  memset(block_changes, before, shared.bytes);
  for (auto &f : fibers) {
    f.waits = place::lanes;
    f.copies.clear(), f.groups.clear();
  }
  bool backwards = true;
  for (place all = place::block; all != place::end;) {
    for (bool any = true; any;) {
      any = false, backwards = !backwards;
      const order of = next_order(backwards), of_warps = next_order(false);
      for (int i = 0; i < threads() / lanes; i++) {
        int w = lanes * of_warps(i, threads() / lanes);
        if (fibers[w].waits >= place::block && !spins(w)) continue;
        go_on_together(w, of);
        any = true;
      }
    }
    all = fibers[0].waits;
    for (auto &f : fibers) {
      if (f.waits != all) fail("threads of a block wait in different places");
      if (all == place::block) f.waits = place::warp;
    }
  }
  const char *end = (char *)block_changes + shared.bytes;
  const size_t rest = sizeof block_changes - shared.bytes;
  if (rest && (*end != beyond || memcmp(end, end + 1, rest - 1))) fail("a block wrote beyond its shared memory");
}

// Prepares a launch with a number of threads per block and bytes of shared memory.
static void start(size_t threads, size_t shared_bytes) {
  fibers.resize(threads), met.resize(threads);
  stacks.reset(new char[threads * stack_bytes]);
  for (auto &f : fibers) {
    f.begun = false;
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = stacks.get() + (&f - fibers.data()) * stack_bytes, f.context.uc_stack.ss_size = stack_bytes;
    makecontext(&f.context, body, 0);
  }
  shared.begin = (char *)block_changes, shared.bytes = shared_bytes;
  if (shared.bytes > sizeof block_changes) fail("so much shared memory no block has");
  memset(block_changes, beyond, sizeof block_changes);
}

// Runs all blocks of a grid with rows of blocks.
static void run_blocks(int rows = 1) {
  const order of = next_order(false);
  for (int i = 0; i < rows * blocks; i++) {
    block = of(i, rows * blocks) % blocks, block_row = of(i, rows * blocks) / blocks;
    run_block();
  }
}

// Runs all blocks at the same time, each in its own thread of the host.
static void run_blocks_together(size_t threads, size_t shared_bytes) {
  std::vector<std::thread> running;
  for (int b = 0; b < blocks; b++) running.emplace_back([=] {
    start(threads, shared_bytes);
    block = b;
    run_block();
  });
  for (auto &t : running) t.join();
}

static void read_all(void *to, size_t bytes) {
  if (fread(to, 1, bytes, stdin) != bytes) fail("the standard input is too short");
}
}
