// Known defects of the kernels of Betti numbers.
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
  fault(end)      /* a run that goes on in the next tile is not joined */                          \
  fault(slice)    /* the slice that two parts have is counted twice in χ */                         \
  fault(cut)      /* where an image is cut its background is joined with the outside */            \
  fault(full)     /* a tile of which all is in the set, or around it, is not counted */            \
  fault(whole)    /* of tiles in which each row is all or nothing runs have their first links alone */ \
  fault(side)     /* of curves, saddles around the set are forgotten in the last plane */          \
  fault(waiting)  /* saddles are forgotten that wait while a warp joins others */                  \
  fault(third)    /* of a saddle where three components meet the third is forgotten */             \
  fault(path)     /* a way around the set leads to a corner that no edge leads to */               \
  fault(moved)    /* an edge whose place another one took is not joined again */                   \
  fault(question) /* the images and the limits of a batch are numbered the other way round */

#include "../planted.h"
