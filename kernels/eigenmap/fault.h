// Known defects of the kernels of eigenmaps.
#pragma once
#include "../device.h"

#define FAULTS(fault)                                                            \
  fault(diagonal) /* a patch is its own neighbour */                             \
  fault(mirror)   /* the products below the diagonal are lost */                 \
  fault(window)   /* neighbours more than two patches away, along x, are lost */ \
  fault(once)     /* only half of a vector's first component is removed */       \
  fault(plane)    /* the link before the first plane of a block is lost */       \
  fault(degree)   /* links to cells that share no face are not part of masses */ \
  fault(sign)     /* the coarse correction is subtracted, not added */           \
  fault(adjoint)  /* restriction is not the transpose of interpolation */        \
  fault(weak)     /* coarse links are from resistances alone */                  \
  fault(brief)    /* levels in a block are smoothed less on the way back */      \
  fault(part)     /* the last block's part of a sum is omitted */

#include "../planted.h"
