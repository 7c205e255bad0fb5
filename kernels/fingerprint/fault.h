// Known defects of the kernels of fingerprints.
#pragma once
#include "../device.h"

#define FAULTS(fault)                                                                        \
  fault(seam)    /* the column before a warp's first one is taken for the first one */       \
  fault(row)     /* the row that two groups of rows share is taken for the one before */     \
  fault(segment) /* the plane that two segments share is passed by */                        \
  fault(outside) /* the columns beyond the image's last one are taken for voxels */          \
  fault(sign)    /* what falls between rows of two planes is added */                        \
  fault(tie)     /* a weight falls where the upper halves are the same */                    \
  fault(lanes)   /* half of a warp is not added up */                                        \
  fault(between) /* a value between two levels is on the lower one */                        \
  fault(last)    /* values above the last level are on it */                                 \
  fault(cross)   /* of a product, upper bits times lower ones are left out once */           \
  fault(step)    /* the next rows of a 2D image begin one early */

#include "../planted.h"
