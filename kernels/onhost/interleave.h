// Interrupts the threads of a kernel at random before they access memory that others can access, and runs them in a
// random order. So results that depend on the order of the threads differ. The environment variable ORDER is the seed.
//
// clang's -fsanitize=thread inserts calls of the functions below, which take the place of its run-time library. An
// atomic operation of a device is a function that is not instrumented (atomic.txt).
#pragma once
#include "fibers.h"

namespace onhost {

inline thread_local const char *stack; // of the running thread, or null
inline thread_local unsigned share; // one in this many accesses ends the turn of a thread

inline thread_local unsigned long long state; // of the random numbers
#define UNHOOKED __attribute__((no_instrument_function)) inline
UNHOOKED unsigned draw() {
  if (!state) state = 1 + strtoull(getenv("ORDER"), nullptr, 10) + (unsigned)block;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33);
}

inline order next_order(bool) {
  share = 2u << draw() % 4;
  return {draw() % 2 > 0, draw() >> 1};
}
inline void enter(const char *of) { stack = of; }
inline void leave() { stack = nullptr; }

UNHOOKED void interrupt(const char *at) {
  if (!stack || (at >= stack && at < stack + stack_bytes) || draw() % share) return;
  stack = nullptr;
  yield();
}
}

extern "C" {
#define ACCESS(what) void __tsan_##what(void *at) { onhost::interrupt((char *)at); }
#define ACCESSES(what) ACCESS(what##1) ACCESS(what##2) ACCESS(what##4) ACCESS(what##8) ACCESS(what##16)
ACCESSES(read)
ACCESSES(write)
ACCESSES(unaligned_read)
ACCESSES(unaligned_write)
void __tsan_init() {}

// The start of a function that was not inlined, such as an atomic operation.
UNHOOKED void __cyg_profile_func_enter(void *, void *) { onhost::interrupt(nullptr); }
UNHOOKED void __cyg_profile_func_exit(void *, void *) {}
}
