// Kernels that fail in typical ways, for tests of the harness. They take the parameters of a
// counting kernel that follow the image (internal/resident).
#include "../device.h"

#define KERNEL(failure)                                                                                 \
  extern "C" __global__ void ecc_##failure##_3d_float32(int levels, int least, int affine, float32 lo, \
      float32 inverse, const int *lut, const float32 *values, int64 *total, int copies)

// Writes 8 TiB beyond the table.
KERNEL(oob) { total[(1ll << 40) + thread_x()] = levels; }

// Waits for a value that is never written.
KERNEL(endless) {
  while (*(volatile int64 *)total != -1) {}
}

// Adds nothing. Its launch requests too many resources.
KERNEL(greedy) { add_global(total, 0); }
