// Known defects of the kernels of fingerprints.
#pragma once
#include "../device.h"

#define FAULTS(fault)                                                                        \
  fault(seam)    /* the column before a warp's first one is replaced by the first one */     \
  fault(row)     /* the row that two groups of rows share is replaced by the previous one */ \
  fault(segment) /* the plane that two segments share is skipped */                          \
  fault(outside) /* columns beyond the image's last one count as voxels */                   \
  fault(sign)    /* falls between the rows of two planes are added with the wrong sign */    \
  fault(tie)     /* a weight falls where the upper halves are equal */                       \
  fault(lanes)   /* half of a warp is not added */                                           \
  fault(between) /* a value between two levels gets the lower one */                         \
  fault(last)    /* values above the last level get the last level */                        \
  fault(cross)   /* one product of upper and lower bits is omitted */                        \
  fault(step)    /* the next rows of a 2D image begin one early */

#include "../planted.h"
