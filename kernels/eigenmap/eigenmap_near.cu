// for each patch i: for each patch j within reach: w_ij, computed each time
//   product:     z_i = q_i − s_i Σ w_ij v_j            in float32, s = D^−½, v = s·q
//   differences: y_i = s_i Σ w_ij (u_i − u_j)          in float64
//   degrees:     D_i = Σ w_ij                          in float64
//
// The graph of patches without a matrix. A block handles 32 × 2 patches of a plane, and a lane two
// of a column. Its warps share the rows of patches within reach. All lanes move along a row in the
// same steps, so the distance to the neighbour is uniform. The neighbours form a disc or a ball;
// both rows of a block use the range of the nearer one. Sums of a row are added in float64, then
// warp by warp.
#include "steps.h"
#include "weight.h"

enum { wide = 32, high = 2, warps = 8 };

struct nodes {
  int w, h, d, reach;
  member int least(int a, int b) const { return a < b ? a : b; }
  member int greatest(int a, int b) const { return a > b ? a : b; }
};

// 2^v, for weights in float32.
#ifdef ON_HOST
inlined float32 power_of_two(float32 v) { return __builtin_exp2f(v); }
#else
inlined float32 power_of_two(float32 v) {
  float32 p;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(p) : "f"(v));
  return p;
}
#endif

// Weights in float32, as powers of two. An integer below 2²³ becomes a float by its bits.
struct narrow {
  typedef float32 number;
  float32 by_feature, by_place;
  member float32 place(float32 apart) const { return -apart * by_place; }
  template <class Patch> member float32 weight(unsigned unlike, float32 place) const {
    const float32 around = 8388608;
    float32 e = Patch::few ? __builtin_fmaf(as<float32>(0x4b000000u | unlike), -by_feature, around * by_feature) : -(float32)unlike * by_feature;
    return power_of_two(e + place);
  }
};

// Weights in float64, as powers of e.
struct exact {
  typedef double number;
  double by_feature, by_place;
  member double place(double apart) const { return -apart * by_place; }
  template <class Patch> member double weight(unsigned unlike, double place) const {
    return exponential(-whole(unlike) * by_feature + place);
  }
};

// The terms of the sums over neighbours: weights; weights times the neighbour's value; or weights
// times the difference to the neighbour. Neighbours beyond a border add nothing.
struct adds_weights {
  member double of(int, bool is) const { return is ? 1 : 0; }
  member double term(double w, double, double other, bool) const { return w * other; }
};
struct adds_products {
  const float32 *v;
  member float32 of(int i, bool is) const { return is ? v[i] : 0; }
  member float32 term(float32 w, float32, float32 other, bool) const { return w * other; }
};
struct adds_differences {
  const double *u;
  member double of(int i, bool) const { return u[i]; }
  member double term(double w, double own, double other, bool is) const { return is ? w * (own - other) : 0; }
};

