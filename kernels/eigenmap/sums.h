// Sums of float64 numbers, always in the same order, so that their bits are the same: in a
// thread, then by the tree of a warp, then warp by warp. Where arguments say "parts", each block
// has left one there, for whoever adds them up by one order.
#pragma once
#include "fault.h"

// Two numbers that memory brings together.
typedef double pair __attribute__((vector_size(16)));

// What a lane holds.
inlined double from_lane_of(double v, int lane) {
  unsigned long long bits = as<unsigned long long>(v);
  unsigned low = from_lane((unsigned)bits, lane), high = from_lane((unsigned)(bits >> 32), lane);
  return as<double>((unsigned long long)high << 32 | low);
}

// The sum of what the lanes of a warp have, in all of them.
inlined double over_lanes(double v) {
  UNROLL for (int far = 16; far > 0; far >>= 1) v += from_lane_of(v, (thread_x() & 31) ^ far);
  return v;
}

// Sums of n numbers that each lane has, n a power of two: of 32/n lanes side by side all have
// the same one, the first ones the first.
template <int n, int far = 16> inlined double over_lanes_each(double (&v)[n]) {
  int lane = thread_x() & 31;
  if constexpr (n > 1) {
    double kept[n / 2];
    UNROLL for (int i = 0; i < n / 2; i++) {
      double low = v[i], high = v[i + n / 2];
      kept[i] = (lane & far ? high : low) + from_lane_of(lane & far ? low : high, lane ^ far);
    }
    return over_lanes_each<n / 2, far / 2>(kept);
  } else {
    double sum = v[0];
    UNROLL for (int rest = far; rest > 0; rest >>= 1) sum += from_lane_of(sum, lane ^ rest);
    return sum;
  }
}

// The square root, to the nearest.
inlined double root(double v) { return __builtin_sqrt(v); }

// Vectors are as long as a number of chunks, 0 behind their end. A block has a chunk.
enum { chunk = 128 };
