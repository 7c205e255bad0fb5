// The device functions of ../device.h on the host, for tests of the kernels' results and memory
// accesses. The threads of a block are fibers of one host thread. Each runs alone until it meets
// others, and all threads of a warp must meet in the same place, so runs are deterministic. A copy
// to shared memory overwrites its target with a pattern at once, and writes the data when the
// kernel waits for it. So tests detect a read that is too early, and a copy to memory that is still
// being read.
#pragma once
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <ucontext.h>
#include <unistd.h>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __shared__ thread_local // one host thread runs all blocks in turn
#define member inline
#define inlined static member
#define UNROLL
#define NOT_UNROLLED

typedef unsigned char uint8;
typedef short int16;
typedef unsigned short uint16;
typedef float float32;
typedef long long int64;

extern __shared__ int block_changes[]; // the block's shared memory (../histogram.h)

namespace onhost {

// Where a thread waits for others. At spin, it polls memory.
enum class place { spin, lanes, warp, block, end };

// Memory that a kernel may access.
struct region {
  const char *what;
  char *begin;
  size_t bytes;
};

struct copy {
  unsigned to;
  const void *from;
  int bytes;
};

struct fiber {
  ucontext_t context;
  jmp_buf here;
  bool begun;
  place waits;
  unsigned gives; // its value for the other lanes of its warp
  std::vector<copy> copies;
  std::deque<std::vector<copy>> groups; // ended groups of copies
};

// The state of the launch. As on a device, shared memory does not begin at address 0.
enum { lanes = 32, shared_begin = 1024, most_shared = 228 << 10 };
inline thread_local std::vector<fiber> fibers;
inline thread_local std::vector<unsigned> met; // the value of each thread when its warp met last
inline thread_local int thread, block;
inline int blocks, block_row;
inline region image{"the image's memory"}, table{"the table"};
inline thread_local region shared{"shared memory"};
inline thread_local jmp_buf scheduler;

// Ends the program because of an access that is misaligned or out of bounds.
[[noreturn]] inline void refuse(const char *does, const region &r, long long at, int bytes) {
  fprintf(stderr, "thread %d of block %d %s %d bytes at %lld of %s, which has %zu\n", thread, block, does, bytes, at, r.what, r.bytes);
  _exit(3);
}
inline char *reach(const char *does, const region &r, long long at, int bytes) {
  if (at < 0 || at + bytes > (long long)r.bytes || at % bytes) refuse(does, r, at, bytes);
  return r.begin + at;
}
inline char *reach_shared(const char *does, unsigned at, int bytes) {
  return reach(does, shared, (long long)at - shared_begin, bytes);
}
template <class V> V *reach_global(const char *does, const region &r, V *p, int bytes = sizeof(V)) {
  return (V *)reach(does, r, (char *)p - r.begin, bytes);
}

// The texels of a texture (../texture.h), contiguous in the image's memory.
struct texels {
  int width, height, depth;
  template <class T> T at(int x, int y, int z) const {
    bool inside = x >= 0 && x < width && y >= 0 && y < height && z >= 0 && z < depth;
    long long i = ((long long)z * height + y) * width + x;
    return *(T *)reach("fetches", image, (inside ? i : -1) * (long long)sizeof(T), sizeof(T));
  }
};

// Waits for the other threads, and returns the values of the warp's threads.
inline const unsigned *meet(place where, unsigned gives = 0) {
  fiber &f = fibers[thread];
  f.waits = where, f.gives = gives;
  if (!_setjmp(f.here)) _longjmp(scheduler, 1);
  return &met[thread / lanes * lanes];
}

// Lets other threads run.
inline void yield() { meet(place::spin); }
}

inlined int thread_x() { return onhost::thread; }
inlined int block_x() { return onhost::block; }
inlined int block_y() { return onhost::block_row; }
inlined int threads() { return (int)onhost::fibers.size(); }
inlined int blocks() { return onhost::blocks; }

template <class A, class B> inlined A as(B b) {
  static_assert(sizeof(A) == sizeof(B));
  A a;
  memcpy(&a, &b, sizeof a);
  return a;
}

inlined unsigned permute(unsigned a, unsigned b, unsigned selector) {
  unsigned d = 0;
  for (int i = 0; i < 4; i++) {
    unsigned which = selector >> (4 * i), byte = (unsigned)(((unsigned long long)b << 32 | a) >> (8 * (which & 7)) & 0xff);
    if (which & 8) byte = byte & 0x80 ? 0xff : 0; // its sign
    d |= byte << (8 * i);
  }
  return d;
}
#ifdef __clang__ // only clang has vectors of halves
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
inlined unsigned least_halves(unsigned a, unsigned b) {
  half2 u = as<half2>(a), v = as<half2>(b);
  return as<unsigned>(half2{u.x < v.x ? u.x : v.x, u.y < v.y ? u.y : v.y});
}
inlined unsigned greatest_halves(unsigned a, unsigned b) {
  half2 u = as<half2>(a), v = as<half2>(b);
  return as<unsigned>(half2{u.x > v.x ? u.x : v.x, u.y > v.y ? u.y : v.y});
}
inlined half2 greater_halves(unsigned a, unsigned b) {
  half2 u = as<half2>(a), v = as<half2>(b);
  return half2{(_Float16)(u.x > v.x), (_Float16)(u.y > v.y)};
}
inlined half2 equal_halves(unsigned a, unsigned b) {
  half2 u = as<half2>(a), v = as<half2>(b);
  return half2{(_Float16)(u.x == v.x), (_Float16)(u.y == v.y)};
}
inlined unsigned where_equal_halves(unsigned a, unsigned b) {
  half2 u = as<half2>(a), v = as<half2>(b);
  return (u.x == v.x ? 0xffff : 0) | (u.y == v.y ? 0xffff0000 : 0);
}
inlined half2 fma_halves(half2 a, half2 b, half2 c) {
  return half2{(_Float16)__builtin_fmaf(a.x, b.x, c.x), (_Float16)__builtin_fmaf(a.y, b.y, c.y)};
}
#endif
inlined float32 greater_float(float32 a, float32 b) { return a > b; }
inlined float32 equal_float(float32 a, float32 b) { return a == b; }
inlined float32 fma_saturated(float32 a, float32 b, float32 c) {
  float32 d = __builtin_fmaf(a, b, c);
  return d > 0 ? d < 1 ? d : 1 : 0;
}
inlined unsigned shift_left(unsigned v, unsigned n) { return v << (n & 31); }
inlined unsigned shift_right(unsigned upper, unsigned lower, unsigned n) {
  return n < 32 ? (unsigned)(((unsigned long long)upper << 32 | lower) >> n) : upper;
}
template <unsigned table> inlined unsigned logic(unsigned a, unsigned b, unsigned c) {
  unsigned d = 0;
  for (int i = 0; i < 8; i++)
    if (table >> i & 1) d |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return d;
}
inlined unsigned dot_bytes(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 0xff) * (b >> i & 0xff);
  return c;
}
inlined unsigned dot_halves(unsigned a, unsigned b, unsigned c) {
  return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff);
}
inlined const void *ahead(const void *p, int n, int bytes) { return (const char *)p + (int64)n * bytes; }

