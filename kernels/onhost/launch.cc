// Launches a kernel of the extrema on the host (device.h), twice, for the second finds what
// the first left:
//
//   launch KERNEL BLOCKS THREADS SHARED BYTES EDGE WIDTH HEIGHT DEPTH SEGMENT SCALE OFFSET BIAS
//          HANDS TOTALS LEVELS LEAST AFFINE LO INVERSE COPIES LUT VALUES
//
// HANDS is whether the kernel has parameters for handing its table over, and so does, 1 or
// 0. A float32 is given by its bits. The standard input is the
// image with BYTES in all, EDGE of them before it, the level of each of LUT values, and
// VALUES levels' values; where there are none, the kernel is given no such table. The standard
// output is the table that it hands over or adds to, an int64 for each level. TOTALS is the
// bytes of each total that it adds to. It is compiled with -DON_HOST, -DSOURCE=, the kernels'
// source, -DTYPE=, the type of the image, and -DFAULT= (../fault.h) or not.
#include "device.h"
#include <dlfcn.h>

#define NAME(x) NAME_OF(x)
#define NAME_OF(x) #x
#include NAME(../SOURCE.cu)

alignas(128) __shared__ int block_changes[onhost::most_shared / 4];

namespace onhost {

// Kernels may hand their table over, or only add to it.
typedef void hands_over(const TYPE *image, int width, int height, int depth, int segment, float32 scale, float32 offset,
                        unsigned bias, int64 *copy, unsigned *done, int levels, int least, int affine, float32 lo,
                        float32 inverse, const int *lut, const float32 *values, void *total, int copies);
typedef void adds(const TYPE *image, int width, int height, int depth, int segment, float32 scale, float32 offset,
                  unsigned bias, int levels, int least, int affine, float32 lo, float32 inverse, const int *lut,
                  const float32 *values, void *total, int copies);
static void *kernel;
static bool hands;
static int width, height, depth, segment, levels, least, affine, copies;
static float32 scale, offset, lo, inverse;
static unsigned bias, done;
static size_t edge;
static const int *lut;
static const float32 *values;
static int64 *copied;

enum { stack_bytes = 128 << 10 }; // of a thread

static void fail(const char *why) {
  fprintf(stderr, "%s\n", why);
  exit(3);
}

static void body() {
  auto *voxels = (const TYPE *)(image.begin + edge);
  void *total = table.begin;
  if (hands)
    ((hands_over *)kernel)(voxels, width, height, depth, segment, scale, offset, bias, copied, &done, levels, least, affine, lo, inverse, lut, values, total, copies);
  else
    ((adds *)kernel)(voxels, width, height, depth, segment, scale, offset, bias, levels, least, affine, lo, inverse, lut, values, total, copies);
  meet(place::end);
}

// Runs a thread to where it meets others.
static void go_on(int t) {
  fiber &f = fibers[thread = t];
  if (_setjmp(scheduler)) return;
  if (f.begun) _longjmp(f.here, 1);
  f.begun = true;
  setcontext(&f.context);
}

// Runs the threads of a warp to where they meet, in the order of their numbers or against it.
static void go_on_together(int first, bool backwards) {
  for (int i = 0; i < lanes; i++) go_on(first + (backwards ? lanes - 1 - i : i));
  for (int i = 0; i < lanes; i++) {
    if (fibers[first + i].waits != fibers[first].waits) fail("threads of a warp wait in different places");
    met[first + i] = fibers[first + i].gives;
  }
}

// A block finds in shared memory what no one wrote there, and leaves what is beyond alone.
static void run_block() {
  const char before = 0x5b, beyond = 0x7d;
  memset(block_changes, beyond, sizeof block_changes);
  memset(block_changes, before, shared.bytes);
  for (auto &f : fibers) {
    f.begun = false, f.waits = place::lanes;
    f.copies.clear(), f.groups.clear();
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get(), f.context.uc_stack.ss_size = stack_bytes;
    makecontext(&f.context, body, 0);
  }
  bool backwards = false;
  for (place all = place::block; all != place::end;) {
    for (bool any = true; any; backwards = !backwards) {
      any = false;
      for (int w = 0; w < threads(); w += lanes) {
        if (fibers[w].waits >= place::block) continue;
        go_on_together(w, backwards);
        any = true;
      }
    }
    all = fibers[0].waits;
    for (auto &f : fibers) {
      if (f.waits != all) fail("threads of a block wait in different places");
      if (all == place::block) f.waits = place::warp;
    }
  }
  for (size_t i = shared.bytes; i < sizeof block_changes; i++)
    if (((char *)block_changes)[i] != beyond) fail("a block wrote beyond its shared memory");
}

static void read_all(void *to, size_t bytes) {
  if (fread(to, 1, bytes, stdin) != bytes) fail("the standard input is too short");
}
}

int main(int argc, char **argv) {
  using namespace onhost;
  if (argc != 24) fail("wrong number of arguments");
  int next = 1;
  auto number = [&] { return strtoll(argv[next++], nullptr, 10); };
  auto bits = [&] { return as<float32>((unsigned)number()); };
  kernel = dlsym(RTLD_DEFAULT, argv[next++]);
  if (!kernel) fail("no such kernel");
  onhost::blocks = number();
  fibers.resize(number()), met.resize(fibers.size());
  for (auto &f : fibers) f.stack.reset(new char[stack_bytes]);
  shared.begin = (char *)block_changes, shared.bytes = number();
  if (shared.bytes > sizeof block_changes) fail("so much shared memory no block has");
  const size_t bytes = number();
  edge = number();
  width = number(), height = number(), depth = number(), segment = number();
  scale = bits(), offset = bits(), bias = number();
  hands = number();
  const size_t totals = number();
  levels = number(), least = number(), affine = number(), lo = bits(), inverse = bits(), copies = number();
  char *memory = (char *)aligned_alloc(256, (bytes + 255) / 256 * 256);
  read_all(memory, bytes);
  image.begin = memory, image.bytes = bytes;
  std::vector<int> of_values(number());
  read_all(of_values.data(), 4 * of_values.size());
  if (!of_values.empty()) lut = of_values.data();
  std::vector<float32> of_levels(number());
  read_all(of_levels.data(), 4 * of_levels.size());
  if (!of_levels.empty()) values = of_levels.data();

  const int64 poison = 0x5a5a5a5a;
  size_t room = (levels + 3) / 4 * 4; // hand_over wants it
  std::vector<char> total(room * totals);
  std::vector<int64> first;
  for (int launch = 0; launch < 2; launch++) {
    table.begin = total.data(), table.bytes = total.size();
    std::vector<int64> copy(room, poison);
    copied = copy.data(), done = 0;
    for (block = 0; block < onhost::blocks; block++) run_block();
    if (hands && !done) fail("the host is not told that the table is there");
    if (!hands) { // its totals are int64
      memcpy(copy.data(), total.data(), total.size());
      memset(total.data(), 0, total.size());
    }
    for (char n : total) if (n) fail("the table is not cleared");
    if (launch && memcmp(copy.data(), first.data(), 8 * levels)) fail("the second launch counts otherwise than the first");
    first = copy;
  }
  fwrite(first.data(), 8, levels, stdout);
}
