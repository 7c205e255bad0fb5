// Known defects of the kernels of the gradient vector flow. Tests plant them on the host, where
// the environment's FAULT names one, so that one program has them all; for devices there are
// none.
#pragma once
#include "../device.h"

#define FAULTS(fault)                                                            \
  fault(border) /* the neighbour beyond a border is off by one */                \
  fault(fused)  /* a product is joined with a sum */                             \
  fault(edge)   /* the last column of a tile is lost */                          \
  fault(ring)   /* of steps that are taken together one reads V0 of another plane */

enum class fault {
  none,
#define FAULT(name) name,
  FAULTS(FAULT)
#undef FAULT
};

// Whether a fault is planted.
#ifdef ON_HOST
inline bool planted(fault f) {
  static const fault has = [] {
    const char *name = getenv("FAULT");
#define FAULT(known) if (name && !strcmp(name, #known)) return fault::known;
    FAULTS(FAULT)
#undef FAULT
    return fault::none;
  }();
  return f == has;
}
#else
constexpr bool planted(fault) { return false; }
#endif
