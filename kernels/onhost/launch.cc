// Launches a sliced kernel on the host (device.h), twice, for the second finds what the
// first left:
//
//   launch KERNEL BLOCKS THREADS SHARED BYTES EDGE WIDTH HEIGHT DEPTH SEGMENT BIAS LEVELS VALUES
//
// The standard input is the image with BYTES in all, EDGE of them before it, and the level
// of each of VALUES values, none where the kernel is given no look-up table. The standard
// output is the table that it hands over, an int64 for each level. It is compiled with
// -DON_HOST and -DTYPE=, the type of the image, and -DFAULT= (../fault.h) or not.
#include "device.h"

#define NAME(x) NAME_OF(x)
#define NAME_OF(x) #x
#define JOIN(a, b) JOINED(a, b)
#define JOINED(a, b) a##b
#include NAME(../JOIN(JOIN(ecc_extrema_, KIND), JOIN(_, TYPE)).cu)

alignas(128) int block_changes[onhost::most_shared / 4];

namespace onhost {

// Kernels hand their table over, or only add to it.
typedef void hands_over(const TYPE *image, int width, int height, int depth, int segment, float32, float32, unsigned bias,
                        int64 *copy, unsigned *done, int levels, int, int, float32, float32, const int *lut, const float32 *,
                        int64 *total, int);
typedef void adds(const TYPE *image, int width, int height, int depth, int segment, float32, float32, unsigned bias,
                  int levels, int, int, float32, float32, const int *lut, const float32 *, int64 *total, int);
static hands_over *handing;
static adds *adding;
static void take(hands_over *k) { handing = k; }
static void take(adds *k) { adding = k; }
static int width, height, depth, segment, levels;
static unsigned bias, done;
static size_t edge;
static const int *lut;
static int64 *copied;

enum { stack_bytes = 64 << 10 }; // of a thread

static void fail(const char *why) {
  fprintf(stderr, "%s\n", why);
  exit(3);
}

static void body() {
  auto *voxels = (const TYPE *)(image.begin + edge);
  auto *total = (int64 *)table.begin;
  if (handing) handing(voxels, width, height, depth, segment, 0, 0, bias, copied, &done, levels, 0, 0, 0, 0, lut, nullptr, total, 1);
  else adding(voxels, width, height, depth, segment, 0, 0, bias, levels, 0, 0, 0, 0, lut, nullptr, total, 1);
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
  if (argc != 14) fail("wrong number of arguments");
  auto number = [&](int i) { return strtoll(argv[i], nullptr, 10); };
#define KERNEL(rows) LAUNCHED(JOIN(JOIN(ecc_extrema_, KIND), JOIN(rows, TYPE)))
#define LAUNCHED(name) if (!strcmp(argv[1], NAME(name))) take(name);
  KERNEL(_3d_)
  KERNEL(_fours_3d_)
  KERNEL(_unaligned_3d_)
  if (!handing && !adding) fail("no such kernel");
  onhost::blocks = number(2);
  fibers.resize(number(3)), met.resize(number(3));
  for (auto &f : fibers) f.stack.reset(new char[stack_bytes]);
  shared.begin = (char *)block_changes, shared.bytes = number(4);
  if (shared.bytes > sizeof block_changes) fail("so much shared memory no block has");
  const size_t bytes = number(5);
  edge = number(6);
  width = number(7), height = number(8), depth = number(9), segment = number(10), bias = number(11), levels = number(12);
  char *memory = (char *)aligned_alloc(256, (bytes + 255) / 256 * 256);
  read_all(memory, bytes);
  image.begin = memory, image.bytes = bytes;
  std::vector<int> values(number(13));
  read_all(values.data(), 4 * values.size());
  if (!values.empty()) lut = values.data();

  const int64 poison = 0x5a5a5a5a;
  size_t room = (levels + 3) / 4 * 4; // hand_over wants it
  std::vector<int64> total(room), first;
  for (int launch = 0; launch < 2; launch++) {
    table.begin = (char *)total.data(), table.bytes = 8 * room;
    std::vector<int64> copy(room, poison);
    copied = copy.data(), done = 0;
    for (block = 0; block < onhost::blocks; block++) run_block();
    if (handing && !done) fail("the host is not told that the table is there");
    if (adding) copy.swap(total), total.assign(room, 0);
    for (auto n : total) if (n) fail("the table is not cleared");
    if (launch && copy != first) fail("the second launch counts otherwise than the first");
    first = copy;
  }
  fwrite(first.data(), 8, levels, stdout);
}
