// claim:  root[run] = the node of its component, for each run of a slice that two parts share;
//         the node holds the place of one of those runs
// settle: root[run] = that place
//
// An image is divided at slices that both neighbouring parts contain (doc/betti.md, On several
// devices). A run of such a slice has a place in a list, which is the same in both parts. There it
// receives the place of one run of its component, which represents it. The host joins the
// components of the parts (impls/betti/duality/devices.go).
#pragma once
#include "duality.h"

// In place of a root: no run begins there.
const unsigned no_run = ~0u;

// A node holds a place as a number greater than any node's number. The host ensures that there are
// few enough nodes.
inlined unsigned claim_of(unsigned place) { return ~1u - place; }

// A warp handles one word of a slice, with 32 places for runs. Bit 0 of ends selects the part's
// first slice, bit 1 its last one.
struct cut_word {
  int lane, number;   // number: in its slice
  unsigned place, all; // all: in all slices
  bool last, some;
  member cut_word(int words, int ends) {
    lane = thread_x() & 31;
    int n = block_x() * (threads() >> 5) + (thread_x() >> 5), slices = (ends & 1) + (ends >> 1);
    some = n < words * slices, last = n >= words || !(ends & 1);
    number = n < words ? n : n - words;
    place = 32u * (unsigned)n + (unsigned)lane, all = 32u * (unsigned)(words * slices);
  }
  // The bit where a run begins, of the two bits of a lane, or −1.
  member int begin(word runs) const {
    unsigned s = (unsigned)(starts_of(runs) >> (2 * lane)) & 3;
    return s ? 2 * lane + (s == 2) : -1;
  }
  // Stores the root of a node. The root keeps the first place that claims it. The outside, 0, keeps
  // none.
  member void claim(unsigned *nodes, unsigned node, unsigned *roots) const {
    const volatile unsigned *parent = nodes;
    unsigned p;
    while ((p = parent[node]) != node && p <= claim_of(all)) node = p;
    roots[place] = node;
    if (node && p == node) compare_swap_global(nodes + node, node, claim_of(place));
  }
};

// For the set: the runs of the union of two rows of a plane, or of a row of a flat image. χ of the
// shared last slice is subtracted, because both parts count it.
template <int deep> inlined void set_cut(volume<deep> v, int ends, unsigned *nodes, unsigned *roots, int64 *out) {
  typedef faces<volume<deep>::log_rows - 1, deep - 1> F;
  const bool flat = deep == 1;
  cut_word at((flat ? 1 : (v.h + 1) >> 1) * v.tx, ends);
  int chi = 0;
  if (at.some) {
    int row = at.number / v.tx, i = at.number - row * v.tx;
    int z = flat ? 0 : at.last ? v.d - 1 : 0, y = !flat ? 2 * row : at.last ? v.h - 1 : 0;
    word mine = v.at(z, y, i), two = flat ? mine : mine | v.at(z, y + 1, i);
    word any = mine | v.at(z, y ^ 1, i) | v.at(z ^ 1, y, i) | v.at(z ^ 1, y ^ 1, i);
    int begin = at.begin(two);
    if (begin < 0) roots[at.place] = no_run;
    else at.claim(nodes, nodes_of<F, volume<deep>>{v, volume<deep>::log_rows - 1, deep - 1}.at(z >> 1, y >> 1, i, any, begin, false), roots);
    if (at.last && at.lane < (flat ? 1 : 2) && y + at.lane < v.h) {
      y += at.lane;
      auto last = [&](int y) { return i ? (unsigned)(v.at(z, y, i - 1) >> 63) : 0; };
      word cur = v.at(z, y, i), above = flat ? 0 : v.at(z, y - 1, i);
      chi = runs_of(cur | above, last(y) | (flat ? 0 : last(y - 1)));
      if (!flat && y < v.h - 1) chi -= runs_of(cur, last(y));
    }
  }
  add_all(out, characteristic, planted(fault::slice) ? 0 : -chi);
}

// For the background: the runs of each row of a plane.
inlined void rest_cut(volume<5> v, int ends, unsigned *nodes, unsigned *roots) {
  cut_word at(v.h * v.tx, ends);
  if (!at.some) return;
  int y = at.number / v.tx, i = at.number - y * v.tx, z = at.last ? v.d - 1 : 0;
  word mine = v.around(z, y, i);
  int begin = at.begin(mine);
  if (begin < 0) roots[at.place] = no_run;
  else at.claim(nodes, nodes_of<faces<5, 5>, volume<5>>{v, 5, 5}.at(z, y, i, mine, begin, false), roots);
}

// For each run: one plus the place of the run that represents its component, or 0 for the outside.
inlined void settle(const unsigned *nodes, unsigned *roots, int places) {
  int n = block_x() * threads() + thread_x();
  if (n >= places || roots[n] == no_run || !roots[n]) return;
  roots[n] = claim_of(nodes[roots[n]]) + 1;
}
