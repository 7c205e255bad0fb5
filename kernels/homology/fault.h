// Known defects of the kernels of homology.
#pragma once
#include "../device.h"

#define FAULTS(fault)                                                                                  \
  fault(corner)   /* corners of the boundary are not joined at one end of an edge */                   \
  fault(unused)   /* vertices that no simplex has are components */                                    \
  fault(last)     /* the last triangles of the boundary are left out */                                \
  fault(check)    /* reductions that do not own all that they change go on */                          \
  fault(cobound)  /* what faces are faces of is not changed after the boundaries were */               \
  fault(again)    /* faces that were reduced are cells of the next dimension */                        \

#include "../planted.h"
