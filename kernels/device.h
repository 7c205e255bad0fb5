// The parts of CUDA that the kernels use, for clang without a CUDA toolkit. Tests compile the
// kernels for the host, too.
#pragma once

#ifdef ON_HOST
#include "onhost/device.h"
#else

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define member __device__ inline __attribute__((always_inline))
#define inlined static member

typedef unsigned char uint8;
typedef short int16;
typedef unsigned short uint16;
typedef float float32;
typedef long long int64;

inlined int thread_x() { return (int)__nvvm_read_ptx_sreg_tid_x(); }
inlined int block_x() { return (int)__nvvm_read_ptx_sreg_ctaid_x(); }
inlined int block_y() { return (int)__nvvm_read_ptx_sreg_ctaid_y(); }
inlined int threads() { return (int)__nvvm_read_ptx_sreg_ntid_x(); }
inlined int blocks() { return (int)__nvvm_read_ptx_sreg_nctaid_x(); }

// For loops over arrays in registers.
#define UNROLL _Pragma("unroll")
#define NOT_UNROLLED _Pragma("nounroll")

template <class A, class B> inlined A as(B b) { return __builtin_bit_cast(A, b); }

// Selects four of the eight bytes of b and a by their numbers. A number plus 8 selects the byte's
// sign, as 0 or 255.
inlined unsigned permute(unsigned a, unsigned b, unsigned selector) { return __nvvm_prmt(a, b, selector); }
// The lower word of upper:lower, shifted to the right by n < 32.
inlined unsigned shift_right(unsigned upper, unsigned lower, unsigned n) {
  unsigned d;
  asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(lower), "r"(upper), "r"(n));
  return d;
}

// Applies a function of three bits to each bit of a, b and c. table is its result for 0xf0, 0xcc
// and 0xaa.
template <unsigned table> inlined unsigned logic(unsigned a, unsigned b, unsigned c) {
  unsigned d;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(c), "n"(table & 0xff));
  return d;
}

