// Known defects of kernels. The including file defines their list: FAULTS(fault) calls fault with
// each name. In tests on the host, the environment variable FAULT selects one, so a single program
// contains all of them. Device code contains none.
#pragma once

enum class fault {
  none,
#define FAULT(name) name,
  FAULTS(FAULT)
#undef FAULT
};

// Whether a fault is planted.
#ifdef ON_HOST
inline bool planted(fault f) {
  static const fault has = [] {
    const char *name = getenv("FAULT");
#define FAULT(known) if (name && !strcmp(name, #known)) return fault::known;
    FAULTS(FAULT)
#undef FAULT
    return fault::none;
  }();
  return f == has;
}
#else
constexpr bool planted(fault) { return false; }
#endif