template <int n> inlined void load_if(bool asked, unsigned (&to)[n], const void *p) {
  if (asked) memcpy(to, p, sizeof to);
}

inlined void __syncthreads() { onhost::meet(onhost::place::block); }
inlined void sync_warp() { onhost::meet(onhost::place::warp); }
template <class V> inlined V from_lane(V v, int lane) { return as<V>(onhost::meet(onhost::place::lanes, as<unsigned>(v))[lane & 31]); }
template <class V> inlined V from_lane_before(V v) {
  int lane = onhost::thread & 31;
  return from_lane(v, lane ? lane - 1 : 0);
}
template <class V> inlined V from_lane_after(V v) {
  int lane = onhost::thread & 31;
  return from_lane(v, lane < 31 ? lane + 1 : 31);
}
inlined unsigned vote(bool b) {
  const unsigned *bits = onhost::meet(onhost::place::lanes, b);
  unsigned all = 0;
  for (int i = 0; i < onhost::lanes; i++) all |= bits[i] << i;
  return all;
}
inlined bool any(bool b) { return vote(b); }

inlined unsigned shared_address(int *p) { return onhost::shared_begin + (unsigned)((char *)p - (char *)block_changes); }
inlined void add_shared(unsigned address, int v) { *(int *)onhost::reach_shared("adds to", address, 4) += v; }
inlined void add_shared_unless_0(unsigned address, int v) {
  if (v) add_shared(address, v);
}
inlined unsigned fetch_add_shared(unsigned address, int v) {
  unsigned *p = (unsigned *)onhost::reach_shared("adds to", address, 4), old = *p;
  *p += (unsigned)v;
  return old;
}
inlined unsigned exchange_shared(unsigned address, unsigned v) {
  return std::exchange(*(unsigned *)onhost::reach_shared("exchanges", address, 4), v);
}
template <class N> inlined void add_global_of(N *p, N v) { *onhost::reach_global("adds to", onhost::table, p) += v; }
inlined void add_global(int *p, int v) { add_global_of(p, v); }
inlined void add_global(int64 *p, int64 v) { add_global_of(p, v); }

template <int bytes> inlined void copy_to_shared(unsigned to, const void *from) {
  memset(onhost::reach_shared("copies to", to, bytes), 0xdb, bytes);
  onhost::reach_global("copies", onhost::image, (char *)from, bytes);
  onhost::fibers[onhost::thread].copies.push_back({to, from, bytes});
}
inlined void end_of_copies() {
  auto &f = onhost::fibers[onhost::thread];
  f.groups.push_back(std::move(f.copies));
  f.copies.clear();
}
template <int n> inlined void wait_for_copies() {
  for (auto &groups = onhost::fibers[onhost::thread].groups; groups.size() > n; groups.pop_front())
    for (auto &c : groups.front()) memcpy(onhost::reach_shared("copies to", c.to, c.bytes), c.from, c.bytes);
}
inlined unsigned load_shared(unsigned at) { return *(unsigned *)onhost::reach_shared("reads", at, 4); }
inlined unsigned load_byte_shared(unsigned at) { return *(uint8 *)onhost::reach_shared("reads", at, 1); }

inlined unsigned take_turn(unsigned *queue) { return (*queue)++; }
inlined unsigned count_block(unsigned *ended) { // blocks may be threads of the host
  unsigned before = __atomic_fetch_add(ended, 1u, __ATOMIC_ACQ_REL);
  if (before == (unsigned)blocks() - 1) __atomic_store_n(ended, 0u, __ATOMIC_RELEASE);
  return before;
}
inlined unsigned deliver_block(unsigned *ended) { return count_block(ended); }
inlined void tell_host(unsigned *done) { *done = 1; }

struct two_changes { int64 x, y; };
struct four_counts { int x, y, z, w; };
inlined void take_changes(two_changes *out, int64 *p) { memcpy(out, onhost::reach_global("reads", onhost::table, p, 32), 32); }
inlined void take_changes(two_changes *out, int *p) {
  const int *n = (int *)onhost::reach_global("reads", onhost::table, p, 16);
  out[0] = two_changes{n[0], n[1]}, out[1] = two_changes{n[2], n[3]};
}
