// The parameters of a caller, which are float64 or float32.
#pragma once
#include "../device.h"

// Bits for the parameters that are float64.
enum { double_tau = 1, double_lambda = 2, double_alpha = 4, double_direction = 8 };

// Element i of an array.
inlined double number(const void *p, int i, bool doubles) {
  return doubles ? ((const double *)p)[i] : (double)((const float32 *)p)[i];
}

// Tests the bits, so that no optimization of arithmetic can remove it.
inlined bool finite(double v) { return (as<int64>(v) >> 52 & 0x7ff) != 0x7ff; }
