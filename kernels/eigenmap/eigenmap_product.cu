// for each plane of a column: Σ w·(here − there) for the six neighbours
//
// The product of the Laplacian of the graph of voxels with four interleaved vectors, in float32.
// The weights exp(−d²/σ²) + w0 are computed from the image each time, as powers of two. A neighbour
// beyond a border is the cell itself, so its difference is 0. For the normalised form, the image
// has D^−½ next to each value, so that one load reads both.
#include "grid.h"

#ifdef ON_HOST
inlined float32 power_of_two(float32 x) { return (float32)__builtin_exp2(x); }
#else
inlined float32 power_of_two(float32 x) {
  float32 y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#endif

// A value with its D^−½, and the numbers of a cell.
typedef float32 two __attribute__((vector_size(8)));
struct cell { quad u; float32 value; };
struct scaled { quad u; float32 value, scale; };

inlined cell read_cell(const float32 *image, const quad *from, int i) { return {from[i], image[i]}; }
inlined scaled read_cell(const two *image, const quad *from, int i) {
  two v = image[i];
  return {v[1] * from[i], v[0], v[1]};
}
inlined quad finish(const cell &, const quad &sum) { return sum; }
inlined quad finish(const scaled &c, const quad &sum) { return c.scale * sum; }

template <class Image> inlined void product(const space &s, const Image *image, const quad *from, quad *to, float32 over, float32 floor) {
  enum { together = 2 }; // planes that are read before the first of them is used
  typedef decltype(read_cell(image, from, 0)) value;
  walk w(s);
  if (!w.inside) return;
  auto read = [&](int i) { return read_cell(image, from, i); };
  auto term = [&](const value &a, const value &b) {
    float32 d = a.value - b.value;
    return (power_of_two(d * d * over) + floor) * (a.u - b.u);
  };
  value before = read(w.at(s, planted(fault::plane) ? w.z : w.z - 1)), here = read(w.at(s, w.z));
  quad behind = term(here, before); // the flow to the previous plane
  for (int z = w.z, end = lesser(z + w.planes, s.nz); z < end; z += together) {
    value after[together], beside[together][4];
    UNROLL for (int k = 0; k < together; k++) {
      int i = w.at(s, lesser(z + k, end - 1));
      after[k] = read(w.at(s, lesser(z + k, end - 1) + 1));
      beside[k][0] = read(i + w.left), beside[k][1] = read(i + w.right);
      if (s.ny > 1) beside[k][2] = read(i + w.north), beside[k][3] = read(i + w.south);
    }
    UNROLL for (int k = 0; k < together; k++) {
      if (z + k >= end) break;
      quad ahead = term(here, after[k]), sum = behind + ahead + (term(here, beside[k][0]) + term(here, beside[k][1]));
      if (s.ny > 1) sum += term(here, beside[k][2]) + term(here, beside[k][3]);
      to[w.at(s, z + k)] = finish(here, sum);
      behind = -ahead, here = after[k];
    }
  }
}

extern "C" __global__ void eigenmap_product_plain(SPACE, const float32 *image, const quad *from, quad *to, float32 over, float32 floor) {
  product(THE_SPACE, image, from, to, over, floor);
}
extern "C" __global__ void eigenmap_product_normalised(SPACE, const two *image, const quad *from, quad *to, float32 over, float32 floor) {
  product(THE_SPACE, image, from, to, over, floor);
}

// The image with D^−½ next to each value.
extern "C" __global__ void eigenmap_product_scale(int nx, int ny, int nz, const float32 *image, two *to, float32 over, float32 floor) {
  int i = own_cell(), n = nx * ny * nz;
  if (i >= n) return;
  int at[3] = {i % nx, i / nx % ny, i / nx / ny}, size[3] = {nx, ny, nz}, stride[3] = {1, nx, nx * ny};
  float32 degree = 0;
  UNROLL for (int a = 0; a < 3; a++) UNROLL for (int side = -1; side <= 1; side += 2) {
    if (at[a] + side < 0 || at[a] + side >= size[a]) continue;
    float32 d = image[i] - image[i + side * stride[a]];
    degree += power_of_two(d * d * over) + floor;
  }
  to[i] = two{image[i], (float32)(1 / root((double)degree))};
}
