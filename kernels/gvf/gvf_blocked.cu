// The gradient vector flow with several steps per pass over the field (blocked_2d.h, blocked_3d.h).
// Each value results from the same operations in the same order as with plain steps.
#include "blocked_2d.h"
#include "blocked_3d.h"

#define FIELDS(T) const T *v, const T *v0, const float32 *b, T *to, int w, int h, int d, int third, float32 mu, int length
#define BLOCKED_2D(depth, name, Kept)                                                                               \
  extern "C" __global__ __attribute__((launch_bounds(32, 12))) void gvf_blocked_2d_##depth##name(FIELDS(Kept::value)) { \
    blocked_2d<depth, depth < 8 ? 8 : 16, Kept>::part(v, v0, b, to, shape{w, h, d, third}, mu, length);             \
  }
#define BLOCKED_3D(depth, name, Kept, warps)                                                                        \
  extern "C" __global__ __attribute__((launch_bounds(32 * warps, 1))) void gvf_blocked_3d_##depth##name(FIELDS(Kept::value)) { \
    blocked_3d<depth, 2, warps, 2, Kept>::part(v, v0, b, to, shape{w, h, d, third}, mu, length);                    \
  }
#define BLOCKED(name, Kept, warps)                                                                                  \
  BLOCKED_2D(1, name, Kept) BLOCKED_2D(2, name, Kept) BLOCKED_2D(4, name, Kept) BLOCKED_2D(8, name, Kept)           \
  BLOCKED_3D(1, name, Kept, warps) BLOCKED_3D(2, name, Kept, warps) BLOCKED_3D(4, name, Kept, warps)
// The number of warps is limited by shared memory.
BLOCKED(, in_float32, 11)
BLOCKED(_float16, in_float16, 12)
