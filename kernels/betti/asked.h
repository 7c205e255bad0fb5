// The question of a launch, one per row of its grid: an image and the limit of its set. Images are
// contiguous. The Betti numbers of a question follow from three sums.
#pragma once
#include "fault.h"

// The sums: components of the set, bounded components of the background, and χ. Blocks add to one
// of 32 copies.
enum { components, cavities, characteristic, sums, copies = 32 };

// The question of a block. Question q is image q / levels at limit q % levels. The first row of the
// grid has question `first`.
template <class T, class L> struct asked {
  const T *images;
  int64 begin, end; // the first voxel of the image, and the end of all images
  L limit;
  bool above; // the set is the voxels above the limit, not those up to it
  // There are count images, and the first one begins at voxel `from`.
  member asked(const T *images, int64 from, int64 count, int64 voxels, const L *limits, unsigned levels, int above,
               unsigned first)
      : images(images), above(above) {
    unsigned q = first + (unsigned)block_y(), i = q / levels, k = q - i * levels;
    if (planted(fault::question)) i = k, k = q / levels;
    begin = from + i * voxels, end = from + count * voxels, limit = limits[k];
  }
  member bool has(T v) const { return ((L)v <= limit) != above; }
};

// The sums of the block's question.
inlined int64 *sums_of(int64 *out) { return out + (int64)block_y() * (copies * sums); }
