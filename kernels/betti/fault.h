// Known defects of the kernels of Betti numbers.
#pragma once
#include "../device.h"

#define FAULTS(fault)                                                                           \
  fault(edges)    /* the background is not joined with the outside at the box's edges */        \
  fault(eighteen) /* diagonal bundles are not joined at corners */                              \
  fault(outside)  /* the outside is counted as a cavity */                                      \
  fault(seam)     /* tiles of the set, or of masks, are not joined */                           \
  fault(twice)    /* unions at the seams of the background are counted twice */                 \
  fault(narrow)   /* the numbers of nodes have 16 bits */                                       \
  fault(square)   /* a link is skipped although one side of its square is missing */            \
  fault(end)      /* a run that continues in the next tile is not joined */                     \
  fault(slice)    /* the slice that two parts share is counted twice in χ */                    \
  fault(cut)      /* where an image is divided, its background is joined with the outside */    \
  fault(full)     /* a full tile, of the set or of the background, is not counted */            \
  fault(whole)    /* in tiles whose rows are full or empty, runs have only their first links */ \
  fault(side)     /* curves: saddles of the background are ignored in the last plane */         \
  fault(waiting)  /* saddles are dropped that wait while a warp joins others */                 \
  fault(third)    /* of three components that meet at a saddle, the third one is ignored */     \
  fault(path)     /* a descent in the background leads to a corner that no edge leads to */     \
  fault(moved)    /* an edge that another one replaced is not joined again */                   \
  fault(question) /* images and limits of a batch are numbered in the wrong order */            \
  fault(lesser)   /* matching: runs are not joined with a run that ends before them */          \
  fault(greater)  /* matching: runs are not joined with a run that begins after them */         \
  fault(crossing) /* matching: gaps of both masks that overlap are not joined */                \
  fault(border)   /* matching: gaps are not joined with the outside at the last row or plane */ \
  fault(alone)    /* matching: components that one mask meets are counted */                    \
  fault(pair)     /* matching: all pairs of a batch are the first one */

#include "../planted.h"
