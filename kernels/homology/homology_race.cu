// ascend .. next:  the cells of a dimension with their boundaries, and for each face the list of the
//                  cells that contain it, by sorting (sort.h)
// costs:  lists the cells with unknown costs, and finds the least of the known costs
// cheap:  finds the cheapest reduction of each listed cell, and its face
// race:   cells whose cost is within a margin of the least one write their number to the locks of
//         everything that they would change
// check:  they take locks from cells that come later in the order
// own:    cells that have all their locks win
// reduce: winners are reduced: the rest of the cell's boundary replaces the face in the boundaries
//         that contain it, and the cell lists of those faces are updated
// tell:   marks the costs around the changes as unknown
//
// Algebraic reductions over the field of two elements, in rounds (Murty 2013, section 5; Nasre,
// Burtscher and Pingali 2013). Lists are ascending. A list that outgrows its room moves to the end
// of the pool. After check, a lock has the first cell in the order that wants it, for every
// schedule, so the first cell of all wins in each round.
//
// The first rounds have many cells with short lists. Most rounds have few cells, with lists of
// hundreds of numbers. So a thread handles a cell if there are many; otherwise a warp or a block
// does.
#include "sort.h"

// Counters of a dimension: the length of the pool in use, the longest boundary, whether the pool
// was too small, and the number of cells that are left.
enum { pooled, longest, full, left };
// Counters of each round.
enum { cheapness, tried, won, asked, of_round };

enum : unsigned { never = ~0u, unknown = 0 };

// A list: its start, its length and its room; for a cell, whether its length has changed; for a
// face, one of its records.
typedef quad list_at;

inlined unsigned begin_of(list_at l) { return l[0]; }
inlined unsigned length_of(list_at l) { return l[1]; }

// From this cost on, a warp handles a cell, for any number of cells.
enum { dear = 64 };
// Two lists with a greater total length are merged by a warp.
enum { long_lists = 48 };

inlined unsigned lane() { return thread_x() & 31; }
inlined unsigned sum_of_warp(unsigned v) {
  for (int step = 16; step > 0; step /= 2) v += from_lane(v, lane() ^ step);
  return v;
}
inlined unsigned least_of_warp(unsigned v) {
  for (int step = 16; step > 0; step /= 2) {
    unsigned other = from_lane(v, lane() ^ step);
    v = other < v ? other : v;
  }
  return v;
}

// The threads of a launch that handle one of n things together: a thread, a warp or a block.
struct gang {
  unsigned first, step;    // over the things
  unsigned which, warps;   // the warp's number in its gang, and the number of warps
  bool alone;              // the gang is a single thread

  member gang(unsigned n, bool dears, bool whole_blocks) {
    unsigned all = all_threads() / 32;
    alone = n > all && !dears;
    if (alone) first = this_thread(), step = all_threads(), which = 0, warps = 1;
    else if (whole_blocks && n <= (unsigned)blocks()) first = block_x(), step = blocks(), which = thread_x() / 32, warps = threads() / 32;
    else first = this_thread() / 32, step = all, which = 0, warps = 1;
  }
  // The index at which this thread begins, and its stride.
  member unsigned mine() const { return alone ? 0 : which + warps * lane(); }
  member unsigned stride() const { return alone ? 1 : warps * 32; }
  member bool leads() const { return alone || (!which && !lane()); }
};

// Sorts the k vertices of each of n simplices in ascending order.
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

// 1 for each record, in sorted order, that differs from the previous one. To be scanned.
extern "C" __global__ void homology_race_heads(const unsigned *cells, const unsigned *given, unsigned faces, unsigned k, const unsigned *order,
                                               unsigned n, unsigned *number) {
  tuples of{cells, given, faces, k};
  unsigned i = this_thread();
  if (i >= n) return;
  bool first = !i || !of.same(order[i], order[i - 1]);
  number[i] = first;
}

