// Known defects of the kernels of eigenmaps.
#pragma once
#include "../device.h"

#define FAULTS(fault)                                                          \
  fault(diagonal) /* a patch is its own neighbour */                           \
  fault(mirror)   /* what lies below the diagonal is lost */                   \
  fault(window)   /* patches more than two away, along x, are lost */          \
  fault(once)     /* what a vector has of the first one is taken out half */   \
  fault(plane)    /* the link before the first plane of a block is lost */     \
  fault(degree)   /* links to cells that share no face are no part of masses */ \
  fault(sign)     /* what the next level came to is taken away, not added */   \
  fault(adjoint)  /* restriction is not the transpose of interpolation */      \
  fault(weak)     /* coarser links are those of resistances alone */           \
  fault(brief)    /* levels in a block are smoothed less on the way back */     \
  fault(part)     /* the last block's part of a sum is left out */

#include "../planted.h"
