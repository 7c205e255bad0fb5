// The little of CUDA that the kernels use, for clang without a CUDA toolkit. Tests compile
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

// Loops over what registers hold.
#define UNROLL _Pragma("unroll")
#define NOT_UNROLLED _Pragma("nounroll")

template <class A, class B> inlined A as(B b) { return __builtin_bit_cast(A, b); }

// Four of the eight bytes of b and a, by their numbers; 8 more for a byte of its sign.
inlined unsigned permute(unsigned a, unsigned b, unsigned selector) { return __nvvm_prmt(a, b, selector); }
// The lower half of both, shifted to the right by less than 32.
inlined unsigned shift_right(unsigned upper, unsigned lower, unsigned n) {
  unsigned d;
  asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(lower), "r"(upper), "r"(n));
  return d;
}

// A function of each bit of three words, by what it is of 0xf0, 0xcc and 0xaa.
template <unsigned table> inlined unsigned logic(unsigned a, unsigned b, unsigned c) {
  unsigned d;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(c), "n"(table & 0xff));
  return d;
}

// Two halves to a word: the lesser ones, the greater ones; 1 where a > b, where a = b, else 0; and all bits
// where a = b.
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

// 1 where a > b, where a = b, else 0.
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

// a·b + c, from 0 to 1.
inlined float32 fma_saturated(float32 a, float32 b, float32 c) {
  float32 d;
  asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
  return d;
}

// To the left by the lowest five bits of n.
inlined unsigned shift_left(unsigned v, unsigned n) {
  unsigned d;
  asm("shf.l.wrap.b32 %0, 0, %1, %2;" : "=r"(d) : "r"(v), "r"(n));
  return d;
}

// c, and the sum of products of four bytes; of two halves of 16 bits and two bytes.
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

// A pointer n times so many bytes ahead, by a multiplier.
inlined const void *ahead(const void *p, int n, int bytes) {
  unsigned long long q;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(q) : "r"(bytes), "n"(n), "l"(p));
  return (const void *)q;
}

// Words that are read where asked, without a branch: loads that follow do not wait.
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
// What all threads of a warp meet in: what another one holds, and a bit from each.
inlined void sync_warp() { __nvvm_bar_warp_sync(-1); }
template <class V> inlined V from_lane(V v, int lane) { return as<V>(__nvvm_shfl_sync_idx_i32(-1, as<int>(v), lane, 31)); }
// What the lane before holds, and the one after; the first and the last their own.
template <class V> inlined V from_lane_before(V v) { return as<V>(__nvvm_shfl_sync_up_i32(-1, as<int>(v), 1, 0)); }
template <class V> inlined V from_lane_after(V v) { return as<V>(__nvvm_shfl_sync_down_i32(-1, as<int>(v), 1, 31)); }
inlined unsigned vote(bool b) { return __nvvm_vote_ballot_sync(-1, b); }
inlined bool any(bool b) { return __nvvm_vote_any_sync(-1, b); }

// A shared-memory address as the hardware counts it.
inlined unsigned shared_address(int *p) {
  return (unsigned)(unsigned long long)(__attribute__((address_space(3))) int *)p;
}

// Atomic additions that nothing waits for.
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

// Atomic operations that give what was there before.
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

// Copies from the device's memory to shared memory that nothing waits for but
// wait_for_copies: until at most so many of those that end_of_copies ended are not done.
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

// The next number of a queue; and how many blocks came before to where each comes
// once, which the last sets back.
inlined unsigned take_turn(unsigned *queue) { return __nvvm_atom_inc_gen_ui(queue, 0xffffffff); }
inlined unsigned count_block(unsigned *ended) { return __nvvm_atom_inc_gen_ui(ended, blocks() - 1); }

// The latter for a block that passes on all that its threads did before the last barrier,
// and sees what the blocks did that came before.
inlined unsigned deliver_block(unsigned *ended) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(ended), "r"(blocks() - 1) : "memory");
  return before;
}
// Writes 1 for the host to see, with all that was written before.
inlined void tell_host(unsigned *done) { asm volatile("st.release.sys.u32 [%0], 1;" ::"l"(done) : "memory"); }

// Four changes that other blocks added to, too, which the first-level cache does not have.
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
