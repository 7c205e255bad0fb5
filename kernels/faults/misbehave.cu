// Kernels that fail as kernels do, for tests of the harness. They take what a
// counting kernel takes after its image (internal/resident).
#include "../device.h"

#define KERNEL(failure)                                                                                 \
  extern "C" __global__ void ecc_##failure##_3d_float32(int levels, int least, int affine, float32 lo, \
      float32 inverse, const int *lut, const float32 *values, int64 *total, int copies)

// Writes 8 TiB beyond the table.
KERNEL(oob) { total[(1ll << 40) + thread_x()] = levels; }

// Waits for a value that nothing writes.
KERNEL(endless) {
  while (*(volatile int64 *)total != -1) {}
}

// Adds nothing. Its launch is what asks for too much.
KERNEL(greedy) { add_global(total, 0); }
