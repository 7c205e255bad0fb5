// Known defects. Tests plant one of them in a kernel by -DFAULT=<its name>. Without one, the
// compiler removes all traces of them.
#pragma once

#ifdef FAULT // two kernels of a source are enough for tests
#pragma clang diagnostic ignored "-Wunused-function"
#define KERNELS(kernel) kernel(2d, float32) kernel(3d, float32)
#define NARROW_ONLY // batches of other images share code that has its own faults
#else
#define FAULT none
#define KERNELS(kernel)                                                                       \
  kernel(2d, uint8) kernel(2d, int16) kernel(2d, uint16) kernel(2d, float32)                  \
  kernel(3d, uint8) kernel(3d, int16) kernel(3d, uint16) kernel(3d, float32)
#endif

enum class fault {
  none,
  tie,      // a tie with an earlier row counts as won
  halo,     // values across the edge of a tile are wrong
  barrier,  // a block sums up its changes before all of them are added
  atomic,   // changes are added by a load, an addition and a store, not atomically
  slab,     // the last slices or rows are not counted
  owner,    // the change of a minimum is handed to a voxel that does not own it
  sign,     // a fall in one image of minima is added with the wrong sign
  flush,    // only the first 512 levels, or half of them, are added to the curve
  image,    // the last counts of an image are added to the next image
  overflow, // counters of 16 bits are not emptied in time
  twice,    // an emptied counter is added twice
};

// Whether a fault is planted.
constexpr bool planted(fault f) { return f == fault::FAULT; }
