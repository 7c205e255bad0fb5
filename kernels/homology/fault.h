// Known defects of the kernels of homology.
#pragma once
#include "../device.h"

#define FAULTS(fault)                                                                      \
  fault(corner)   /* corners of the boundary are not joined at one end of an edge */       \
  fault(unused)   /* vertices without a simplex count as components */                     \
  fault(last)     /* the last triangles of the boundary are omitted */                     \
  fault(check)    /* reductions that do not own all their locks continue */                \
  fault(cobound)  /* the cell lists of faces do not change together with the boundaries */ \
  fault(again)    /* reduced faces are cells of the next dimension */                      \

#include "../planted.h"
