// Known defects of the kernels of eigenmaps.
#pragma once
#include "../device.h"

#define FAULTS(fault)                                                          \
  fault(diagonal) /* a patch is its own neighbour */                           \
  fault(mirror)   /* what lies below the diagonal is lost */                   \
  fault(window)   /* the tiles before and behind, along x, are lost */         \
  fault(once)     /* what a vector has of the first one is taken out half */

#include "../planted.h"
