// Known defects of the kernels of Betti numbers. Tests plant them on the host, where the
// environment's FAULT names one, so that one program has them all; for devices there are none.
#pragma once
#include "../device.h"

#define FAULTS(fault)                                                                              \
  fault(edges)    /* what is around the set is not joined with the outside at the box's edges */   \
  fault(eighteen) /* bundles that are diagonal to each other are not joined at corners */          \
  fault(outside)  /* the outside is counted as a cavity */                                         \
  fault(seam)     /* what tiles of the set share is not joined */                                  \
  fault(twice)    /* unions at the seams of what is around it are counted twice */                 \
  fault(narrow)   /* the numbers of nodes are of 16 bits */                                        \
  fault(square)   /* a link is left out where one side of its square is missing */                 \
  fault(end)      /* a run that goes on in the next tile is not joined */

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
