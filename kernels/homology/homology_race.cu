// ascend .. next:  the cells of a dimension with their boundaries, and what their faces are faces
//                  of, by sorting (sort.h)
// costs:  each cell finds the face with which its reduction costs least, and all the least cost
// race:   cells within a margin of it write their number to what they would change
// check:  they take what cells have that come after them
// own:    those that have all of it win
// reduce: these are reduced: in the boundaries around the face the rest of the
//         cell's takes its place, and the lists of what those faces are faces of follow
// tell:   costs around what has changed are to be found again
//
// Algebraic reductions over two elements in rounds (Murty 2013, section 5; Nasre, Burtscher and
// Pingali 2013). Lists ascend. One that has no room where it is goes to the end of the pool. After
// check a lock has the number of the first in order who wants it, whatever the schedule, so that
// the first of all wins in each round.
#include "sort.h"

// What is counted of a dimension, beside a round's: what lists have taken of the pool, how long a
// boundary became, whether the pool was too small, and the cells that are left over.
enum { pooled, longest, full, left };
// And of each round.
enum { cheapness, tried, won, of_round };

enum : unsigned { never = ~0u, unknown = 0 };

typedef quad list_at; // where a list begins, its length, and its room

inlined unsigned begin_of(list_at l) { return l[0]; }
inlined unsigned length_of(list_at l) { return l[1]; }

// Each of n simplices with its k vertices in ascending order.
extern "C" __global__ void homology_race_ascend(unsigned *list, unsigned n, unsigned k) {
  unsigned s = this_thread();
  if (s >= n) return;
  unsigned *v = list + (int64)s * k;
  for (unsigned i = 1; i < k; i++)
    for (unsigned j = i; j > 0 && v[j] < v[j - 1]; j--) {
      unsigned t = v[j];
      v[j] = v[j - 1], v[j - 1] = t;
    }
}

extern "C" __global__ void homology_race_digits(const unsigned *cells, const unsigned *given, unsigned faces, unsigned k, const unsigned *order,
                                                int ordered, unsigned n, unsigned column, unsigned shift, unsigned *counts) {
  count_digits(tuples{cells, given, faces, k}, ordered ? order : nullptr, n, column, shift, counts);
}
extern "C" __global__ void homology_race_place(const unsigned *cells, const unsigned *given, unsigned faces, unsigned k, const unsigned *order,
                                               int ordered, unsigned n, unsigned column, unsigned shift, const unsigned *counts, unsigned *to) {
  place_records(tuples{cells, given, faces, k}, ordered ? order : nullptr, n, column, shift, counts, to);
}

extern "C" __global__ void homology_race_scan_parts(const unsigned *list, unsigned n, unsigned *parts) { scan_parts(list, n, parts); }
extern "C" __global__ void homology_race_scan_tops(unsigned *parts, unsigned n) { scan_tops(parts, n); }
extern "C" __global__ void homology_race_scan_ends(unsigned *list, unsigned n, const unsigned *parts) { scan_ends(list, n, parts); }

// 1 for each record in order that is not the one before it again, which is to be scanned.
extern "C" __global__ void homology_race_heads(const unsigned *cells, const unsigned *given, unsigned faces, unsigned k, const unsigned *order,
                                               unsigned n, unsigned *number) {
  tuples of{cells, given, faces, k};
  unsigned i = this_thread();
  if (i >= n) return;
  bool first = !i || !of.same(order[i], order[i - 1]);
  number[i] = first;
}

