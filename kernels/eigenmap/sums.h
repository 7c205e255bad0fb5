// Sums of float64 numbers in a fixed order, so that their bits are reproducible: first in a thread,
// then by a tree in the warp, then warp by warp. Each block stores its result in an argument called
// parts, which a later kernel adds up in a fixed order.
#pragma once
#include "fault.h"

// Two numbers, loaded together.
typedef double pair __attribute__((vector_size(16)));

// The number of another lane.
inlined double from_lane_of(double v, int lane) {
  unsigned long long bits = as<unsigned long long>(v);
  unsigned low = from_lane((unsigned)bits, lane), high = from_lane((unsigned)(bits >> 32), lane);
  return as<double>((unsigned long long)high << 32 | low);
}

// The sum over the lanes of a warp, in all lanes.
inlined double over_lanes(double v) {
  UNROLL for (int far = 16; far > 0; far >>= 1) v += from_lane_of(v, (thread_x() & 31) ^ far);
  return v;
}

// The sums of n numbers of each lane, where n is a power of two. Lane l returns sum l / (32/n).
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

// The square root, rounded to nearest.
inlined double root(double v) { return __builtin_sqrt(v); }

// Vectors are padded with 0 to a number of chunks. A block handles one chunk.
enum { chunk = 128 };