// The least number in low … high − 1 for which f holds, or high if there is none. If f holds for a
// number, it must hold for all greater ones.
template <class F> inlined unsigned first_in(unsigned low, unsigned high, F f) {
  while (low < high) {
    unsigned middle = low + (high - low) / 2;
    if (f(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The faces by number, their lists of cells (the sorted records), and the boundaries. The pool
// begins with the boundaries, followed by the lists of cells.
extern "C" __global__ void homology_race_lists(const unsigned *order, const unsigned *number, unsigned n, unsigned found, unsigned faces, unsigned k,
                                               unsigned *pool, list_at *face) {
  unsigned i = this_thread();
  if (i >= n) return;
  // number[i] is the number of heads before i. So a head's face is number[i], and that of equal
  // records after it number[i] − 1.
  unsigned next = i + 1 < n ? number[i + 1] : found, record = order[i];
  unsigned f = next > number[i] ? number[i] : number[i] - 1;
  if (record < faces) {
    pool[record] = f;
    pool[faces + i] = record / (k + 1);
  }
  // A run of equal records ends at the next head. Given simplices come last in it.
  if (next > number[i]) {
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

inlined unsigned bounded(word cost) { return cost > never - 1 ? never - 1 : cost < 1 ? 1 : (unsigned)cost; }

// The cost by equation 5.1 without the lengths of the boundaries around a face, from the length of
// the cell's own boundary, the length of the face's list of cells, and the sum of these lengths
// over all faces of the cell.
inlined word cost_beside(unsigned length, unsigned around, word all) {
  return (word)(length - 1) * around + all - around + (word)(around - 1) * length - length;
}

// The cost of the cheapest reduction of a cell, by equation 5.1: the number of list entries that
// are read.
inlined unsigned cheapest(const unsigned *pool, const list_at *cell, const list_at *face, unsigned b, unsigned &with) {
  list_at own = cell[b];
  unsigned length = length_of(own);
  word all = 0;
  for (unsigned i = 0; i < length; i++) all += length_of(face[pool[begin_of(own) + i]]);
  unsigned cost = never;
  for (unsigned i = 0; i < length; i++) {
    unsigned a = pool[begin_of(own) + i];
    list_at around = face[a];
    word n = cost_beside(length, length_of(around), all);
    for (unsigned j = 0; j < length_of(around); j++) n += length_of(cell[pool[begin_of(around) + j]]);
    unsigned c = bounded(n);
    if (c < cost) cost = c, with = a;
  }
  return cost;
}
// The same by a warp. Each lane handles a face; if there are fewer than 8 faces, all lanes handle
// the cells around one face together.
inlined unsigned cheapest_of_warp(const unsigned *pool, const list_at *cell, const list_at *face, unsigned b, unsigned &with) {
  list_at own = cell[b];
  unsigned length = length_of(own), sum = 0;
  for (unsigned i = lane(); i < length; i += 32) sum += length_of(face[pool[begin_of(own) + i]]);
  word all = sum_of_warp(sum); // no overflow: cells and faces have 32-bit numbers
  unsigned cost = never, a = 0;
  if (length < 8) {
    for (unsigned i = 0; i < length; i++) {
      unsigned f = pool[begin_of(own) + i], lengths = 0;
      list_at around = face[f];
      for (unsigned j = lane(); j < length_of(around); j += 32) lengths += length_of(cell[pool[begin_of(around) + j]]);
      unsigned c = bounded(cost_beside(length, length_of(around), all) + sum_of_warp(lengths));
      if (c < cost) cost = c, a = f;
    }
  } else {
    for (unsigned i = lane(); i < length; i += 32) {
      unsigned f = pool[begin_of(own) + i];
      list_at around = face[f];
      word n = cost_beside(length, length_of(around), all);
      for (unsigned j = 0; j < length_of(around); j++) n += length_of(cell[pool[begin_of(around) + j]]);
      unsigned c = bounded(n);
      if (c < cost) cost = c, a = f;
    }
  }
  // Among faces of equal cost, the one with the least number, as for a single thread.
  unsigned least = least_of_warp(cost);
  with = least_of_warp(cost == least ? a : never);
  return least;
}

// Adds a cost to the least of a round. All lanes of a warp call it.
inlined void note_least(unsigned *count, unsigned least) {
  least = least_of_warp(least);
  if (!lane() && never - least > fresh(count + cheapness)) most_global(count + cheapness, never - least);
}

extern "C" __global__ void homology_race_costs(unsigned cells, const unsigned *gone, unsigned *cost, unsigned *list, unsigned slot, unsigned *counts) {
  unsigned *count = counts + of_round * slot, least = never;
  for (unsigned first = this_thread() & ~31u; first < cells; first += all_threads()) {
    unsigned b = first + lane(), c = b < cells ? cost[b] : never;
    if (c == unknown && gone[b]) cost[b] = c = never;
    unsigned at = append(count + asked, c == unknown);
    if (c == unknown) list[at] = b;
    else least = c < least ? c : least;
  }
  note_least(count, least);
}

extern "C" __global__ void homology_race_cheap(const unsigned *pool, const list_at *cell, const list_at *face, const unsigned *list, unsigned *cost,
                                               unsigned *with, unsigned slot, unsigned *counts) {
  unsigned *count = counts + of_round * slot, n = count[asked], least = never;
  gang g(n, false, false);
  for (unsigned i = g.first; i < n; i += g.step) {
    unsigned b = list[i], a = 0, c = g.alone ? cheapest(pool, cell, face, b, a) : cheapest_of_warp(pool, cell, face, b, a);
    if (g.leads()) cost[b] = c, with[b] = a;
    least = c < least ? c : least;
  }
  note_least(count, least);
}

// Calls f with the locks of everything that the reduction of a cell changes, from index first on,
// at distance step. The locks of cells precede those of faces.
template <class F> inlined void changed(const unsigned *pool, const list_at *cell, const list_at *face, unsigned cells, unsigned *lock, unsigned b,
                                        unsigned a, unsigned first, unsigned step, F f) {
  list_at around = face[a], own = cell[b];
  for (unsigned i = first; i < length_of(around); i += step) f(lock + pool[begin_of(around) + i]);
  for (unsigned i = first; i < length_of(own); i += step) f(lock + cells + pool[begin_of(own) + i]);
}

extern "C" __global__ void homology_race_race(const unsigned *pool, const list_at *cell, const list_at *face, unsigned cells, const unsigned *cost,
                                              const unsigned *with, unsigned margin, unsigned *lock, unsigned *list, unsigned slot,
                                              unsigned *counts) {
  unsigned *count = counts + of_round * slot;
  unsigned least = never - count[cheapness];
  if (least == never) return; // no cell is left to reduce
  unsigned limit = least + margin < least || least + margin == never ? never - 1 : least + margin;
  for (unsigned first = this_thread() & ~31u; first < cells; first += all_threads()) {
    unsigned b = first + lane();
    bool in = b < cells && cost[b] <= limit;
    unsigned at = append(count + tried, in);
    if (in) list[at] = b;
    if (least < dear) {
      if (in) changed(pool, cell, face, cells, lock, b, with[b], 0, 1, [&](unsigned *l) { put(l, b); });
      continue;
    }
    for (unsigned all = vote(in); all; all &= all - 1) {
      unsigned c = first + (unsigned)__builtin_ctz(all);
      changed(pool, cell, face, cells, lock, c, with[c], lane(), 32, [&](unsigned *l) { put(l, c); });
    }
  }
}

// Ties are decided by lots: a mixing function with a different result in each round.
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
  gang g(count[tried], never - count[cheapness] >= dear, true);
  for (unsigned i = g.first; i < count[tried]; i += g.step) {
    unsigned b = list[i];
    changed(pool, cell, face, cells, lock, b, with[b], g.mine(), g.stride(), [&](unsigned *l) {
      // With plain writes, the first of three cells could lose to the second one in every round: in
      // lockstep, both replace the third one's number, and the later write stays.
      for (unsigned has = fresh(l); has != b && comes_before(cost, b, has, round);) {
        unsigned was = compare_swap_global(l, has, b);
        if (was == has) break;
        has = was;
      }
    });
  }
}

// Lists the cells that own all their locks. No lock changes meanwhile.
extern "C" __global__ void homology_race_own(const unsigned *pool, const list_at *cell, const list_at *face, unsigned cells, const unsigned *with,
                                             unsigned *lock, const unsigned *list, unsigned *winners, unsigned slot, unsigned *counts) {
  unsigned *count = counts + of_round * slot;
  unsigned tries = count[tried];
  gang g(tries, never - count[cheapness] >= dear, false);
  for (unsigned first = g.alone ? g.first & ~31u : g.first; first < tries; first += g.step) {
    unsigned i = g.alone ? first + lane() : first, b = i < tries ? list[i] : 0;
    bool owns = i < tries;
    if (owns && !planted(fault::check)) changed(pool, cell, face, cells, lock, b, with[b], g.mine(), g.stride(), [&](unsigned *l) { owns = owns && *l == b; });
    if (!g.alone) owns = !any(!owns) && g.leads();
    unsigned at = append(count + won, owns);
    if (owns) winners[at] = b;
  }
}

// Allocates room for a list and n more numbers at the end of the pool. Returns false if the pool is
// full.
inlined bool make_room(unsigned size, list_at &l, unsigned n, unsigned *counted) {
  unsigned room = 2 * (l[1] + n), at = fetch_add_global(counted + pooled, room);
  if (at + room > size || at + room < at) {
    fetch_add_global(counted + full, 1);
    return false;
  }
  l[0] = at, l[2] = room;
  return true;
}

// Whether a list records that its length has changed.
enum class marks { nothing, length };

// Replaces a list by the symmetric difference of it and another list.
inlined unsigned differ(unsigned *pool, unsigned size, list_at *to, const unsigned *other, unsigned n, marks mark, unsigned *counted) {
  list_at l = *to;
  unsigned *from = pool + l[0], old = l[1];
  // If the list has room, it first moves to the end of its room, so that writes never overtake
  // reads.
  if (l[2] >= old + n) {
    for (unsigned i = old; i > 0; i--) from[l[2] - old + i - 1] = from[i - 1];
    from += l[2] - old;
  } else if (!make_room(size, l, n, counted)) return old;
  unsigned *out = pool + l[0];
  unsigned i = 0, j = 0, length = 0;
  while (i < old || j < n) {
    if (j == n || (i < old && from[i] < other[j])) out[length++] = from[i++];
    else if (i == old || other[j] < from[i]) out[length++] = other[j++];
    else i++, j++;
  }
  *to = list_at{l[0], length, l[2], mark == marks::length ? length != old : l[3]};
  return length;
}

// How many of the ascending numbers in the lanes are less than a value.
inlined unsigned lesser_in_warp(unsigned numbers, unsigned than) {
  unsigned n = 0;
  for (unsigned step = 16; step > 0; step /= 2)
    if (from_lane(numbers, n + step - 1) < than) n += step;
  return n + (from_lane(numbers, n) < than);
}
inlined unsigned lanes_below(unsigned n) { return n < 32 ? (1u << n) - 1 : ~0u; }

// The same by a warp: 32 numbers of each list at a time. Of these, the numbers up to the lesser of
// the two last ones are written, because all later numbers are greater.
inlined unsigned differ_of_warp(unsigned *pool, unsigned size, list_at *to, const unsigned *other, unsigned n, marks mark, unsigned *counted) {
  list_at l = *to;
  unsigned *from = pool + l[0], old = l[1];
  if (l[2] >= old + n) {
    for (unsigned end = old; end > 0; end = end > 32 ? end - 32 : 0) {
      unsigned i = end - 1 - lane(), v = lane() < end ? from[i] : 0;
      sync_warp();
      if (lane() < end) from[l[2] - old + i] = v;
      sync_warp();
    }
    from += l[2] - old;
  } else {
    unsigned at = 0, room = 0;
    if (!lane() && make_room(size, l, n, counted)) at = l[0], room = l[2];
    room = from_lane(room, 0);
    if (!room) return old;
    l[0] = from_lane(at, 0), l[2] = room;
  }
  unsigned *out = pool + l[0];
  unsigned i = 0, j = 0, length = 0;
  while (i < old || j < n) {
    unsigned a = i + lane() < old ? from[i + lane()] : never, b = j + lane() < n ? other[j + lane()] : never;
    unsigned last = from_lane(a, 31), other_last = from_lane(b, 31);
    if (other_last < last) last = other_last;
    bool has_a = a != never && a <= last, has_b = b != never && b <= last;
    unsigned before_a = lesser_in_warp(b, a), before_b = lesser_in_warp(a, b);
    unsigned at_a = from_lane(b, before_a & 31), at_b = from_lane(a, before_b & 31);
    bool both_a = before_a < 32 && at_a == a, both_b = before_b < 32 && at_b == b;
    unsigned out_a = vote(has_a && !both_a), out_b = vote(has_b && !both_b);
    if (has_a && !both_a) out[length + before_in(out_a) + (unsigned)__builtin_popcount(out_b & lanes_below(before_a))] = a;
    if (has_b && !both_b) out[length + before_in(out_b) + (unsigned)__builtin_popcount(out_a & lanes_below(before_b))] = b;
    i += (unsigned)__builtin_popcount(vote(has_a)), j += (unsigned)__builtin_popcount(vote(has_b));
    length += (unsigned)__builtin_popcount(out_a) + (unsigned)__builtin_popcount(out_b);
  }
  sync_warp();
  if (!lane()) *to = list_at{l[0], length, l[2], mark == marks::length ? length != old : l[3]};
  return length;
}

// Removes a number from a list that contains it.
inlined void drop(unsigned *pool, list_at *of, unsigned number) {
  list_at l = *of;
  unsigned i = 0;
  while (i + 1 < l[1] && pool[l[0] + i] != number) i++;
  for (; i + 1 < l[1]; i++) pool[l[0] + i] = pool[l[0] + i + 1];
  *of = list_at{l[0], l[1] - 1, l[2], l[3]};
}

// Replaces each list by its symmetric difference with another list, except the list `but`. Each
// thread of a gang handles a list, and a warp handles a long one. Returns the greatest length.
inlined unsigned differ_all(const gang &g, unsigned *pool, unsigned size, list_at *lists, list_at which, unsigned but, list_at other, marks mark,
                           unsigned *counted) {
  unsigned most = 0, n = length_of(other);
  const unsigned *with = pool + begin_of(other);
  if (g.alone) {
    for (unsigned k = 0; k < length_of(which); k++) {
      unsigned t = pool[begin_of(which) + k];
      if (t == but) continue;
      unsigned length = differ(pool, size, lists + t, with, n, mark, counted);
      most = length > most ? length : most;
    }
    return most;
  }
  for (unsigned first = g.which; first < length_of(which); first += g.stride()) {
    unsigned k = first + g.warps * lane();
    unsigned t = k < length_of(which) ? pool[begin_of(which) + k] : but;
    bool is_long = t != but && length_of(lists[t]) + n > long_lists;
    unsigned length = 0;
    if (t != but && !is_long) length = differ(pool, size, lists + t, with, n, mark, counted);
    for (unsigned all = vote(is_long); all; all &= all - 1) {
      unsigned got = differ_of_warp(pool, size, lists + from_lane(t, __builtin_ctz(all)), with, n, mark, counted);
      length = got > length ? got : length;
    }
    most = length > most ? length : most;
  }
  return most;
}

extern "C" __global__ void homology_race_reduce(unsigned *pool, unsigned size, list_at *cell, list_at *face, unsigned cells,
                                                const unsigned *with, const unsigned *winners, unsigned *gone, unsigned *counted, unsigned slot,
                                                const unsigned *counts) {
  const unsigned *count = counts + of_round * slot;
  unsigned wins = count[won];
  gang g(wins, never - count[cheapness] >= dear, true);
  for (unsigned i = g.first; i < wins; i += g.step) {
    unsigned b = winners[i], a = with[b];
    list_at own = cell[b], around = face[a];
    unsigned length = differ_all(g, pool, size, cell, around, b, own, marks::length, counted);
    if (length > fresh(counted + longest)) most_global(counted + longest, length);
    if (!planted(fault::cobound)) {
      if (g.alone && length_of(around) == 1) {
        for (unsigned k = 0; k < length_of(own); k++)
          if (pool[begin_of(own) + k] != a) drop(pool, face + pool[begin_of(own) + k], b);
      } else differ_all(g, pool, size, face, own, a, around, marks::nothing, counted);
    }
    if (g.leads()) gone[cells + a] = !planted(fault::again), gone[b] = 1;
  }
}

inlined void tell_around(const unsigned *pool, list_at of, unsigned *cost) {
  for (unsigned i = 0; i < length_of(of); i++) put(cost + pool[begin_of(of) + i], (unsigned)unknown);
}
// The cost of a cell changes if the cell list of one of its faces changes, or the length of the
// boundary of a cell around it.
extern "C" __global__ void homology_race_tell(const unsigned *pool, const list_at *cell, const list_at *face, unsigned *cost, const unsigned *with,
                                              const unsigned *winners, unsigned slot, const unsigned *counts) {
  const unsigned *count = counts + of_round * slot;
  unsigned wins = count[won];
  gang g(wins, never - count[cheapness] >= dear, true);
  for (unsigned i = g.first; i < wins; i += g.step) {
    unsigned b = winners[i];
    list_at own = cell[b], around = face[with[b]];
    if (g.leads()) put(cost + b, (unsigned)unknown);
    for (unsigned k = g.mine(); k < length_of(own); k += g.stride()) {
      unsigned f = pool[begin_of(own) + k];
      if (f != with[b]) tell_around(pool, face[f], cost);
    }
    for (unsigned j = g.which; j < length_of(around); j += g.warps) {
      unsigned t = pool[begin_of(around) + j];
      if (t == b) continue;
      list_at other = cell[t];
      put(cost + t, (unsigned)unknown);
      if (!other[3]) continue;
      for (unsigned k = g.alone ? 0 : lane(); k < length_of(other); k += g.alone ? 1 : 32) tell_around(pool, face[pool[begin_of(other) + k]], cost);
    }
  }
}

// 1 for each face that was not reduced, to be scanned; and the number of cells that were not
// reduced.
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

// The vertices of the faces that were not reduced, which are the cells of the next dimension.
extern "C" __global__ void homology_race_next(const unsigned *cells, const unsigned *given, unsigned faces, unsigned k, const unsigned *order,
                                              const list_at *face, const unsigned *number, unsigned found, unsigned reduced,
                                              const unsigned *gone, unsigned *to) {
  tuples of{cells, given, faces, k};
  unsigned f = this_thread();
  if (f >= found || gone[reduced + f]) return;
  for (unsigned i = 0; i < k; i++) to[(int64)number[f] * k + i] = of.vertex(order[face[f][3]], i);
}
