// Launches a counting kernel on the host (device.h). It is launched twice, to find state that the
// first launch leaves behind.
//
//  launch FAULT KERNEL BLOCKS THREADS SHARED BYTES EDGE TABLE ENTRIES ENTRY PARAMETER...
//         LEVELS LEAST AFFINE LO INVERSE LUT VALUES COPIES
//
// FAULT is none, or the name of a known defect (../ecc/fault.h) to plant. The table has ENTRIES
// entries of ENTRY bytes. TABLE is "adds" for a kernel that adds to it, "stores" for one that stores
// all of it, "hands" to hand it over to the host, or "keeps" to add to it although the kernel could
// hand it over.
// PARAMETER... are the kernel's own parameters between the image and the ladder, except those for
// handing over. COPIES is 0 for a kernel without that parameter. A float32 is given by its bits.
// For a texture, the kernel's own parameters are the image's width, height and depth.
//
// The standard input has the image with BYTES in total, EDGE of them before it; then the LUT levels
// of the lookup table; then VALUES values of levels. A count of 0 passes a null table to the
// kernel. The standard output has the table after the launch. The program is compiled with
// -DON_HOST and -DSOURCE=, the kernel's source relative to the folder of kernels, without .cu.
#include "fibers.h"
#include <dlfcn.h>
#include <string>

// The fault is selected at run time, so one program contains all of them.
enum class fault;
namespace onhost { inline fault has; }
#define FAULT none || f == onhost::has
#include "../ecc/fault.h"
#undef NARROW_ONLY // plant faults in the other batches, too
#undef KERNELS
#define KERNELS(kernel)                                                                       \
  kernel(2d, uint8) kernel(2d, int16) kernel(2d, uint16) kernel(2d, float32)                  \
  kernel(3d, uint8) kernel(3d, int16) kernel(3d, uint16) kernel(3d, float32)

#define NAME(x) NAME_OF(x)
#define NAME_OF(x) #x
#include NAME(../SOURCE.cu)

namespace onhost {

static void *kernel;
static size_t edge;
static char **next; // the next argument
static int64 *copied; // the host's copy of the table
static unsigned done;

static texels fetched; // the image, if it is a texture

static int64 number() {
  if (!*next) fail("too few arguments");
  return strtoll(*next++, nullptr, 10);
}

// The tables that are read from the standard input.
static std::vector<int> lut;
static std::vector<float32> values;
template <class V> const V *room(std::vector<V> &v) { return v.resize(number()), v.empty() ? nullptr : v.data(); }

template <class P> P parameter() { return (P)number(); }
template <> float32 parameter() { return as<float32>((unsigned)number()); }
template <> int64 *parameter() { return copied; }
template <> unsigned *parameter() { return copied ? &done : nullptr; }
template <> const void *parameter() { return fetched.depth ? (const void *)&fetched : image.begin + edge; }
template <> const int *parameter() { return room(lut); }
template <> const float32 *parameter() { return room(values); }
template <> void *parameter() { return table.begin; }

template <class... P> static void bind() { bound{(void (*)(P...))kernel, parameter<P>()...}; }

// Binds a kernel to its own parameters, followed by those of the ladder and the table.
template <bool has_copies, class... Own> static void is_of() {
#define ALL const void *, Own..., int, int, int, float32, float32, const int *, const float32 *, void *
  if constexpr (has_copies) bind<ALL, int>();
  else bind<ALL>(), number();
#undef ALL
}

static fault fault_of(const std::string &name) {
  const std::pair<const char *, fault> all[] = {
    {"none", fault::none}, {"tie", fault::tie}, {"halo", fault::halo}, {"barrier", fault::barrier},
    {"atomic", fault::atomic}, {"slab", fault::slab}, {"owner", fault::owner}, {"sign", fault::sign},
    {"flush", fault::flush}, {"image", fault::image}, {"overflow", fault::overflow}, {"twice", fault::twice}};
  for (auto &one : all)
    if (name == one.first) return one.second;
  fail("no such fault");
  return fault::none;
}

}

int main(int, char **argv) {
  using namespace onhost;
  next = argv + 1;
  if (!*next) fail("no fault");
  has = fault_of(*next++);
  if (!*next) fail("no kernel");
  std::string name = *next++;
  kernel = dlsym(RTLD_DEFAULT, name.c_str());
  if (!kernel) fail("no such kernel");
  onhost::blocks = number();
  const size_t threads = number();
  start(threads, number());
  image.bytes = number(), edge = number();
  image.begin = (char *)aligned_alloc(256, (image.bytes + 255) / 256 * 256);

  std::string does = *next ? *next++ : "";
  const bool hands = does == "hands", stores = does == "stores";
  if (!hands && !stores && does != "adds" && does != "keeps") fail("a kernel adds to its table, stores, keeps or hands it over");
  const size_t entries = number(), entry = number(), bytes = entries * entry;
  const char poison = 0x5a;
  // A table that is handed over has room for a multiple of four entries.
  std::vector<char> total(hands ? (entries + 3) / 4 * 4 * entry : bytes), copy(hands ? (entries + 3) / 4 * 4 * sizeof(int64) : 0), out, first;
  table.begin = total.data(), table.bytes = total.size(), copied = hands ? (int64 *)copy.data() : nullptr;

  if (name.find("ecc_extrema_strays_") == 0) is_of<false, int64>();
  else if (name.find("ecc_fullsweep_") == 0) is_of<true, int, int, int, int, int>();
  else if (name.find("ecc_tiled_") == 0) {
    char **own = next;
    fetched = {(int)number(), (int)number(), (int)number()};
    next = own;
    is_of<true, int, int, int>();
  }
  else if (name.find("ecc_extrema_batch_") == 0) is_of<true, int64, int, int, int, int, int, int, float32, float32, unsigned>();
  else if (hands || does == "keeps") is_of<true, int, int, int, int, float32, float32, unsigned, int64 *, unsigned *>();
  else is_of<true, int, int, int, int, float32, float32, unsigned>();
  if (*next) fail("too many arguments");
  read_all(image.begin, image.bytes);
  read_all(lut.data(), 4 * lut.size());
  read_all(values.data(), 4 * values.size());

  for (int launch = 0; launch < 2; launch++) {
    if (!hands) memset(total.data(), stores ? poison : 0, total.size());
    memset(copy.data(), poison, copy.size());
    done = 0;
    run_blocks();
    if (hands) {
      if (!done) fail("the host is not told that the table is there");
      for (char n : total) if (n) fail("the table is not cleared");
    }
    out = hands ? copy : total;
    out.resize(hands ? entries * sizeof(int64) : bytes);
    if (launch && out != first) fail("the second launch counts otherwise than the first");
    first = out;
  }
  fwrite(first.data(), 1, first.size(), stdout);
}
