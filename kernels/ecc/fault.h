// Known defects, one of which tests plant in a kernel by -DFAULT=<its name>.
// Without one the compiler leaves no trace of them.
#pragma once

#ifdef FAULT // for tests, two kernels of a source are enough
#pragma clang diagnostic ignored "-Wunused-function"
#define KERNELS(kernel) kernel(2d, float32) kernel(3d, float32)
#define NARROW_ONLY // batches of others are counted by code that has faults of its own
#else
#define FAULT none
#define KERNELS(kernel)                                                                       \
  kernel(2d, uint8) kernel(2d, int16) kernel(2d, uint16) kernel(2d, float32)                  \
  kernel(3d, uint8) kernel(3d, int16) kernel(3d, uint16) kernel(3d, float32)
#endif

enum class fault {
  none,
  tie,      // a tie with an earlier row counts as won
  halo,     // what lies across the edge of a tile is taken wrong
  barrier,  // a block's changes are added up before all are there
  atomic,   // changes are added by a load, an addition and a store
  slab,     // the last slices or rows are not counted
  owner,    // a minimum is handed to the voxel that it is not of
  sign,     // what falls in one image of minima is added
  flush,    // only the first 512 levels are added to the curve's, or half of them
  image,    // the last counts of an image go to the next one
  overflow, // counters of 16 bits are not emptied in time
  twice,    // what they hold is added twice when they are
};

// Whether a fault is planted.
constexpr bool planted(fault f) { return f == fault::FAULT; }
