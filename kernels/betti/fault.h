// Known defects, one of which tests plant in the kernels where they run on the host
// (../onhost/run.cc), by its number.
#pragma once

enum class fault {
  none,
  edges,    // what is around the set is not joined with the outside at the edges of the box
  eighteen, // bundles that are diagonal to each other are not joined at corners
  outside,  // the outside is counted as a cavity
  seam,     // what tiles of the set share is not joined
  twice,    // unions at the seams of what is around it are counted twice
  narrow,   // the numbers of nodes are of 16 bits
  square,   // a link is left out where one side of its square is missing
  end,      // a run that goes on in the next tile is not joined
};

#ifdef ON_HOST
inlined bool planted(fault f) { return (int)f == onhost::has; }
#else
constexpr bool planted(fault) { return false; }
#endif
