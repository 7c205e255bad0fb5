// sum += each 64-bit word: reads an image and does nothing else
#include "../handover.h"

typedef unsigned long long word;

// Loads 16 bytes that are read only once, without caching them in L1.
inlined void load(word &a, word &b, const word *p) {
  asm("ld.global.nc.L1::no_allocate.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(p));
}

// Sums the 64-bit words of an image; the host pads the last word with zeros. Each thread reads 16
// bytes at a time. The last block copies the sum to the host.
extern "C" __global__ void memread(const word *image, int64 words, int64 *copy, unsigned *done, int64 *sum) {
  __shared__ word sums[32];
  word s0 = 0, s1 = 0;
  int64 pairs = words >> 1, step = (int64)blocks() * threads(), i = (int64)block_x() * threads() + thread_x();
  for (; i + 3 * step < pairs; i += 4 * step) { // four loads in flight
    word a[4], b[4];
    for (int k = 0; k < 4; k++) load(a[k], b[k], image + 2 * (i + k * step));
    for (int k = 0; k < 4; k++) { s0 += a[k]; s1 += b[k]; }
  }
  for (; i < pairs; i += step) {
    word a, b;
    load(a, b, image + 2 * i);
    s0 += a;
    s1 += b;
  }
  if ((words & 1) && block_x() == 0 && thread_x() == 0) s0 += image[words - 1];
  s0 += s1;
  for (int d = 16; d > 0; d >>= 1) {
    int lo = __nvvm_shfl_sync_down_i32(-1, (int)s0, d, 31), hi = __nvvm_shfl_sync_down_i32(-1, (int)(s0 >> 32), d, 31);
    s0 += (unsigned)lo | (word)(unsigned)hi << 32;
  }
  if (!(thread_x() & 31)) sums[thread_x() >> 5] = s0;
  __syncthreads();
  if (!thread_x()) {
    for (int i = 1; i < threads() >> 5; i++) s0 += sums[i];
    add_global(sum, (int64)s0);
  }
  hand_over(sum, 1, copy, done);
}
