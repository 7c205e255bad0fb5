// The gradient vector flow in float32, several steps for each time that the field is read and
// written (blocked_2d.h, blocked_3d.h). Each value is made by the same operations in the same
// order as by plain steps.
#include "blocked_2d.h"
#include "blocked_3d.h"

#define FIELDS const float32 *v, const float32 *v0, const float32 *b, float32 *to, int w, int h, int d, int third, float32 mu, int length
#define BLOCKED_2D(depth)                                                                                          \
  extern "C" __global__ __attribute__((launch_bounds(128, 3))) void gvf_blocked_2d_##depth(FIELDS) {               \
    blocked_2d<depth>::part(v, v0, b, to, shape{w, h, d, third}, mu, length);                                      \
  }
#define BLOCKED_3D(depth)                                                                                          \
  extern "C" __global__ __attribute__((launch_bounds(384, 1))) void gvf_blocked_3d_##depth(FIELDS) {               \
    blocked_3d<depth, 2, 12>::part(v, v0, b, to, shape{w, h, d, third}, mu, length);                               \
  }
BLOCKED_2D(1)
BLOCKED_2D(2)
BLOCKED_2D(4)
BLOCKED_2D(8)
BLOCKED_3D(1)
BLOCKED_3D(2)
BLOCKED_3D(4)
