// Known defects of the kernels of the gradient vector flow.
#pragma once
#include "../device.h"

#define FAULTS(fault)                                                                    \
  fault(border) /* the neighbour beyond a border is off by one */                        \
  fault(fused)  /* a product and a sum are fused */                                      \
  fault(edge)   /* the last column of a tile is lost */                                  \
  fault(ring)   /* of several steps taken at once, one reads V0 of another plane */      \
  fault(adjoint) /* restriction is not the transpose of interpolation */                 \
  fault(hasty)   /* the first block of a launch to end concludes it, not the last one */

#include "../planted.h"