// Operations on two halves in a word: minimum; maximum; 1 where a > b, else 0; 1 where a = b, else
// 0; and all bits set where a = b.
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
inlined unsigned least_halves(unsigned a, unsigned b) {
  unsigned d;
  asm("min.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}
inlined unsigned greatest_halves(unsigned a, unsigned b) {
  unsigned d;
  asm("max.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}
inlined half2 greater_halves(unsigned a, unsigned b) {
  unsigned d;
  asm("set.gt.f16x2.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return as<half2>(d);
}
inlined half2 equal_halves(unsigned a, unsigned b) {
  unsigned d;
  asm("set.eq.f16x2.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return as<half2>(d);
}
inlined unsigned where_equal_halves(unsigned a, unsigned b) {
  unsigned d;
  asm("set.eq.u32.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}
inlined half2 fma_halves(half2 a, half2 b, half2 c) { return __builtin_elementwise_fma(a, b, c); }

// 1 if a > b, and 1 if a = b; else 0.
inlined float32 greater_float(float32 a, float32 b) {
  float32 d;
  asm("set.gt.f32.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}
inlined float32 equal_float(float32 a, float32 b) {
  float32 d;
  asm("set.eq.f32.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}

// a·b + c, limited to 0 … 1.
inlined float32 fma_saturated(float32 a, float32 b, float32 c) {
  float32 d;
  asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
  return d;
}

// Shifts v to the left by the lowest five bits of n.
inlined unsigned shift_left(unsigned v, unsigned n) {
  unsigned d;
  asm("shf.l.wrap.b32 %0, 0, %1, %2;" : "=r"(d) : "r"(v), "r"(n));
  return d;
}

// c plus the dot product of four bytes; c plus that of two 16-bit halves of a with the lower two
// bytes of b.
inlined unsigned dot_bytes(unsigned a, unsigned b, unsigned c) {
  unsigned d;
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
inlined unsigned dot_halves(unsigned a, unsigned b, unsigned c) {
  unsigned d;
  asm("dp2a.lo.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}

// The address n · bytes after p, by one multiply-add.
inlined const void *ahead(const void *p, int n, int bytes) {
  unsigned long long q;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(q) : "r"(bytes), "n"(n), "l"(p));
  return (const void *)q;
}

// Loads words if asked, without a branch, so that later loads do not wait.
inlined void load_if(bool asked, unsigned (&to)[1], const void *p) {
  asm("{ .reg .pred q; setp.ne.s32 q, %1, 0; @q ld.global.nc.u32 %0, [%2]; }" : "+r"(to[0]) : "r"((int)asked), "l"(p));
}
inlined void load_if(bool asked, unsigned (&to)[2], const void *p) {
  asm("{ .reg .pred q; setp.ne.s32 q, %2, 0; @q ld.global.nc.v2.u32 {%0, %1}, [%3]; }"
      : "+r"(to[0]), "+r"(to[1]) : "r"((int)asked), "l"(p));
}
inlined void load_if(bool asked, unsigned (&to)[4], const void *p) {
  asm("{ .reg .pred q; setp.ne.s32 q, %4, 0; @q ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%5]; }"
      : "+r"(to[0]), "+r"(to[1]), "+r"(to[2]), "+r"(to[3]) : "r"((int)asked), "l"(p));
}
// Operations that all lanes of a warp execute together: barrier, value of another lane, bits of all
// lanes.
inlined void sync_warp() { __nvvm_bar_warp_sync(-1); }
template <class V> inlined V from_lane(V v, int lane) { return as<V>(__nvvm_shfl_sync_idx_i32(-1, as<int>(v), lane, 31)); }
// The value of the previous lane, and of the next one. The first and the last lane receive their
// own.
template <class V> inlined V from_lane_before(V v) { return as<V>(__nvvm_shfl_sync_up_i32(-1, as<int>(v), 1, 0)); }
template <class V> inlined V from_lane_after(V v) { return as<V>(__nvvm_shfl_sync_down_i32(-1, as<int>(v), 1, 31)); }
inlined unsigned vote(bool b) { return __nvvm_vote_ballot_sync(-1, b); }
inlined bool any(bool b) { return __nvvm_vote_any_sync(-1, b); }

// The 32-bit address of a pointer into shared memory.
inlined unsigned shared_address(int *p) {
  return (unsigned)(unsigned long long)(__attribute__((address_space(3))) int *)p;
}

// Atomic additions without a result.
inlined void add_shared(unsigned address, int v) {
  asm volatile("red.shared.add.s32 [%0], %1;" ::"r"(address), "r"(v) : "memory");
}
inlined void add_shared_unless_0(unsigned address, int v) {
  asm volatile("{ .reg .pred q; setp.ne.s32 q, %1, 0; @q red.shared.add.s32 [%0], %1; }" ::"r"(address), "r"(v) : "memory");
}
inlined void add_global(int64 *p, int64 v) {
  asm volatile("red.global.add.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
inlined void add_global(int *p, int v) { asm volatile("red.global.add.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }

// Atomic operations that return the previous value.
inlined unsigned fetch_add_shared(unsigned address, int v) {
  unsigned old;
  asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(address), "r"(v) : "memory");
  return old;
}
inlined unsigned exchange_shared(unsigned address, unsigned v) {
  unsigned old;
  asm volatile("atom.shared.exch.b32 %0, [%1], %2;" : "=r"(old) : "r"(address), "r"(v) : "memory");
  return old;
}

// Asynchronous copies from global to shared memory. end_of_copies ends a group of copies.
// wait_for_copies waits until at most n groups are incomplete.
template <int bytes> inlined void copy_to_shared(unsigned to, const void *from) {
  if constexpr (bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}
inlined void end_of_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int n> inlined void wait_for_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory"); }
inlined unsigned load_shared(unsigned at) {
  unsigned d;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(d) : "r"(at) : "memory");
  return d;
}
inlined unsigned load_byte_shared(unsigned at) {
  unsigned d;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(d) : "r"(at) : "memory");
  return d;
}

// take_turn returns the next number of a queue. count_block returns the number of blocks that have
// called it before; the last block's call resets the counter.
inlined unsigned take_turn(unsigned *queue) { return __nvvm_atom_inc_gen_ui(queue, 0xffffffff); }
inlined unsigned count_block(unsigned *ended) { return __nvvm_atom_inc_gen_ui(ended, blocks() - 1); }

// count_block with acquire and release semantics: it publishes the writes of the block's threads
// before the last barrier, and makes those of earlier callers visible.
inlined unsigned deliver_block(unsigned *ended) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(ended), "r"(blocks() - 1) : "memory");
  return before;
}
// Writes 1 for the host, after all previous writes are visible to it.
inlined void tell_host(unsigned *done) { asm volatile("st.release.sys.u32 [%0], 1;" ::"l"(done) : "memory"); }

// Loads four changes from the second-level cache, because other blocks have added to them.
typedef int64 two_changes __attribute__((ext_vector_type(2)));
typedef int four_counts __attribute__((ext_vector_type(4)));
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
#endif
