// Runs a kernel of a source on the host (device.h). ENTRIES lists the kernels.
//
//  run KERNEL BLOCKS ROWS THREADS SHARED PARAMETER...
//
// The grid has BLOCKS × ROWS blocks. A parameter is i and an integer, f or d and the bits of a
// float32 or double, or m and a number of bytes of memory. The contents of the memory are read from
// the standard input, in the order of the parameters, and are written to the standard output after
// the run. The pages around the memory are inaccessible. The program is compiled with -DON_HOST,
// -DSOURCE=, the kernel's source relative to the folder of kernels, without .cu, and
// -DENTRIES='ENTRY(kernel)...'.
#include "fibers.h"
#include <algorithm>
#include <string>
#include <sys/mman.h>

#define NAME(x) NAME_OF(x)
#define NAME_OF(x) #x
#include NAME(../SOURCE.cu)

namespace onhost {

// The memory of a parameter, between inaccessible pages.
struct memory {
  char *begin;
  size_t bytes, before; // before: the bytes of its pages ahead of it; its end is the end of the pages
  enum { unit = 16, mark = 0x6b };

  explicit memory(size_t bytes) : bytes(bytes) {
    size_t page = sysconf(_SC_PAGESIZE), rounded = (bytes + unit - 1) / unit * unit, pages = (rounded + page - 1) / page * page;
    char *all = (char *)mmap(nullptr, pages + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all + page, pages, PROT_READ | PROT_WRITE)) fail("no memory");
    before = pages - rounded;
    begin = all + page + before;
    memset(begin - before, mark, pages);
    read_all(begin, bytes);
  }
  void check() const {
    size_t rounded = (bytes + unit - 1) / unit * unit;
    auto marked = [](const char *from, const char *to) { return std::all_of(from, to, [](char c) { return c == mark; }); };
    if (!marked(begin - before, begin) || !marked(begin + bytes, begin + rounded)) fail("the kernel wrote beside its memory");
  }
};
static std::vector<memory> memories;

static char **next; // the next argument

static const char *argument(char kind) {
  if (!*next) fail("too few parameters");
  const char *a = *next++;
  if (*a != kind) fail("a parameter is of another kind");
  return a + 1;
}

template <class P> P parameter() {
  if constexpr (std::is_pointer_v<P>) {
    if (**next == 'i') return argument('i'), nullptr;
    memories.emplace_back(strtoull(argument('m'), nullptr, 10));
    return (P)memories.back().begin;
  } else if constexpr (std::is_same_v<P, float32>) {
    return as<float32>((unsigned)strtoull(argument('f'), nullptr, 10));
  } else if constexpr (std::is_same_v<P, double>) {
    return as<double>(strtoull(argument('d'), nullptr, 10));
  } else {
    return (P)strtoll(argument('i'), nullptr, 10);
  }
}

template <class... P> void bind(void (*kernel)(P...)) { bound{kernel, parameter<P>()...}; }
}

int main(int, char **argv) {
  using namespace onhost;
  next = argv + 1;
  for (int i = 1; i < 6; i++)
    if (!argv[i]) fail("want a kernel, blocks, rows of them, threads and shared memory");
  std::string name = *next++;
  onhost::blocks = atoi(*next++);
  const int rows = atoi(*next++); // of blocks
  const size_t threads = atoll(*next++);
  start(threads, atoll(*next++));
  // Only the pages around a parameter's memory limit its accesses.
  for (region *r : {&onhost::table, &onhost::image}) r->begin = nullptr, r->bytes = -1ull >> 1;
#define ENTRY(kernel) if (name == #kernel) bind(kernel);
  ENTRIES
  if (!call) fail("no such kernel");
  if (*next) fail("too many parameters");
#ifdef BLOCKS_TOGETHER // defined by a source whose blocks wait for each other
  run_blocks_together(threads, shared.bytes);
#else
  run_blocks(rows);
#endif
  for (auto &m : memories) {
    m.check();
    fwrite(m.begin, 1, m.bytes, stdout);
  }
}
