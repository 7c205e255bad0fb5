// Kernels for arrays of other programs (extrema_arrays.h) that count 32 voxels at a time.
#pragma once
#include "extrema_arrays.h"
#include "sliced_planes.h"

#define ARRAY_SLICED(name, T, chunk, aligned, Counters)                                                                \
  ARRAY(name, 3d, T, launch_bounds(384, 1)) {                                                                          \
    typedef Counters counters;                                                                                         \
    take_image(image, voxels, chi, rows, memory, levels);                                                              \
    int64 *total = table_in<int64>(memory);                                                                            \
    auto in = sliced::ring<T, counters, chunk, aligned, true>::make(image, width, height, bias,                        \
                                                                   counters::start(total, levels), voxels, safe);     \
    sliced::march(in, width, height, slices, segment, queue_in(memory));                                               \
    in.counted.finish(total, lut, levels);                                                                             \
    sum_up<int64>(memory, levels, chi, rows);                                                                          \
  }
#define ARRAYS_SLICED(name, T, Counters)                                                                              \
  ARRAY_SLICED(name, T, 16, true, Counters) ARRAY_SLICED(name##_fours, T, 4, true, Counters)                          \
  ARRAY_SLICED(name##_unaligned, T, 4, false, Counters)
