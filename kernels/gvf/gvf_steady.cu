// for each entry of a list, in order: each block its part; all blocks meet
//
// The steady state of the gradient vector flow, (μL + b)V = b·V0, by conjugate gradients with a
// V-cycle as preconditioner, started by full multigrid (doc/gvf.md). The host makes a list of
// entries. An entry is a pass over a level: over all components, or, on levels of few cells, over
// one component by one block alone. The list has two parts: the start, and a step, which is
// repeated until the residual, computed from the field in double, is small enough.
//
// A pass over a level of many cells is its own launch, with one block per tile, and the last block
// to end concludes it. Consecutive passes over other levels are one launch; if there are no large
// levels, all passes are. In such a launch all blocks run at the same time, because there are at
// most as many as multiprocessors, and they meet after a pass by counting arrivals.
//
// A level is a grid of cells along three axes, the first one fastest. A 2D image has one cell along
// the second axis. With the widths w and links l of the cells along an axis, the operator of finite
// volumes is
//
//   A u = mass·u + wz·(wy·Σ lx(u − neighbour) + wx·Σ ly(…)) + wx·wy·Σ lz(…)
//
// The smoother is weighted Jacobi whose weight ω applies only to the links: inv = 1 / (mass +
// (outgoing links) / ω). Where mass dominates, a cell's equation is almost solved, and the
// correction from a coarser level, whose mass is in another place, must not undo that.
#include "step.h"

