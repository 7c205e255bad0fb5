// The soft curve of bins, and the table of its gradient (softecc.h).
#include "softecc.h"

extern "C" __global__ void softecc_curve(const double *at, const int64 *counts, int n, int each, const double *over,
                                         const double *tau, const double *g, double *out) {
  curve_of(sums{at, counts, n, each, over[2], over[3]}, tau, g, out);
}

extern "C" __global__ void softecc_table(const double *at, int n, int each, const double *over, const double *tau,
                                         const double *g, int thresholds, float32 *out) {
  table_of(sums{at, nullptr, n, each, over[2], over[3]}, tau, g, thresholds, block_x(), blocks(), out);
}

// Both at once: neither waits for the other, and each alone leaves most of the device idle.
extern "C" __global__ void softecc_curve_and_table(const double *at, const int64 *counts, int n, int each, const double *over,
                                                   const double *tau, const double *g, int thresholds, double *out, float32 *slopes) {
  sums b{at, counts, n, each, over[2], over[3]};
  if (block_x() < thresholds) curve_of(b, tau, g, out);
  else table_of(b, tau, g, thresholds, block_x() - thresholds, blocks() - thresholds, slopes);
}
