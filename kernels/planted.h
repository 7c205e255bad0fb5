// Known defects of kernels, of which whoever includes this has the list: FAULTS(fault) calls fault
// with the name of each. Tests plant them on the host, where the environment's FAULT names one, so
// that one program has them all; for devices there are none.
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