#ifdef ON_HOST
#define BLOCKS_TOGETHER
inlined void arrive(unsigned *met) { __atomic_fetch_add(met, 1u, __ATOMIC_ACQ_REL); }
inlined unsigned arrived(const unsigned *met) { return onhost::yield(), __atomic_load_n(met, __ATOMIC_ACQUIRE); }
#else
inlined void arrive(unsigned *met) { asm volatile("fence.acq_rel.gpu; red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(met) : "memory"); }
inlined unsigned arrived(const unsigned *met) {
  unsigned n;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(n) : "l"(met) : "memory");
  return n;
}
#endif

// The kinds of entries. impls/gvf/gpu/steady.go has the same numbers.
enum kind {
  source,    // inv of the finest cells; the sums of (b·V0)²
  coarsen,   // the masses and inv of the next level
  given,     // to = b·V0 times the cells' widths, scaled
  restricts, // to of the next level = from, by the transpose of interpolation
  solve,     // to = from·inv, for a single cell
  down,      // to = from − A(inv·from)
  up,        // to = from of the next level, interpolated; plus inv·f in a cycle
  smooth,    // to = t + inv·(f − A t), added to `to` if that is x; the sums of f·to
  remain,    // f = to − A from
  turn,      // p = z + keep·p; the sums of p·A p
  advance,   // x = x + step·p; f = the residual, scaled; the sums of its squares
  descend,   // for 2D images, down and restricts in one pass: f of the next level
  ascend,    // for 2D images, up and smooth in one pass
};

// The flags of an entry: one block per component does it alone; it belongs to a cycle; blocks meet
// after it; it computes sums; its result is the finest x, which is unscaled.
enum { alone = 1, cycles = 2, meets = 4, sums_up = 8, finest_x = 16 };

struct entry { int what, level, from, to, flags; };

// The lists of a level, each for all components. in_p is p on the finest level; on others it holds
// the right-hand sides of full multigrid.
enum { in_f, in_z, in_t, in_p, in_x, lists };

struct level {
  int nx, ny, nz;
  int across, down, along; // log2 of the columns, rows and runs of planes of a block's threads
  int length;              // planes of a thread
  int stride, each;        // stride: the distance of rows in a list; each: the cells of a row that a thread has, 1 or 4
  int ax, ay, az;          // positions of the tables of the axes
  int64 base, inv;         // positions of the lists and of inv
  member int plane() const { return stride * ny; }
  member int room() const { return plane() * nz; } // cells of a list, for one component
  member int cells() const { return nx * ny * nz; }
};

// Enough levels for the longest axis of an image, and for the level of a single cell.
enum { most_levels = 33, of_level = 14 };

// V is a thread's part of a row: one cell, or four cells at a multiple of four. Cells of a list
// beyond the end of a row are 0.
typedef float32 pair __attribute__((vector_size(8)));
template <class V> struct with { enum { cells = sizeof(V) / 4 }; };
inlined float32 cell_of(float32 v, int) { return v; }
inlined float32 cell_of(const quad &v, int j) { return v[j]; }
inlined void set_cell(float32 &v, int, float32 to) { v = to; }
template <class V> inlined void set_cell(V &v, int j, float32 to) { v[j] = to; }
template <class V> inlined V load(const float32 *p) { return *(const V *)p; }
template <class V> inlined void store(float32 *p, const V &v) { *(V *)p = v; }

// The same for a position that need not be a multiple of four. Cells beyond the row are 0.
inlined void load_some(float32 &v, const float32 *p, int) { v = *p; }
inlined void load_some(quad &v, const float32 *p, int cells) { UNROLL for (int j = 0; j < 4; j++) v[j] = j < cells ? p[j] : 0; }

// v with 0 in the lanes beyond the number of cells.
inlined float32 as_far_as(float32 v, int) { return v; }
inlined quad as_far_as(quad v, int cells) {
  UNROLL for (int j = 1; j < 4; j++) if (j >= cells) v[j] = 0;
  return v;
}

// The cells one before and one after each, from a vector and its neighbour.
inlined float32 moved_right(float32 left, float32) { return left; }
inlined quad moved_right(float32 left, const quad &v) { return quad{left, v[0], v[1], v[2]}; }
inlined float32 moved_left(float32, float32 right) { return right; }
inlined quad moved_left(const quad &v, float32 right) { return quad{v[1], v[2], v[3], right}; }

// The sum of the products, in double.
template <class V> inlined double dot(const V &a, const V &b) {
  double sum = 0;
  UNROLL for (int j = 0; j < with<V>::cells; j++) sum += (double)cell_of(a, j) * cell_of(b, j);
  return sum;
}

// The four tables of an axis of n cells, each followed by zeros: widths; links to the previous
// cell; and the interpolation weights of the next level's cell that contains a cell (near), and of
// the next nearest one (far).
struct axis {
  const float32 *width, *link, *near, *far;
  member axis(const float32 *tables, int at, int n) : width(tables + at), link(width + n + 4), near(link + n + 4), far(near + n + 4) {}
};

// The elements of a table from a position on.
template <class V> inlined V row_of(const float32 *table) {
  V v{};
  UNROLL for (int j = 0; j < with<V>::cells; j++) set_cell(v, j, table[j]);
  return v;
}

template <class V> struct six { V left, right, north, south, below, above; };

// The links of a column's cells to their neighbours. deep has the width of a plane, and its links
// to the planes below and above.
struct deep { float32 width, below, above; };
template <class V> struct around {
  V x0, x1, y0, y1, z, all;
  float32 slack;
  const float32 *wz, *lz;
  member around(const float32 *tables, const level &l, int x, int y, float32 omega) : slack(1 / omega - 1) {
    axis ax(tables, l.ax, l.nx), ay(tables, l.ay, l.ny), az(tables, l.az, l.nz);
    V wx = row_of<V>(ax.width + x);
    float32 wy = ay.width[y];
    x0 = wy * row_of<V>(ax.link + x), x1 = wy * row_of<V>(ax.link + x + 1), y0 = wx * ay.link[y], y1 = wx * ay.link[y + 1], z = wx * wy;
    all = (x0 + x1) + (y0 + y1);
    wz = az.width, lz = az.link;
  }
  member deep links(int z) const { return deep{wz[z], lz[z], lz[z + 1]}; }
  member V volume(const deep &d) const { return z * d.width; }
  // The inflow of a cell from its neighbours, and the sum of its links.
  member V flows(const six<V> &s, const deep &d) const { return d.width * ((x0 * s.left + x1 * s.right) + (y0 * s.north + y1 * s.south)) + z * (d.below * s.below + d.above * s.above); }
  member V leaves(const deep &d) const { return d.width * all + z * (d.below + d.above); }
  // (1/inv − A) applied to a cell. No coefficient is negative.
  member V kept(const V &here, const six<V> &s, const deep &d) const { return flows(s, d) + slack * leaves(d) * here; }
  // The inflow of a cell by differences, in double. The residual is this plus the volume's part,
  // divided by the volume (share).
  member double gains(int j, double here, const six<V> &s, const deep &d) const {
    auto by = [&](float32 link, const V &other) { return (double)link * ((double)cell_of(other, j) - here); };
    return d.width * ((by(cell_of(x0, j), s.left) + by(cell_of(x1, j), s.right)) + (by(cell_of(y0, j), s.north) + by(cell_of(y1, j), s.south))) +
           cell_of(z, j) * (by(d.below, s.below) + by(d.above, s.above));
  }
  member double volume(int j, const deep &d) const { return (double)cell_of(z, j) * d.width; }
  // For the finest cells, whose widths are powers of two.
  member double share(int j, const deep &d) const { return (double)(1 / cell_of(z, j)) * (1 / (double)d.width); }
};

// The same for a level of equal cells, in rows of whole groups of four. A cell beyond a border is
// read as the one at the border, so nothing flows there.
struct evenly {
  struct none { float32 leaves; };
  float32 x, y, z, cell, slack;
  quad all;
  int last;
  member evenly(const float32 *tables, const level &l, int at, int row, float32 omega) : slack(1 / omega - 1), last(l.nz - 1) {
    axis ax(tables, l.ax, l.nx), ay(tables, l.ay, l.ny), az(tables, l.az, l.nz);
    float32 wx = ax.width[0], wy = ay.width[0], wz = az.width[0];
    x = wy * wz * ax.link[1], y = wx * wz * ay.link[1], z = wx * wy * az.link[1], cell = wx * wy * wz;
    float32 rows = y * ((row > 0) + (row < l.ny - 1)), inside = 2 * x + rows;
    all = quad{at > 0 ? inside : x + rows, inside, inside, at + 4 < l.nx ? inside : x + rows};
  }
  member none links(int plane) const { return none{z * ((plane > 0) + (plane < last))}; }
  member float32 volume(const none &) const { return cell; }
  member quad flows(const six<quad> &s, const none &) const { return (x * (s.left + s.right) + y * (s.north + s.south)) + z * (s.below + s.above); }
  member quad leaves(const none &d) const { return all + d.leaves; }
  member quad kept(const quad &here, const six<quad> &s, const none &d) const { return flows(s, d) + ((1 + slack) * leaves(d) - 2 * (x + y + z)) * here; }
  member double gains(int j, double here, const six<quad> &s, const none &) const {
    auto by = [&](const quad &a, const quad &b) { return ((double)a[j] - here) + ((double)b[j] - here); };
    return ((double)x * by(s.left, s.right) + (double)y * by(s.north, s.south)) + (double)z * by(s.below, s.above);
  }
  member double volume(int, const none &) const { return cell; }
  member double share(int, const none &) const { return 1 / cell; }
};

struct solver {
  const float32 *v0, *b, *tables;
  float32 *arena;
  const level *levels;
  double *parts;
  float32 omega;
  int components;
  double tol; // limit of the relative residual
  int most;   // steps
};

// The state of the solver, which is the same in all blocks.
struct knowledge {
  int ended;       // the first member, because the host reads it
  int steps, since;
  int sums;        // the number of sums so far, where blocks meet; separate launches do not count them
  int role[lists]; // the roles of the finest level's lists, which are swapped
  int rest[3];     // 1 for a component that is finished
  float32 scale[3], keep[3], step[3];
  double source[3], best[3], gained[3], left[3];
};

// Marches through the planes of a column, several at a time, with all loads before their use. each
// receives the position, the plane, the value there and its neighbours, the links, and the result
// of more. value converts the data from read to a value.
template <int together, class V, class Around, class Read, class Value, class More, class Each>
inlined void march(const level &l, const Around &a, int x, int y, int first, int last, Read read, Value value, More more, Each each) {
  enum { cells = with<V>::cells };
  typedef decltype(read(V{}, 0)) raw;
  typedef decltype(read(float32{}, 0)) raw_cell;
  int plane = l.plane(), i = first * plane + y * l.stride + x;
  int left = x > 0 ? -1 : 0, right = x + cells < l.nx ? cells : cells - 1, north = y > 0 ? -l.stride : 0, south = y < l.ny - 1 ? l.stride : 0;
  bool flat = l.ny == 1;
  raw before = read(V{}, first > 0 ? i - plane : i), at = read(V{}, i);
  for (int z = first; z < last; z += together, i += together * plane) {
    raw column[together + 2], rows[together][2];
    raw_cell beside[together][2];
    decltype(more(0, 0)) others[together];
    decltype(a.links(0)) links[together];
    column[0] = before, column[1] = at;
    UNROLL for (int k = 0; k < together; k++) {
      int to = shape::least(k, last - 1 - z), j = i + to * plane;
      column[k + 2] = read(V{}, z + to < l.nz - 1 ? j + plane : j);
      beside[k][0] = read(float32{}, j + left), beside[k][1] = read(float32{}, j + right);
      if (!flat) rows[k][0] = read(V{}, j + north), rows[k][1] = read(V{}, j + south);
      links[k] = a.links(z + to);
      others[k] = more(j, z + to);
    }
    UNROLL for (int k = 0; k < together; k++) {
      if (z + k >= last) break;
      V here = value(column[k + 1]), none{};
      six<V> s{moved_right(value(beside[k][0]), here), moved_left(here, value(beside[k][1])), flat ? none : value(rows[k][0]), flat ? none : value(rows[k][1]), value(column[k]), value(column[k + 2])};
      each(i + k * plane, z + k, here, s, links[k], others[k]);
    }
    before = column[together], at = column[together + 1];
  }
}

// The data that is read at a position.
template <class V> struct one { V a; };
template <class V> struct two { V a, b; };
template <class V> struct three { V a, b, c; };

inlined double from_lane_of_double(double v, int lane) {
  unsigned long long n = as<unsigned long long>(v);
  return as<double>((unsigned long long)from_lane((unsigned)(n >> 32), lane) << 32 | from_lane((unsigned)n, lane));
}
inlined double sum_of_warp(double v) {
  UNROLL for (int far = 16; far; far /= 2) v += from_lane_of_double(v, (thread_x() & 31) ^ far);
  return v;
}

// Sums over the threads of a block, by component. The first thread receives the result.
inlined void sums_of_block(double (&of)[3]) {
  __shared__ double warps[3][32];
  UNROLL for (int c = 0; c < 3; c++) of[c] = sum_of_warp(of[c]);
  __syncthreads();
  if (!(thread_x() & 31)) UNROLL for (int c = 0; c < 3; c++) warps[c][thread_x() / 32] = of[c];
  __syncthreads();
  if (thread_x() >= 32) return;
  UNROLL for (int c = 0; c < 3; c++) of[c] = sum_of_warp(thread_x() < threads() / 32 ? warps[c][thread_x()] : 0);
}

// The blocks' parts of a sum. There are two sets, which alternate, because a block may be at the
// next sum while others still read the previous one.
inlined double *parts_of(const solver &s, int c, int turn) { return s.parts + ((int64)(turn & 1) * s.components + c) * blocks(); }

// Visits the columns of a level, which are `cells` cells wide. column receives the component, the
// position in the plane and the range of planes, and returns its addend to the component's sum. The
// components of a tile follow each other, because they read the same b.
template <int cells, class Column> inlined void columns(const solver &s, const level &l, const entry &e, const knowledge &k, Column column) {
  int tid = thread_x(), tx = tid & ((1 << l.across) - 1), ty = tid >> l.across & ((1 << l.down) - 1), tz = tid >> (l.across + l.down);
  int wide = ((l.nx - 1) / cells >> l.across) + 1, high = ((l.ny - 1) >> l.down) + 1, runs = (l.nz + l.length - 1) / l.length, deep = ((runs - 1) >> l.along) + 1;
  int all = wide * high * deep * s.components, first = block_x(), stride = e.flags & alone ? s.components : blocks();
  double sums[3] = {};
  for (int item = first; item < all; item += stride) {
    int c = item % s.components, tile = item / s.components;
    if (e.flags & cycles && k.rest[c]) continue;
    int x = ((tile % wide << l.across) + tx) * cells, y = (tile / wide % high << l.down) + ty, run = (tile / wide / high << l.along) + tz;
    if (x >= l.nx || y >= l.ny || run >= runs) continue;
    double sum = column(c, x, y, run * l.length, shape::least((run + 1) * l.length, l.nz));
    UNROLL for (int i = 0; i < 3; i++) if (i == c) sums[i] += sum;
  }
  if (!(e.flags & sums_up)) return;
  sums_of_block(sums);
  if (!thread_x()) UNROLL for (int c = 0; c < 3; c++) if (c < s.components) parts_of(s, c, k.sums)[block_x()] = sums[c];
}

// The four cells of an axis that contribute to a cell of the next level, from the cell before its
// pair on, and their weights.
struct givers {
  int at[4];
  float32 share[4];
  member givers(const axis &a, int n, int next) {
    UNROLL for (int k = 0; k < 4; k++) {
      int i = 2 * next - 1 + k;
      bool is = i >= 0 && i < n, far = k == 0 || k == 3;
      at[k] = is ? i : 2 * next;
      share[k] = !is ? 0 : planted(fault::adjoint) ? !far : far ? a.far[i] : a.near[i];
    }
  }
};

// The two cells of the next level from which a cell is interpolated.
struct takes {
  int near, far;
  float32 of_near, of_far;
  member takes(const axis &a, int i, int next) {
    near = i / 2, far = near - 1 + i % 2 * 2;
    if (far < 0 || far >= next) far = near;
    of_near = a.near[i], of_far = a.far[i];
  }
};

static_assert(sizeof(knowledge) <= 256, "steady.go has as much room for it");


// The context of a pass: its level, and the lists of this level and of the next one.
struct pass {
  const solver &s;
  const entry &e;
  const knowledge &k;
  level l;
  int64 n, cells; // cells of a list, and of the level (as in v0 and b)
  float32 *inv;
  member pass(const solver &s, const entry &e, const knowledge &k) : s(s), e(e), k(k), l(s.levels[e.level]), n(l.room()), cells(l.cells()), inv(s.arena + l.inv) {}
  template <class How> member typename How::surroundings around_of(int x, int y) const { return typename How::surroundings(s.tables, l, x, y, s.omega); }
  member float32 *list_of(const level &of, int number, int which) const { return s.arena + of.base + (number ? which : k.role[which]) * s.components * (int64)of.room(); }
  member float32 *list(int which) const { return list_of(l, e.level, which); }
  template <int cells = 1, class Column> member void columns(const level &of, Column column) const { ::columns<cells>(s, of, e, k, column); }
  // Values of v0 or b, whose rows are contiguous.
  template <class V> member V given(const float32 *list, int x, int y, int z) const {
    const float32 *p = list + (int64)(z * l.ny + y) * l.nx + x;
    V v;
    if (l.stride == l.nx) v = load<V>(p);
    else load_some(v, p, l.nx - x);
    return v;
  }
};

// How a pass traverses a level: the thread's part of a row, and the number of planes that are read
// at a time: few for two lists with neighbours, more for one list with neighbours, most without
// neighbours.
struct by_cells { typedef float32 value; typedef around<float32> surroundings; enum { few = 2, more = 4, most = 4 }; };
struct by_fours { typedef quad value; typedef around<quad> surroundings; enum { few = 2, more = 4, most = 8 }; };

#define PASS(name) inlined void do_##name(const solver &s, const entry &e, const knowledge &k)
#define PASS_OF(name) template <class How, class V = typename How::value> PASS(name)

// Passes through the planes of a column, several at a time. each receives the position in a list,
// the plane, and the data that was read.
template <int together, class Read, class Each> inlined void pass_through(const level &l, int x, int y, int first, int last, Read read, Each each) {
  int i = first * l.plane() + y * l.stride + x;
  for (int z = first; z < last; z += together, i += together * l.plane()) {
    decltype(read(0)) all[together];
    UNROLL for (int k = 0; k < together; k++) all[k] = read(shape::least(z + k, last - 1));
    UNROLL for (int k = 0; k < together; k++) if (z + k < last) each(i + k * l.plane(), z + k, all[k]);
  }
}

PASS_OF(source) {
  pass p(s, e, k);
  float32 *to = p.inv;
  p.columns<with<V>::cells>(p.l, [&](int c, int x, int y, int first, int last) {
    auto a = p.around_of<How>(x, y);
    const float32 *v0 = s.v0 + c * p.cells;
    double sum = 0;
    pass_through<How::most>(p.l, x, y, first, last, [&](int z) { return two<V>{p.given<V>(s.b, x, y, z), p.given<V>(v0, x, y, z)}; }, [&](int i, int z, const two<V> &of) {
      auto d = a.links(z);
      if (!c) store(to + i, as_far_as(1 / (a.volume(d) * of.a + (1 + a.slack) * a.leaves(d)), p.l.nx - x));
      UNROLL for (int j = 0; j < with<V>::cells; j++) {
        double v = (double)cell_of(of.a, j) * cell_of(of.b, j);
        sum += v * v;
      }
    });
    return sum;
  });
}

PASS_OF(given) {
  pass p(s, e, k);
  float32 *list = p.list(e.to);
  p.columns<with<V>::cells>(p.l, [&](int c, int x, int y, int first, int last) {
    auto a = p.around_of<How>(x, y);
    const float32 *v0 = s.v0 + c * p.cells;
    float32 *to = list + c * p.n, scale = k.scale[c];
    pass_through<How::most>(p.l, x, y, first, last, [&](int z) { return two<V>{p.given<V>(s.b, x, y, z), p.given<V>(v0, x, y, z)}; },
      [&](int i, int z, const two<V> &of) { store(to + i, scale * of.b * of.a * a.volume(a.links(z))); });
    return 0.;
  });
}

// The contributions of a row to cells of the next level: one cell from single cells, two from
// groups of four.
template <class V> struct gathered;
template <> struct gathered<float32> {
  typedef float32 value;
  givers g;
  member gathered(const axis &a, int n, int x, int) : g(a, n, x) {}
  member value of(const float32 *row) const {
    return (g.share[0] * row[g.at[0]] + g.share[1] * row[g.at[1]]) + (g.share[2] * row[g.at[2]] + g.share[3] * row[g.at[3]]);
  }
};
template <> struct gathered<quad> {
  typedef pair value;
  int at, before, behind; // the first of four, and their neighbours
  pair share[4];
  member gathered(const axis &a, int n, int x, int next) : at(2 * x), before(shape::greatest(at - 1, 0)), behind(at + 4 < n ? at + 4 : at) {
    givers one(a, n, x), two(a, n, shape::least(x + 1, next - 1));
    UNROLL for (int k = 0; k < 4; k++) share[k] = pair{one.share[k], x + 1 < next ? two.share[k] : 0};
  }
  member value of(const float32 *row) const {
    quad q = load<quad>(row + at);
    return (share[0] * pair{row[before], q[1]} + share[1] * pair{q[0], q[2]}) + (share[2] * pair{q[1], q[3]} + share[3] * pair{q[2], row[behind]});
  }
};
inlined void store_some(float32 *p, float32 v, int) { *p = v; }
inlined void store_some(float32 *p, const pair &v, int cells) {
  p[0] = v[0];
  if (cells > 1) p[1] = v[1];
}

// The sums of neighbouring cells, as the next level has them.
inlined pair joined(const quad &q) { return pair{q[0] + q[1], q[2] + q[3]}; }

PASS_OF(coarsen) {
  typedef typename gathered<V>::value value;
  pass p(s, e, k);
  level m = s.levels[e.level + 1];
  const float32 *mass = p.list(in_z);
  float32 *to = p.list_of(m, e.level + 1, in_z), *over = s.arena + m.inv;
  axis ax(s.tables, p.l.ax, p.l.nx), ay(s.tables, p.l.ay, p.l.ny), az(s.tables, p.l.az, p.l.nz);
  p.columns<with<value>::cells>(m, [&](int c, int x, int y, int first, int last) {
    if (c) return 0.;
    around<value> a(s.tables, m, x, y, s.omega);
    auto cells = [&](int fx, int fy, int fz) {
      if (e.level) return load<V>(mass + (fz * p.l.plane() + fy * p.l.stride + fx));
      return p.given<V>(s.b, fx, fy, fz) * (row_of<V>(ax.width + fx) * (ay.width[fy] * az.width[fz]));
    };
    auto row = [&](int fy, int fz) {
      if constexpr (with<V>::cells > 1) return joined(cells(2 * x, fy, fz));
      else return cells(2 * x, fy, fz) + (2 * x + 1 < p.l.nx ? cells(2 * x + 1, fy, fz) : 0);
    };
    auto plane = [&](int fz) { return row(2 * y, fz) + (2 * y + 1 < p.l.ny ? row(2 * y + 1, fz) : value{}); };
    pass_through<How::few>(m, x, y, first, last, [&](int z) { return two<value>{plane(2 * z), 2 * z + 1 < p.l.nz ? plane(2 * z + 1) : value{}}; }, [&](int i, int z, const two<value> &of) {
      value sum = of.a + of.b;
      store_some(to + i, sum, m.nx - x);
      store_some(over + i, value(1 / (sum + (1 + a.slack) * a.leaves(a.links(z)))), m.nx - x);
    });
    return 0.;
  });
}

PASS_OF(restricts) {
  typedef typename gathered<V>::value value;
  pass p(s, e, k);
  level m = s.levels[e.level + 1];
  const float32 *list = p.list(e.from);
  float32 *sums = p.list_of(m, e.level + 1, e.to);
  axis ax(s.tables, p.l.ax, p.l.nx), ay(s.tables, p.l.ay, p.l.ny), az(s.tables, p.l.az, p.l.nz);
  bool flat = p.l.ny == 1; // the only row is the second of four
  p.columns<with<value>::cells>(m, [&](int c, int x, int y, int first, int last) {
    gathered<V> from(ax, p.l.nx, x, m.nx);
    givers gy(ay, p.l.ny, y);
    const float32 *of = list + c * p.n;
    float32 *to = sums + c * (int64)m.room();
    auto plane = [&](int z) {
      value sum{};
      UNROLL for (int j = 0; j < 4; j++) {
        if (flat && j != 1) continue;
        sum += gy.share[j] * from.of(of + z * p.l.plane() + gy.at[j] * p.l.stride);
      }
      return sum;
    };
    givers g(az, p.l.nz, first);
    value before = plane(g.at[0]), here = plane(g.at[1]);
    int i = first * m.plane() + y * m.stride + x;
    for (int z = first; z < last; z += 2, i += 2 * m.plane()) {
      value read[2][2];
      UNROLL for (int k = 0; k < 2; k++) {
        givers g(az, p.l.nz, shape::least(z + k, last - 1));
        read[k][0] = plane(g.at[2]), read[k][1] = plane(g.at[3]);
      }
      UNROLL for (int k = 0; k < 2; k++) {
        if (z + k >= last) break;
        givers g(az, p.l.nz, z + k);
        store_some(to + i + k * m.plane(), (g.share[0] * before + g.share[1] * here) + (g.share[2] * read[k][0] + g.share[3] * read[k][1]), m.nx - x);
        before = read[k][0], here = read[k][1];
      }
    }
    return 0.;
  });
}

PASS(solve) {
  pass p(s, e, k);
  const float32 *from = p.list(e.from);
  float32 *to = p.list(e.to);
  p.columns(p.l, [&](int c, int, int, int, int) { return to[c * p.n] = from[c * p.n] * p.inv[0], 0.; });
}

PASS_OF(down) {
  pass p(s, e, k);
  const float32 *list = p.list(in_f), *inv = p.inv;
  float32 *left = p.list(in_t);
  p.columns<with<V>::cells>(p.l, [&](int c, int x, int y, int first, int last) {
    auto a = p.around_of<How>(x, y);
    const float32 *f = list + c * p.n;
    float32 *to = left + c * p.n;
    auto read = [&](auto of, int i) { typedef decltype(of) T; return two<T>{load<T>(f + i), load<T>(inv + i)}; };
    march<How::few, V>(p.l, a, x, y, first, last, read, [](const auto &v) { return v.a * v.b; }, [](int, int) { return one<V>{}; },
      [&](int i, int, const V &here, const six<V> &v, const auto &d, const one<V> &) { store(to + i, a.kept(here, v, d)); });
    return 0.;
  });
}

// The interpolation of a row of the next level, at a position.
template <class V> struct interpolated;
template <> struct interpolated<float32> {
  takes t;
  member interpolated(const axis &a, int x, int next) : t(a, x, next) {}
  member float32 of(const float32 *row) const { return t.of_near * row[t.near] + t.of_far * row[t.far]; }
};
template <> struct interpolated<quad> {
  int at, before, behind, last; // the cell that contains the first two, and its neighbours
  quad of_near, of_far;
  member interpolated(const axis &a, int x, int next)
    : at(x / 2), before(shape::greatest(at - 1, 0)), behind(shape::least(at + 1, next - 1)), last(shape::least(at + 2, next - 1)), of_near(row_of<quad>(a.near + x)), of_far(row_of<quad>(a.far + x)) {}
  member quad of(const float32 *row) const {
    float32 one = row[before], two = row[at], three = row[behind], four = row[last];
    return of_near * quad{two, two, three, three} + of_far * quad{one, three, two, four};
  }
};

PASS_OF(up) {
  pass p(s, e, k);
  level m = s.levels[e.level + 1];
  const float32 *given = p.list(in_f), *list = p.list_of(m, e.level + 1, e.from), *inv = p.inv;
  float32 *made = p.list(e.to);
  axis ax(s.tables, p.l.ax, p.l.nx), ay(s.tables, p.l.ay, p.l.ny), az(s.tables, p.l.az, p.l.nz);
  bool cycle = e.flags & cycles, flat = m.ny == 1;
  p.columns<with<V>::cells>(p.l, [&](int c, int x, int y, int first, int last) {
    enum { together = How::most, coarse = together / 2 + 2 };
    takes ty(ay, y, m.ny);
    interpolated<V> along(ax, x, m.nx);
    const float32 *of = list + c * (int64)m.room(), *f = given + c * p.n;
    float32 *to = made + c * p.n;
    float32 times = e.flags & finest_x ? 1 / k.scale[c] : 1;
    int near = ty.near * m.stride, far = ty.far * m.stride, plane = p.l.plane(), i = first * plane + y * p.l.stride + x;
    // A run begins at an even plane, so the planes that are handled together have the same planes
    // of the next level.
    for (int z = first; z < last; z += together, i += together * plane) {
      float32 shares[together][2];
      two<V> more[together] = {};
      V planes[coarse];
      UNROLL for (int j = 0; j < together; j++) {
        int on = shape::least(j, last - 1 - z);
        shares[j][0] = az.near[z + on], shares[j][1] = az.far[z + on];
        if (cycle) more[j] = two<V>{load<V>(inv + i + on * plane), load<V>(f + i + on * plane)};
      }
      UNROLL for (int j = 0; j < coarse; j++) {
        const float32 *at = of + shape::greatest(0, shape::least(shape::least(z / 2 - 1 + j, (last - 1) / 2 + 1), m.nz - 1)) * m.plane();
        planes[j] = along.of(at + near);
        if (!flat) planes[j] = ty.of_near * planes[j] + ty.of_far * along.of(at + far);
      }
      UNROLL for (int j = 0; j < together; j++) {
        if (z + j >= last) break;
        V v = times * (shares[j][0] * planes[j / 2 + 1] + shares[j][1] * planes[j / 2 + j % 2 * 2]);
        store(to + i + j * plane, cycle ? v + more[j].a * more[j].b : v);
      }
    }
    return 0.;
  });
}

PASS_OF(smooth) {
  pass p(s, e, k);
  const float32 *given = p.list(in_f), *list = p.list(in_t), *inv = p.inv;
  float32 *made = p.list(e.to);
  bool adds = e.to == in_x;
  p.columns<with<V>::cells>(p.l, [&](int c, int x, int y, int first, int last) {
    auto a = p.around_of<How>(x, y);
    const float32 *f = given + c * p.n, *from = list + c * p.n;
    float32 *to = made + c * p.n;
    double sum = 0;
    auto read = [&](auto of, int i) { return load<decltype(of)>(from + i); };
    march<How::more, V>(p.l, a, x, y, first, last, read, [](const auto &v) { return v; }, [&](int i, int) { return three<V>{load<V>(f + i), load<V>(inv + i), adds ? load<V>(to + i) : V{}}; },
      [&](int i, int, const V &here, const six<V> &v, const auto &d, const three<V> &more) {
        V next = more.b * (more.a + a.kept(here, v, d));
        store(to + i, more.c + next);
        sum += dot(more.a, next);
      });
    return sum;
  });
}

PASS_OF(remain) {
  pass p(s, e, k);
  const float32 *list = p.list(e.from), *given = p.list(e.to), *inv = p.inv;
  float32 *left = p.list(in_f);
  p.columns<with<V>::cells>(p.l, [&](int c, int x, int y, int first, int last) {
    auto a = p.around_of<How>(x, y);
    const float32 *from = list + c * p.n, *g = given + c * p.n;
    float32 *to = left + c * p.n;
    auto read = [&](auto of, int i) { return load<decltype(of)>(from + i); };
    march<How::more, V>(p.l, a, x, y, first, last, read, [](const auto &v) { return v; }, [&](int i, int) { return two<V>{load<V>(g + i), load<V>(inv + i)}; },
      [&](int i, int, const V &here, const six<V> &v, const auto &d, const two<V> &more) { store(to + i, as_far_as(more.a + (a.kept(here, v, d) - here / more.b), p.l.nx - x)); });
    return 0.;
  });
}

PASS_OF(turn) {
  pass p(s, e, k);
  const float32 *z_list = p.list(in_z), *p_list = p.list(in_p);
  float32 *made = p.list(in_t);
  p.columns<with<V>::cells>(p.l, [&](int c, int x, int y, int first, int last) {
    auto a = p.around_of<How>(x, y);
    const float32 *from = z_list + c * p.n, *before = p_list + c * p.n;
    float32 *to = made + c * p.n, keep = k.keep[c];
    double sum = 0;
    auto read = [&](auto of, int i) { typedef decltype(of) T; return two<T>{load<T>(from + i), keep ? load<T>(before + i) : T{}}; };
    march<How::few, V>(p.l, a, x, y, first, last, read, [&](const auto &v) { return v.a + keep * v.b; }, [&](int, int z) { return p.given<V>(s.b, x, y, z); },
      [&](int i, int, const V &here, const six<V> &v, const auto &d, const V &b) {
        store(to + i, here);
        // Nothing flows across borders.
        six<V> by{v.left - here, v.right - here, v.north - here, v.south - here, v.below - here, v.above - here};
        sum += dot<V>(here, a.volume(d) * b * here - a.flows(by, d));
      });
    return sum;
  });
}

PASS_OF(advance) {
  pass p(s, e, k);
  const float32 *x_list = p.list(in_x), *p_list = p.list(in_p);
  float32 *made = p.list(in_t), *left = p.list(in_f);
  p.columns<with<V>::cells>(p.l, [&](int c, int x, int y, int first, int last) {
    auto a = p.around_of<How>(x, y);
    const float32 *from = x_list + c * p.n, *along = p_list + c * p.n, *v0 = s.v0 + c * p.cells;
    float32 *to = made + c * p.n, *f = left + c * p.n, step = k.step[c];
    double sum = 0, scale = k.scale[c];
    auto read = [&](auto of, int i) { typedef decltype(of) T; return two<T>{load<T>(from + i), step ? load<T>(along + i) : T{}}; };
    march<How::few, V>(p.l, a, x, y, first, last, read, [&](const auto &v) { return v.a + step * v.b; }, [&](int, int z) { return two<V>{p.given<V>(s.b, x, y, z), p.given<V>(v0, x, y, z)}; },
      [&](int i, int, const V &here, const six<V> &v, const auto &d, const two<V> &more) {
        store(to + i, here);
        V rests{};
        UNROLL for (int j = 0; j < with<V>::cells; j++) {
          if (x + j >= p.l.nx) break;
          double at = cell_of(here, j);
          double rest = a.gains(j, at, v, d) + a.volume(j, d) * cell_of(more.a, j) * ((double)cell_of(more.b, j) - at);
          set_cell(rests, j, (float32)(rest * scale));
          rest *= a.share(j, d);
          sum += rest * rest;
        }
        store(f + i, rests);
      });
    return sum;
  });
}

// In 2D images the passes are short, so joined passes save meetings of the blocks. Each thread
// recomputes the intermediate values that it needs. A cell of the next level needs the rows around
// its two.
PASS(descend) {
  pass p(s, e, k);
  level m = s.levels[e.level + 1];
  const float32 *list = p.list(in_f), *inv = p.inv;
  float32 *sums = p.list_of(m, e.level + 1, in_f);
  axis ax(s.tables, p.l.ax, p.l.nx), az(s.tables, p.l.az, p.l.nz);
  float32 wy = axis(s.tables, p.l.ay, p.l.ny).width[0], slack = 1 / s.omega - 1;
  p.columns(m, [&](int c, int x, int, int first, int last) {
    enum { wide = 6 }; // columns; the first and the last are only neighbours
    const float32 *f = list + c * p.n;
    float32 *to = sums + c * (int64)m.room();
    givers gx(ax, p.l.nx, x);
    int column[wide];
    float32 width[wide], link[wide];
    UNROLL for (int i = 0; i < wide; i++) {
      column[i] = shape::greatest(0, shape::least(2 * x - 2 + i, p.l.nx - 1));
      width[i] = wy * ax.width[column[i]], link[i] = wy * ax.link[shape::greatest(0, shape::least(2 * x - 2 + i, p.l.nx))];
    }
    auto row = [&](int z) {
      int at = z * p.l.nx, before = z > 0 ? at - p.l.nx : at, after = z < p.l.nz - 1 ? at + p.l.nx : at;
      float32 here[wide], below[wide], above[wide], sum = 0;
      UNROLL for (int i = 0; i < wide; i++) {
        here[i] = f[at + column[i]] * inv[at + column[i]];
        if (i == 0 || i == wide - 1) continue;
        below[i] = f[before + column[i]] * inv[before + column[i]], above[i] = f[after + column[i]] * inv[after + column[i]];
      }
      float32 wz = az.width[z], l0 = az.link[z], l1 = az.link[z + 1];
      UNROLL for (int i = 1; i < wide - 1; i++) {
        float32 flow = wz * (link[i] * here[i - 1] + link[i + 1] * here[i + 1]) + width[i] * (l0 * below[i] + l1 * above[i]);
        sum += gx.share[i - 1] * (flow + slack * (wz * (link[i] + link[i + 1]) + width[i] * (l0 + l1)) * here[i]);
      }
      return sum;
    };
    givers g(az, p.l.nz, first);
    float32 before = row(g.at[0]), here = row(g.at[1]);
    for (int z = first; z < last; z++) {
      givers g(az, p.l.nz, z);
      float32 second = row(g.at[2]), after = row(g.at[3]);
      to[z * m.nx + x] = (g.share[0] * before + g.share[1] * here) + (g.share[2] * second + g.share[3] * after);
      before = second, here = after;
    }
    return 0.;
  });
}

inlined float32 one_of(const float32 (&of)[3], int i) { return i == 0 ? of[0] : i == 1 ? of[1] : of[2]; }

PASS(ascend) {
  pass p(s, e, k);
  level m = s.levels[e.level + 1];
  const float32 *given = p.list(in_f), *list = p.list_of(m, e.level + 1, in_z), *inv = p.inv;
  float32 *made = p.list(e.to);
  axis ax(s.tables, p.l.ax, p.l.nx), az(s.tables, p.l.az, p.l.nz);
  bool adds = e.to == in_x;
  p.columns(p.l, [&](int c, int x, int y, int first, int last) {
    enum { together = 4, sides = 3 }; // columns: the previous one, the thread's and the next one
    around<float32> a = p.around_of<by_cells>(x, y);
    const float32 *of = list + c * (int64)m.room(), *f = given + c * p.n;
    float32 *to = made + c * p.n;
    int column[sides], near[sides], far[sides], from[sides];
    float32 of_near[sides], of_far[sides];
    UNROLL for (int i = 0; i < sides; i++) {
      column[i] = shape::greatest(0, shape::least(x - 1 + i, p.l.nx - 1));
      from[i] = shape::greatest(0, shape::least(x / 2 - 1 + i, m.nx - 1));
      takes t(ax, column[i], m.nx);
      near[i] = t.near - x / 2 + 1, far[i] = t.far - x / 2 + 1, of_near[i] = t.of_near, of_far[i] = t.of_far;
    }
    double sum = 0;
    for (int z = first; z < last; z += together) {
      float32 coarse[together][sides], rows[together][sides], weights[together + 2][2], g[together + 2][sides], w[together + 2][sides], old[together];
      deep links[together];
      UNROLL for (int j = 0; j < together; j++) {
        int at = shape::greatest(0, shape::least(z / 2 - 1 + j, m.nz - 1)) * m.nx;
        UNROLL for (int i = 0; i < sides; i++) coarse[j][i] = of[at + from[i]];
      }
      UNROLL for (int j = 0; j < together + 2; j++) {
        int on = shape::greatest(0, shape::least(z - 1 + j, p.l.nz - 1)), at = on * p.l.nx;
        weights[j][0] = az.near[on], weights[j][1] = az.far[on];
        UNROLL for (int i = 0; i < sides; i++) {
          if (i != 1 && (j == 0 || j > together)) continue;
          g[j][i] = f[at + column[i]], w[j][i] = inv[at + column[i]];
        }
      }
      UNROLL for (int j = 0; j < together; j++) {
        int on = shape::least(z + j, p.l.nz - 1);
        links[j] = deep{az.width[on], az.link[on], az.link[on + 1]};
        old[j] = adds ? to[on * p.l.nx + x] : 0;
      }
      UNROLL for (int j = 0; j < together; j++) {
        UNROLL for (int i = 0; i < sides; i++) rows[j][i] = of_near[i] * one_of(coarse[j], near[i]) + of_far[i] * one_of(coarse[j], far[i]);
      }
      // The value in row z − 1 + j, which is odd for j = 0. Nothing flows beyond the last row.
      auto value = [&](int j, int i) {
        int close = (j + 1) / 2, other = j % 2 ? close - 1 : close + 1;
        return weights[j][0] * rows[close][i] + weights[j][1] * rows[other][i] + w[j][i] * g[j][i];
      };
      UNROLL for (int j = 1; j <= together; j++) {
        if (z + j > last) break;
        float32 here = value(j, 1);
        six<float32> v{value(j, 0), value(j, 2), 0, 0, value(j - 1, 1), value(j + 1, 1)};
        float32 next = w[j][1] * (g[j][1] + a.kept(here, v, links[j - 1]));
        to[(z + j - 1) * p.l.nx + x] = old[j - 1] + next;
        sum += (double)g[j][1] * next;
      }
    }
    return sum;
  });
}

// A pass as a separate function, so that its registers are allocated separately.
template <void (*pass)(const solver &, const entry &, const knowledge &)> static __device__ __attribute__((noinline)) void called(const solver &s, const entry &e, const knowledge &k) {
  pass(s, e, k);
}

template <class How> inlined void perform_of(const solver &s, const entry &e, const knowledge &k) {
  switch (e.what) {
  case source: return called<do_source<How>>(s, e, k);
  case coarsen: return called<do_coarsen<How>>(s, e, k);
  case given: return called<do_given<How>>(s, e, k);
  case restricts: return called<do_restricts<How>>(s, e, k);
  case down: return called<do_down<How>>(s, e, k);
  case up: return called<do_up<How>>(s, e, k);
  case smooth: return called<do_smooth<How>>(s, e, k);
  case remain: return called<do_remain<How>>(s, e, k);
  case turn: return called<do_turn<How>>(s, e, k);
  case advance: return called<do_advance<How>>(s, e, k);
  }
}

inlined void perform(const solver &s, const entry &e, const knowledge &k) {
  switch (e.what) {
  case solve: return called<do_solve>(s, e, k);
  case descend: return called<do_descend>(s, e, k);
  case ascend: return called<do_ascend>(s, e, k);
  }
  if (s.levels[e.level].each == 4) perform_of<by_fours>(s, e, k);
  else perform_of<by_cells>(s, e, k);
}

// The power of two that scales numbers with this mean square to about 1.
inlined float32 scale_of(double mean) {
  int e = (int)(as<unsigned long long>(mean) >> 52 & 0x7ff) - 1023; // exponent of the square
  e = e / 2;
  return as<float32>((unsigned)(127 - (e < -126 ? -126 : e > 126 ? 126 : e)) << 23);
}

enum { patience = 6 };

// Updates the state from the sums of an entry, with the same result in all blocks. With few blocks,
// one warp adds up each component; with many, all threads do.
template <bool many> inlined void conclude(const solver &s, const entry &e, knowledge &k, int64 cells) {
  double total[3];
  if (many) {
    UNROLL for (int c = 0; c < 3; c++) {
      total[c] = 0;
      if (c < s.components) for (int i = thread_x(); i < blocks(); i += threads()) total[c] += parts_of(s, c, k.sums)[i];
    }
    sums_of_block(total);
  } else {
    __shared__ double of[3];
    int c = thread_x() / 32;
    if (c < s.components) {
      double sum = 0;
      for (int i = thread_x() & 31; i < blocks(); i += 32) sum += parts_of(s, c, k.sums)[i];
      sum = sum_of_warp(sum);
      if (!(thread_x() & 31)) of[c] = sum;
    }
    __syncthreads();
    UNROLL for (int c = 0; c < 3; c++) total[c] = of[c];
  }
  if (thread_x()) return;
  bool all = true, better = false;
  if (!many) k.sums++;
  UNROLL for (int c = 0; c < 3; c++) {
    double sum = total[c];
    if (c >= s.components) continue;
    switch (e.what) {
    case source:
      k.source[c] = sum, k.scale[c] = sum > 0 ? scale_of(sum / cells) : 1;
      k.rest[c] = !(sum > 0), k.best[c] = 1e300, k.gained[c] = 0, k.keep[c] = k.step[c] = 0;
      break;
    case smooth:
    case ascend:
      k.keep[c] = k.gained[c] > 0 ? (float32)(sum / k.gained[c]) : 0;
      k.gained[c] = sum;
      break;
    case turn:
      k.step[c] = k.rest[c] || !(sum > 0) ? 0 : (float32)(k.gained[c] / sum / k.scale[c]);
      break;
    case advance:
      k.left[c] = sum;
      if (sum <= s.tol * s.tol * k.source[c]) k.rest[c] = 1;
      if (!k.rest[c]) all = false;
      if (sum < 0.81 * k.best[c]) k.best[c] = sum, better = true;
      break;
    }
  }
  auto swap = [&](int a, int b) {
    int other = k.role[a];
    k.role[a] = k.role[b], k.role[b] = other;
  };
  if (e.what == turn) swap(in_p, in_t);
  if (e.what == advance) {
    swap(in_x, in_t);
    k.since = better ? 0 : k.since + 1;
    k.ended = all || k.since >= patience || k.steps >= s.most;
    k.steps++;
  }
}

// Copies n values from given places, or writes zeros, with all threads of the launch.
template <class V, class Place> inlined void copy_all(float32 *to, const float32 *from, int n, Place place, bool any) {
  enum { together = 8 };
  int step = blocks() * threads();
  for (int i = block_x() * threads() + thread_x(); i < n; i += together * step) {
    V v[together] = {};
    UNROLL for (int k = 0; k < together; k++) if (any && i + k * step < n) v[k] = load<V>(from + place(i + k * step));
    UNROLL for (int k = 0; k < together; k++) if (i + k * step < n) store(to + (i + k * step) * with<V>::cells, v[k]);
  }
}

// The initial state.
inlined void begin(knowledge &k) {
  k.ended = k.steps = k.since = 0;
  for (int i = 0; i < lists; i++) k.role[i] = i;
  for (int c = 0; c < 3; c++) k.rest[c] = 0, k.left[c] = k.source[c] = 0;
}

// Writes the field, and the report for the host: the number of steps, and for each component the
// squares of the residual and of b·V0.
inlined void finish(const solver &s, const knowledge &k, float32 *to, double *report) {
  const level finest = s.levels[0];
  for (int c = 0; c < s.components; c++) {
    const float32 *x = s.arena + finest.base + (k.role[in_x] * s.components + c) * (int64)finest.room();
    float32 *end = to + c * (int64)finest.cells();
    bool any = k.source[c] > 0;
    if (finest.each == 4 && finest.stride == finest.nx) copy_all<quad>(end, x, finest.cells() / 4, [=](int i) { return 4 * i; }, any);
    else copy_all<float32>(end, x, finest.cells(), [=](int i) { return finest.stride == finest.nx ? i : i / finest.nx * finest.stride + i % finest.nx; }, any);
  }
  if (block_x() || thread_x()) return;
  report[0] = k.steps - 1;
  for (int c = 0; c < s.components; c++) report[1 + c] = k.source[c] > 0 ? k.left[c] : 0, report[4 + c] = k.source[c];
}

#define OF_ALL const float32 *v0, const float32 *b, float32 *arena, const float32 *tables, const level *plan, double *parts, int components, float32 omega, double tol, int most

// Performs the entries from first on, by blocks that run at the same time. If back ≥ 0, these are
// all entries: the list continues at back after its end, until the solver ends. Else they are a
// part of the list, the state comes from an earlier launch, and turns is the number of arrivals
// before this launch.
extern "C" __global__ __attribute__((launch_bounds(256, 1))) void gvf_steady(
  OF_ALL, const knowledge *state, const entry *tape, int first, int back, int all, unsigned *met, unsigned turns, int levels, float32 *to, double *report) {
  __shared__ knowledge k;
  __shared__ solver s;
  __shared__ entry e;
  __shared__ level shapes[most_levels];
  if (thread_x() < levels) shapes[thread_x()] = plan[thread_x()];
  if (!thread_x()) {
    s = solver{v0, b, tables, arena, shapes, parts, omega, components, tol, most};
    if (back < 0) k = *state;
    else begin(k), k.sums = 0;
  }
  __syncthreads();
  if (back < 0 && k.ended) return;
  const int64 cells = shapes[0].cells();
  entry next = tape[first];
  for (int i = first;;) {
    if (!thread_x()) e = next;
    __syncthreads();
    const int flags = e.flags; // thread 0 may replace e before the others have read it
    i = i + 1 < all ? i + 1 : back;
    if (i >= 0) next = tape[i]; // read ahead
    if (flags & sums_up && thread_x() < components) parts_of(s, thread_x(), k.sums)[block_x()] = 0;
    if (!(flags & alone) || block_x() < components) perform(s, e, k);
    if (i < 0) return;
    __syncthreads();
    if (!(flags & meets)) continue;
    if (!thread_x()) {
      turns += blocks();
      arrive(met);
      while ((int)(arrived(met) - turns) < 0) {}
    }
    __syncthreads();
    if (!(flags & sums_up)) continue;
    conclude<false>(s, e, k, cells);
    __syncthreads();
    if (k.ended) break;
  }
  finish(s, k, to, report);
}

// One pass over a level of many cells, as its own launch, whose last block concludes it. It does
// nothing if the solver has ended.
template <class Pass> inlined void by_itself(OF_ALL, knowledge *state, unsigned *ended, const entry &e, Pass perform) {
  __shared__ bool last;
  solver s{v0, b, tables, arena, plan, parts, omega, components, tol, most};
  if (e.what == source) {
    if (!block_x() && !thread_x()) begin(*state); // this pass does not use the state
  } else if (state->ended) return;
  perform(s, e, *state);
  if (!(e.flags & sums_up)) return;
  __syncthreads();
  if (!thread_x()) last = deliver_block(ended) == (planted(fault::hasty) ? 0 : (unsigned)blocks() - 1);
  __syncthreads();
  if (last) conclude<true>(s, e, *state, plan[0].cells());
}

// The traversals of these launches, and the blocks per multiprocessor, as measured to be fastest on
// an H200 (doc/gvf.md).
template <int planes> struct by_planes { typedef quad value; typedef around<quad> surroundings; enum { few = planes, more = planes, most = planes }; };
template <int planes> struct alike { typedef quad value; typedef evenly surroundings; enum { few = planes, more = planes, most = planes }; };

#define BY_ITSELF(kernel, what, how, blocks)                                                                                                                                                     \
  extern "C" __global__ __attribute__((launch_bounds(256, blocks))) void gvf_steady_##kernel(OF_ALL, knowledge *state, unsigned *ended, int level, int from, int to, int flags) {                \
    by_itself(v0, b, arena, tables, plan, parts, components, omega, tol, most, state, ended, entry{what, level, from, to, flags},                                                                   \
              [](const solver &s, const entry &e, const knowledge &k) { do_##what<how>(s, e, k); });                                                                                               \
  }
BY_ITSELF(source, source, by_planes<2>, 4)
BY_ITSELF(coarsen, coarsen, by_planes<1>, 4)
BY_ITSELF(given, given, by_planes<2>, 2)
BY_ITSELF(restricts, restricts, by_planes<2>, 4)
BY_ITSELF(down, down, by_planes<2>, 2)
BY_ITSELF(down_alike, down, alike<2>, 2)
BY_ITSELF(up, up, by_planes<4>, 2)
BY_ITSELF(smooth, smooth, by_planes<2>, 2)
BY_ITSELF(smooth_alike, smooth, alike<2>, 2)
BY_ITSELF(remain, remain, by_planes<2>, 2)
BY_ITSELF(remain_alike, remain, alike<2>, 2)
BY_ITSELF(turn, turn, by_planes<2>, 2)
BY_ITSELF(turn_alike, turn, alike<2>, 2)
BY_ITSELF(advance, advance, by_planes<1>, 2)
BY_ITSELF(advance_alike, advance, alike<1>, 2)

extern "C" __global__ void gvf_steady_finish(OF_ALL, const knowledge *state, float32 *to, double *report) {
  finish(solver{v0, b, tables, arena, plan, parts, omega, components, tol, most}, *state, to, report);
}
