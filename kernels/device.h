// The little of CUDA that the kernels use, for clang without a CUDA toolkit.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define inlined static __device__ inline __attribute__((always_inline))

typedef unsigned char uint8;
typedef short int16;
typedef unsigned short uint16;
typedef float float32;
typedef long long int64;

inlined int thread_x() { return (int)__nvvm_read_ptx_sreg_tid_x(); }
inlined int block_x() { return (int)__nvvm_read_ptx_sreg_ctaid_x(); }
inlined int threads() { return (int)__nvvm_read_ptx_sreg_ntid_x(); }
inlined int blocks() { return (int)__nvvm_read_ptx_sreg_nctaid_x(); }

// A shared-memory address as the hardware counts it.
inlined unsigned shared_address(int *p) {
  return (unsigned)(unsigned long long)(__attribute__((address_space(3))) int *)p;
}

// Atomic additions that nothing waits for.
inlined void add_shared(unsigned address, int v) {
  asm volatile("red.shared.add.s32 [%0], %1;" ::"r"(address), "r"(v) : "memory");
}
inlined void add_global(int64 *p, int64 v) {
  asm volatile("red.global.add.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

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
