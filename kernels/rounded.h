// Sums and products that are rounded to nearest separately, and that no compiler fuses.
#pragma once
#include "device.h"

#ifdef ON_HOST // compilers for the host are not allowed to fuse them
inlined float32 times(float32 a, float32 b) { return a * b; }
inlined float32 plus(float32 a, float32 b) { return a + b; }
inlined float32 minus(float32 a, float32 b) { return a - b; }
#else
inlined float32 times(float32 a, float32 b) {
  float32 c;
  asm("mul.rn.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
}
inlined float32 plus(float32 a, float32 b) {
  float32 c;
  asm("add.rn.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
}
inlined float32 minus(float32 a, float32 b) {
  float32 c;
  asm("sub.rn.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
}
#endif
