// The kernel between the passes over the voxels of a soft curve (softecc.h).
#include "softecc.h"

// The curve by places, and the table of its gradient, in one launch: they are independent, and each
// alone leaves most of the device idle.
extern "C" __global__ void softecc_curve_and_table(const double *at, const int64 *counts, int n, double lambda,
                                                   const double *tau, const double *g, int thresholds, double *out,
                                                   float32 *slopes) {
  sums b{at, counts, n, lambda};
  if (block_x() < thresholds) curve_of(b, tau, g, out);
  else table_of(b, tau, g, thresholds, block_x() - thresholds, blocks() - thresholds, slopes);
}
