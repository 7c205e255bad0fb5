// The soft curve of bins, and the table of its gradient (softecc.h).
#include "softecc.h"

extern "C" __global__ void softecc_curve(const double *at, const int64 *counts, int n, int each, const double *over,
                                         const double *tau, const double *g, double *out) {
  curve_of(sums{at, counts, n, each, over[2], over[3]}, tau, g, out);
}

extern "C" __global__ void softecc_table(const double *at, int n, int each, const double *over, const double *tau,
                                         const double *g, int thresholds, float32 *out) {
  table_of(sums{at, nullptr, n, each, over[2], over[3]}, tau, g, thresholds, out);
}