// The first of numbers for which something is true, as it then is for all that follow; the end if
// there is none.
template <class F> inlined unsigned first_in(unsigned low, unsigned high, F f) {
  while (low < high) {
    unsigned middle = low + (high - low) / 2;
    if (f(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The faces by number, their lists of cells, which are records in order, and the boundaries.
// The pool begins with the boundaries, then come the lists of cells.
extern "C" __global__ void homology_race_lists(const unsigned *order, const unsigned *number, unsigned n, unsigned found, unsigned faces, unsigned k,
                                               unsigned *pool, list_at *face) {
  unsigned i = this_thread();
  if (i >= n) return;
  // What was scanned is how many heads come before: a head's own number, one more than that of
  // others that are the same.
  unsigned next = i + 1 < n ? number[i + 1] : found, record = order[i];
  unsigned f = next > number[i] ? number[i] : number[i] - 1;
  if (record < faces) {
    pool[record] = f;
    pool[faces + i] = record / (k + 1);
  }
  if (next > number[i]) { // its run ends at the next head, and simplices that are given come last in it
    unsigned end = f + 1 == found ? n : first_in(i + 1, n, [&](unsigned j) { return number[j] > f + 1; }) - 1;
    unsigned own = first_in(i, end, [&](unsigned j) { return order[j] >= faces; });
    face[f] = list_at{faces + i, own - i, end - i, i};
  }
}

extern "C" __global__ void homology_race_cells(unsigned *pool, list_at *cell, unsigned cells, unsigned k) {
  unsigned c = this_thread();
  if (c >= cells) return;
  unsigned *v = pool + (int64)c * k;
  for (unsigned i = 1; i < k; i++)
    for (unsigned j = i; j > 0 && v[j] < v[j - 1]; j--) {
      unsigned t = v[j];
      v[j] = v[j - 1], v[j - 1] = t;
    }
  cell[c] = list_at{c * k, k, k, 0};
}

// The cost of the cheapest reduction of a cell, equation 5.1: how many entries are looked at.
inlined unsigned cheapest(const unsigned *pool, const list_at *cell, const list_at *face, unsigned b, unsigned &with) {
  list_at own = cell[b];
  unsigned length = length_of(own);
  word all = 0;
  for (unsigned i = 0; i < length; i++) all += length_of(face[pool[begin_of(own) + i]]);
  unsigned cost = never;
  for (unsigned i = 0; i < length; i++) {
    unsigned a = pool[begin_of(own) + i];
    list_at around = face[a];
    word n = (word)(length - 1) * length_of(around) + all - length_of(around) + (word)(length_of(around) - 1) * length - length;
    for (unsigned j = 0; j < length_of(around); j++) n += length_of(cell[pool[begin_of(around) + j]]);
    unsigned bounded = n > never - 1 ? never - 1 : n < 1 ? 1 : (unsigned)n;
    if (bounded < cost) cost = bounded, with = a;
  }
  return cost;
}

extern "C" __global__ void homology_race_costs(const unsigned *pool, const list_at *cell, const list_at *face, unsigned cells, const unsigned *gone,
                                               unsigned *cost, unsigned *with, unsigned slot, unsigned *counts) {
  unsigned *count = counts + of_round * slot, least = never;
  for (unsigned b = this_thread(); b < cells; b += all_threads()) {
    unsigned c = cost[b];
    if (c == unknown) {
      unsigned a = 0;
      cost[b] = c = gone[b] ? never : cheapest(pool, cell, face, b, a);
      with[b] = a;
    }
    least = c < least ? c : least;
  }
  for (int step = 16; step > 0; step /= 2) {
    unsigned other = from_lane(least, (thread_x() & 31) ^ step);
    least = other < least ? other : least;
  }
  if (!(thread_x() & 31) && never - least > fresh(count + cheapness)) most_global(count + cheapness, never - least);
}

// Calls f with the locks of what the reduction of a cell changes, which come first those of the
// cells.
template <class F> inlined void changed(const unsigned *pool, const list_at *cell, const list_at *face, unsigned cells, unsigned *lock, unsigned b,
                                        unsigned a, F f) {
  list_at around = face[a], own = cell[b];
  for (unsigned i = 0; i < length_of(around); i++) f(lock + pool[begin_of(around) + i]);
  for (unsigned i = 0; i < length_of(own); i++) f(lock + cells + pool[begin_of(own) + i]);
}

extern "C" __global__ void homology_race_race(const unsigned *pool, const list_at *cell, const list_at *face, unsigned cells, const unsigned *cost,
                                              const unsigned *with, unsigned margin, unsigned *lock, unsigned *list, unsigned slot,
                                              unsigned *counts) {
  unsigned *count = counts + of_round * slot;
  unsigned least = never - count[cheapness];
  if (least == never) return; // nothing is left to be reduced
  unsigned limit = least + margin < least || least + margin == never ? never - 1 : least + margin;
  for (unsigned first = this_thread() & ~31u; first < cells; first += all_threads()) {
    unsigned b = first + (thread_x() & 31);
    bool in = b < cells && cost[b] <= limit;
    unsigned at = append(count + tried, in);
    if (!in) continue;
    list[at] = b;
    changed(pool, cell, face, cells, lock, b, with[b], [&](unsigned *l) { put(l, b); });
  }
}

// Lots are drawn by a mixing function, anew in each round.
inlined unsigned lot(unsigned b, unsigned round) {
  unsigned h = b * 0x9e3779b1 ^ round * 0x85ebca6b;
  h ^= h >> 16, h *= 0x7feb352d, h ^= h >> 15, h *= 0x846ca68b;
  return h ^ h >> 16;
}
inlined bool comes_before(const unsigned *cost, unsigned a, unsigned b, unsigned round) {
  if (cost[a] != cost[b]) return cost[a] < cost[b];
  unsigned x = lot(a, round), y = lot(b, round);
  return x > y || (x == y && a > b);
}

extern "C" __global__ void homology_race_check(const unsigned *pool, const list_at *cell, const list_at *face, unsigned cells, const unsigned *cost,
                                               const unsigned *with, unsigned round, unsigned *lock, const unsigned *list, unsigned slot,
                                               const unsigned *counts) {
  const unsigned *count = counts + of_round * slot;
  for (unsigned i = this_thread(); i < count[tried]; i += all_threads()) {
    unsigned b = list[i];
    changed(pool, cell, face, cells, lock, b, with[b], [&](unsigned *l) {
      // With plain writes the first of three could lose to the second in every round: where threads
      // go in step, both take the lock for the third's, and the later write stays.
      for (unsigned has = fresh(l); has != b && comes_before(cost, b, has, round);) {
        unsigned was = compare_swap_global(l, has, b);
        if (was == has) break;
        has = was;
      }
    });
  }
}

// Lists who owns all that it would change, while nothing changes.
extern "C" __global__ void homology_race_own(const unsigned *pool, const list_at *cell, const list_at *face, unsigned cells, const unsigned *with,
                                             unsigned *lock, const unsigned *list, unsigned *winners, unsigned slot, unsigned *counts) {
  unsigned *count = counts + of_round * slot;
  unsigned tries = count[tried];
  for (unsigned first = this_thread() & ~31u; first < tries; first += all_threads()) {
    unsigned i = first + (thread_x() & 31), b = i < tries ? list[i] : 0;
    bool owns = i < tries;
    if (owns && !planted(fault::check)) changed(pool, cell, face, cells, lock, b, with[b], [&](unsigned *l) { owns = owns && *l == b; });
    unsigned at = append(count + won, owns);
    if (owns) winners[at] = b;
  }
}

// Replaces a list by what is in it or in another, but not in both.
inlined unsigned differ(unsigned *pool, unsigned size, list_at *to, const unsigned *other, unsigned n, unsigned *counted) {
  list_at l = *to;
  unsigned *from = pool + l[0], old = l[1];
  // Where there is room the list first moves to its end, so that what is written is never ahead
  // of what is read.
  unsigned *out = from;
  if (l[2] >= old + n) {
    for (unsigned i = old; i > 0; i--) from[l[2] - old + i - 1] = from[i - 1];
    from += l[2] - old;
  } else {
    unsigned room = 2 * (old + n), at = fetch_add_global(counted + pooled, room);
    if (at + room > size || at + room < at) {
      fetch_add_global(counted + full, 1);
      return old;
    }
    out = pool + at;
    l[0] = at, l[2] = room;
  }
  unsigned i = 0, j = 0, length = 0;
  while (i < old || j < n) {
    if (j == n || (i < old && from[i] < other[j])) out[length++] = from[i++];
    else if (i == old || other[j] < from[i]) out[length++] = other[j++];
    else i++, j++;
  }
  *to = list_at{l[0], length, l[2], l[3]};
  return length;
}

// Takes one number out of a list that has it.
inlined void drop(unsigned *pool, list_at *of, unsigned number) {
  list_at l = *of;
  unsigned i = 0;
  while (pool[l[0] + i] != number) i++;
  for (; i + 1 < l[1]; i++) pool[l[0] + i] = pool[l[0] + i + 1];
  *of = list_at{l[0], l[1] - 1, l[2], l[3]};
}

extern "C" __global__ void homology_race_reduce(unsigned *pool, unsigned size, list_at *cell, list_at *face, unsigned cells,
                                                const unsigned *with, const unsigned *winners, unsigned *gone, unsigned *counted, unsigned slot,
                                                const unsigned *counts) {
  unsigned wins = counts[of_round * slot + won];
  for (unsigned i = this_thread(); i < wins; i += all_threads()) {
    unsigned b = winners[i], a = with[b];
    list_at own = cell[b], around = face[a];
    for (unsigned k = 0; k < length_of(around); k++) {
      unsigned t = pool[begin_of(around) + k];
      if (t == b) continue;
      unsigned length = differ(pool, size, cell + t, pool + begin_of(own), length_of(own), counted);
      if (length > fresh(counted + longest)) most_global(counted + longest, length);
    }
    for (unsigned k = 0; k < length_of(own); k++) {
      unsigned f = pool[begin_of(own) + k];
      if (f == a || planted(fault::cobound)) continue;
      if (length_of(around) == 1) drop(pool, face + f, b);
      else differ(pool, size, face + f, pool + begin_of(around), length_of(around), counted);
    }
    gone[cells + a] = !planted(fault::again);
    gone[b] = 1;
  }
}

inlined void tell_around(const unsigned *pool, list_at of, unsigned *cost) {
  for (unsigned i = 0; i < length_of(of); i++) put(cost + pool[begin_of(of) + i], (unsigned)unknown);
}
extern "C" __global__ void homology_race_tell(const unsigned *pool, const list_at *cell, const list_at *face, unsigned *cost, const unsigned *with,
                                              const unsigned *winners, unsigned slot, const unsigned *counts) {
  const unsigned *count = counts + of_round * slot;
  for (unsigned i = this_thread(); i < count[won]; i += all_threads()) {
    unsigned b = winners[i];
    list_at own = cell[b], around = face[with[b]];
    put(cost + b, (unsigned)unknown);
    for (unsigned k = 0; k < length_of(own); k++) {
      unsigned f = pool[begin_of(own) + k];
      if (f != with[b]) tell_around(pool, face[f], cost);
    }
    for (unsigned j = 0; j < length_of(around); j++) {
      unsigned t = pool[begin_of(around) + j];
      if (t == b) continue;
      list_at other = cell[t];
      put(cost + t, (unsigned)unknown);
      for (unsigned k = 0; k < length_of(other); k++) tell_around(pool, face[pool[begin_of(other) + k]], cost);
    }
  }
}

// 1 for each face that was not reduced, which is to be scanned; and the cells that were not.
extern "C" __global__ void homology_race_left(const unsigned *gone, unsigned cells, unsigned faces, unsigned *number, unsigned *counted) {
  if (!thread_x()) block_changes[0] = 0;
  __syncthreads();
  int mine = 0;
  for (unsigned c = this_thread(); c < cells; c += all_threads()) mine += !gone[c];
  add_shared_unless_0(shared_address(block_changes), mine);
  for (unsigned f = this_thread(); f < faces; f += all_threads()) number[f] = !gone[cells + f];
  __syncthreads();
  if (!thread_x() && block_changes[0]) fetch_add_global(counted + left, (unsigned)block_changes[0]);
}

// The vertices of faces that were not reduced, the cells of the next dimension.
extern "C" __global__ void homology_race_next(const unsigned *cells, const unsigned *given, unsigned faces, unsigned k, const unsigned *order,
                                              const list_at *face, const unsigned *number, unsigned found, unsigned reduced,
                                              const unsigned *gone, unsigned *to) {
  tuples of{cells, given, faces, k};
  unsigned f = this_thread();
  if (f >= found || gone[reduced + f]) return;
  for (unsigned i = 0; i < k; i++) to[(int64)number[f] * k + i] = of.vertex(order[face[f][3]], i);
}
