// The order of voxels: first by value in Y, then by x, y, z.
#pragma once
#include "../device.h"

// Neighbours by their offsets, from −1 to 1 along each axis: the bit of a neighbour; the bits of
// the neighbours that share a cell; and whether a neighbour with an equal value is later.
constexpr unsigned bit(int x, int y, int z) { return 1u << ((z + 1) * 9 + (y + 1) * 3 + x + 1); }
constexpr unsigned of_cell(int x, int y, int z) {
  const unsigned flat = bit(x, 0, 0) | bit(0, y, 0) | bit(x, y, 0);
  return (flat | bit(0, 0, z) | bit(x, 0, z) | bit(0, y, z) | bit(x, y, z)) & ~bit(0, 0, 0);
}
constexpr bool after(int x, int y, int z) { return x > 0 || (x == 0 && (y > 0 || (y == 0 && z > 0))); }

// The number of cells whose first voxel has the value own, each with the sign of its codimension.
// row returns the values of three neighbours with the same y and z. All are loaded before the first
// is compared.
template <bool solid, class Row> inlined int cells_of(float32 own, Row row) {
  const int deep = solid ? 1 : 0;
  float32 v[2 * deep + 1][3][3];
  UNROLL for (int dz = -deep; dz <= deep; dz++)
    UNROLL for (int dy = -1; dy <= 1; dy++) row(v[dz + deep][dy + 1], dy, dz);
  unsigned later = 0;
  UNROLL for (int dz = -deep; dz <= deep; dz++)
    UNROLL for (int dy = -1; dy <= 1; dy++) UNROLL for (int dx = -1; dx <= 1; dx++) {
    if (!dx && !dy && !dz) continue;
    const float32 other = v[dz + deep][dy + 1][dx + 1];
    if (after(dx, dy, dz) ? other >= own : other > own) later |= bit(dx, dy, dz);
  }
  int c = 1;
  UNROLL for (int dz = -deep; dz <= deep; dz++)
    UNROLL for (int dy = -1; dy <= 1; dy++) UNROLL for (int dx = -1; dx <= 1; dx++) {
    if (!dx && !dy && !dz) continue;
    unsigned need = of_cell(dx, dy, dz);
    if ((later & need) == need) c += ((dx != 0) + (dy != 0) + (dz != 0)) % 2 ? -1 : 1;
  }
  return c;
}