// Calls done for each patch of the block with its sum, in one thread.
template <class Patch, class Weights, class Adds, class Done>
inlined void near(const features &f, const nodes &s, const Weights &weights, const Adds &adds, const Done &done) {
  typedef typename Weights::number number;
  __shared__ double all[warps][high][wide];
  int columns = (s.w + wide - 1) / wide, bands = (s.h + high - 1) / high, lane = thread_x() & 31, warp = thread_x() >> 5;
  int tx = block_x() % columns, ty = block_x() / columns % bands, tz = block_x() / columns / bands;
  int x = tx * wide + lane;
  Patch here[high];
  number own[high];
  unsigned square[high];
  double sums[high];
  UNROLL for (int p = 0; p < high; p++) {
    int i = (tz * s.h + s.least(ty * high + p, s.h - 1)) * s.w + s.least(x, s.w - 1);
    here[p] = Patch(f, i), square[p] = (unsigned)f.squares[i], own[p] = (number)adds.of(i, true), sums[p] = 0;
  }
  int first = ty * high, last = first + high - 1, reach = s.reach; // rows of the block
  int y0 = s.greatest(first - reach, 0), ny = s.least(last + reach + 1, s.h) - y0;
  int z0 = s.greatest(tz - reach, 0), nz = s.least(tz + reach + 1, s.d) - z0;
  NOT_UNROLLED for (int row = warp; row < ny * nz; row += warps) {
    int jy = y0 + row % ny, dz = z0 + row / ny - tz, dy = s.greatest(s.greatest(first - jy, jy - last), 0);
    int left = reach * reach - dy * dy - dz * dz;
    if (left < 0) continue;
    int far = planted(fault::window) ? 2 : (int)root(left), begin = s.greatest(-far, 1 - wide - tx * wide), end = s.least(far, s.w - 1 - tx * wide);
    int from = ((tz + dz) * s.h + jy) * s.w, own_row = dz ? -1 : jy - first; // the patch's row, if in the block
    number line[high], level[high];
    UNROLL for (int p = 0; p < high; p++) {
      int apart = jy - first - p;
      level[p] = weights.place((number)(apart * apart + dz * dz)), line[p] = 0;
    }
    auto one = [&](int dx) {
      bool is = (unsigned)(x + dx) < (unsigned)s.w;
      int j = from + (is ? x + dx : 0);
      Patch there(f, j);
      unsigned other = (unsigned)f.squares[j];
      number v = (number)adds.of(j, is), apart = weights.place((number)(dx * dx));
      UNROLL for (int p = 0; p < high; p++) {
        unsigned unlike = square[p] + other - 2 * here[p].dot(f, there);
        number w = weights.template weight<Patch>(unlike, level[p] + apart);
        if (!dx && own_row == p && !planted(fault::diagonal)) w = 0;
        line[p] += adds.term(w, own[p], v, is);
      }
    };
    const int together = Patch::few ? 4 : 1;
    int dx = begin;
    NOT_UNROLLED for (; dx + together <= end + 1; dx += together) UNROLL for (int i = 0; i < together; i++) one(dx + i);
    NOT_UNROLLED for (; dx <= end; dx++) one(dx);
    UNROLL for (int p = 0; p < high; p++) sums[p] += (double)line[p];
  }
  UNROLL for (int p = 0; p < high; p++) all[warp][p][lane] = sums[p];
  __syncthreads();
  int p = warp, y = ty * high + p;
  if (p >= high || x >= s.w || y >= s.h) return;
  double sum = 0;
  UNROLL for (int i = 0; i < warps; i++) sum += all[i][p][lane];
  done((tz * s.h + y) * s.w + x, sum);
}

#define GRAPH const unsigned *all, int words, const int *squares, int w, int h, int d, int reach
#define NEAR(name, Patch)                                                                                                                        \
  extern "C" __global__ __attribute__((launch_bounds(32 * warps))) void eigenmap_near_product##name(                                            \
    GRAPH, float32 by_feature, float32 by_place, const float32 *v, const double *q, int64 column, const double *scale, double *z) {             \
    near<Patch>(features{all, words, squares}, nodes{w, h, d, reach}, narrow{by_feature, by_place}, adds_products{v},                  \
                [&](int i, double sum) { z[i] = q[column + i] - scale[i] * sum; });                                                             \
  }                                                                                                                                              \
  extern "C" __global__ __attribute__((launch_bounds(32 * warps))) void eigenmap_near_differences##name(                                        \
    GRAPH, double by_feature, double by_place, const double *u, const double *scale, double *to) {                                              \
    near<Patch>(features{all, words, squares}, nodes{w, h, d, reach}, exact{by_feature, by_place}, adds_differences{u},                         \
                [&](int i, double sum) { to[i] = scale[i] * sum; });                                                                            \
  }                                                                                                                                              \
  extern "C" __global__ __attribute__((launch_bounds(32 * warps))) void eigenmap_near_degrees##name(                                            \
    GRAPH, double by_feature, double by_place, double *degree, double *scale) {                                                                 \
    near<Patch>(features{all, words, squares}, nodes{w, h, d, reach}, exact{by_feature, by_place}, adds_weights{},                              \
                [&](int i, double sum) { degree[i] = sum, scale[i] = 1 / root(sum); });                                                         \
  }
NEAR(, of_many)
NEAR(_four, of_four)
