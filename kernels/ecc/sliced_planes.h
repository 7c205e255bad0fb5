// How a warp reads planes as slices (extrema_sliced.h) and adds changes to the counters. Planes are
// copied to shared memory ahead of use, including voxels outside of the image. The memory around
// the image holds the first level (impls/extrema); for a bare image, other voxels of the image are
// copied instead. No cell begins there, so the changes are 0, and it does not matter which counter
// they are added to.
#pragma once
#include "extrema_sliced.h"
#include "packed.h"

namespace sliced {

// c plus the dot product of a word's voxels (two halves or four bytes) with byte factors.
template <class T> inlined unsigned dot(unsigned of, unsigned factors, unsigned c) {
  return sizeof(T) == 1 ? dot_bytes(of, factors, c) : dot_halves(of, factors, c);
}

// A block's counters: 32 for each value or level, one per lane, each in its own bank.
template <class T, int of_bits> struct counters {
  static const int bits = of_bits, lanes = 32, values = 1 << bits;
  static const unsigned bytes = 4 * values * lanes, stride = 4 * lanes;
  unsigned mine;

  inlined counters start(int64 *, int) {
    for (int i = thread_x(); i < values * lanes; i += threads()) block_changes[i] = 0;
    __syncthreads();
    return {shared_address(block_changes) + 4 * (thread_x() % lanes)};
  }
  // Adds the change of the voxel in a column of a word.
  member void add(unsigned of, int column, int change) const { add_shared(dot<T>(of, stride << (8 * column), mine), change); }
  member bool due() const { return false; }
  member void relieve(unsigned, int) const {}
  member void finish(int64 *total, const int *lut, int levels) const {
    int n = sizeof(T) == 1 ? values : levels; // for uint8, values are counted
    __syncthreads();
    if (planted(fault::flush)) n /= 2;
    for (int v = thread_x(); v < n; v += threads()) {
      int sum = 0;
      for (int i = 0; i < lanes; i++) sum += block_changes[lanes * v + (v + i) % lanes];
      if (sum) add_global(total + (sizeof(T) == 1 && lut ? lut[v] : v), sum);
    }
  }
};

// Counters of 16 bits (packed.h), for up to 65,536 levels. A word of voxels holds two levels. A
// change of 0 is added to a word in the lane's own bank, so that voxels of one level do not
// conflict where nothing changes.
struct halved {
  static const int bits = 16, spare = 32;
  static const unsigned bytes = 4 * (32768 + spare);
  packed h;
  unsigned nowhere;

  inlined halved start(int64 *total, int levels) {
    auto h = packed::start(total, levels, spare);
    return {h, h.counters + 4 * (packed::words(levels) + thread_x() % spare)};
  }
  member void add(unsigned of, int column, int change) const {
    unsigned odd = (of & 0x10001) * 0xffff, at = dot_halves(of & 0xfffefffe, 2u << (8 * column), h.counters);
    packed::add_at(h, change ? at : nowhere, change * (int)dot_halves(odd, 1u << (8 * column), 1));
  }
  // Whether the counters of the thread's last voxels must be relieved. It is called after at most
  // eight voxels, each with a change of at most 8.
  member bool due() const {
    static_assert(packed::holds(8 * 8, 384), "a counter of 16 bits may wrap");
    bool is = packed::due(h);
    h.seen = 0;
    return is;
  }
  member void relieve(unsigned of, int column) const { packed::relieve(h, (of >> (16 * column) & 0xffff) >> 1); }
  member void finish(int64 *, const int *, int) const { packed::finish(h); }
};

// A ring of three planes in shared memory, of 8 or 16 bits per voxel: the current plane, the next
// one and the one after. A thread has a word of each row and copies `bytes` bytes at a time. If
// rows are not aligned to four bytes, they are copied from the previous multiple of four.
template <class T, class Counters, int bytes, bool aligned, bool bare = false> struct ring {
  static const int size = sizeof(T), bits = Counters::bits, words = 2 / size;
  static const int wide = 128, pitch = wide + 16, slot = rows * pitch, shared = 3 * slot; // in bytes
  static const int copiers = wide / bytes;                                                // threads to a row
  typedef unsigned row;

  const uint8 *image, *p, *beyond_p; // addresses from which the thread copies next
  int64 plane;                       // in bytes, as is width
  int width, left;                   // left: planes that remain to be copied
  int safe, edge;                    // bare: safe as in bounds; edge: how many of the last planes are not safe
  int64 whole_size;                  // bare: bytes of the image
  unsigned now, next, far;           // addresses of the slots in shared memory
  unsigned first;                    // address of the tile in the current plane; only its lowest two bits matter
  unsigned bias;
  Counters counted;

  // The planes of each warp follow the counters.
  inlined ring make(const T *image, int width, int height, unsigned bias, const Counters &counted, int64 voxels = 0, int safe = 0) {
    unsigned slots = shared_address(block_changes) + Counters::bytes + (thread_x() >> 5) * shared;
    ring in{};
    in.image = (const uint8 *)image, in.width = width * size, in.plane = (int64)width * height * size;
    in.now = slots, in.next = slots + slot, in.far = slots + 2 * slot;
    in.bias = bias, in.counted = counted;
    in.whole_size = voxels * size, in.safe = safe;
    return in;
  }
  member void begin(int x, int y, int z, int planes) {
    int lane = thread_x() & 31;
    p = image + z * plane + (int64)y * width + x * size;
    first = (unsigned)(unsigned long long)p - (unsigned)plane;
    beyond_p = p + (int64)(lane & (rows - 1)) * width + wide;
    p += (int64)(lane / copiers) * width + lane % copiers * bytes;
    left = planes, edge = z + planes - safe;
    copy(next);
    copy(far);
  }
  // Starts to copy a plane to a slot that no thread reads any more.
  member void copy(unsigned to) {
    int lane = thread_x() & 31;
    sync_warp();
    if (bare && left > 0 && left <= edge) {
      const uint8 *last = (const uint8 *)whole(image + whole_size - (aligned ? bytes : 1));
      auto inside = [=](const void *p) { return p < last ? p : last; };
      UNROLL for (int r = 0; r < rows; r += 32 / copiers)
        copy_to_shared<bytes>(to + (r + lane / copiers) * pitch + lane % copiers * bytes, inside(whole(ahead(p, r, width))));
      if (lane < rows) copy_to_shared<bytes>(to + lane * pitch + wide, inside(whole(beyond_p)));
      p += plane, beyond_p += plane;
      left--;
    } else if (left > 0) {
      UNROLL for (int r = 0; r < rows; r += 32 / copiers)
        copy_to_shared<bytes>(to + (r + lane / copiers) * pitch + lane % copiers * bytes, whole(ahead(p, r, width)));
      if (lane < rows) copy_to_shared<bytes>(to + lane * pitch + wide, whole(beyond_p));
      p += plane, beyond_p += plane;
      left--;
    }
    end_of_copies();
  }
  inlined const void *whole(const void *p) { return aligned ? p : (const void *)((unsigned long long)p & ~3ull); }

  // The offset of a row from a multiple of four bytes, in the current or next plane.
  member unsigned off(int row, bool of_next) const {
    return aligned ? 0 : (first + (of_next ? (unsigned)plane : 0) + row * width) & 3;
  }
  // A word of a row as levels. For uint8, the values themselves.
  member unsigned take(int r, bool of_next = false) const {
    unsigned at = (of_next ? next : now) + 4 * (thread_x() & 31) + r * pitch, v = load_shared(at);
    if (!aligned) v = shift_right(load_shared(at + 4), v, 8 * off(r, of_next));
    return level(v);
  }
  member unsigned level(unsigned v) const {
    if (size == 1) return v;
    return (T(-1) < T(0) ? v ^ 0x80008000 : v) - bias;
  }
  member void bring(sliced::image<bits, words> &v, unsigned &beyond) {
    wait_for_copies<1>();
    sync_warp();
    int r = rows - 1 - (thread_x() & (rows - 1));
    unsigned at = next + r * pitch + wide + off(r, true);
    beyond = load_byte_shared(at);
    if (size == 2) beyond = level(beyond | load_byte_shared(at + 1) << 8) & 0xffff;
    unsigned of[rows];
    UNROLL for (int i = 0; i < rows; i++) of[i] = take(i, true);
    slice(v, of);
  }
  member void add(unsigned of, int column, int change) const { counted.add(of, column, change); }
  // Ends a round of four rows that began with r. Relieving is rare, so its loop is not unrolled.
  member void settle(int r) const {
    if (!counted.due()) return;
    NOT_UNROLLED for (int i = 0; i < 8; i++) counted.relieve(take(r - 4 * (i >> 1)), i & 1);
  }
  member void add_beyond(unsigned beyond, int change) const {
    counted.add(beyond, 0, change);
    if (counted.due()) counted.relieve(beyond, 0);
  }
  member void pass() {
    copy(now);
    unsigned last = now;
    now = next, next = far, far = last;
    first += (unsigned)plane;
  }
};
}

// The kernels for one type: for rows that begin at multiples of 16 bytes, at multiples of 4 bytes,
// and anywhere.
#define SLICED(name, T, chunk, aligned)                                                                              \
  extern "C" __global__ __attribute__((launch_bounds(384, 1))) void ecc_extrema_sliced##name##_3d_##T(               \
      const T *image, int width, int height, int depth, int segment, float32, float32, unsigned bias, int64 *copy,   \
      unsigned *done, int levels, int, int, float32, float32, const int *lut, const float32 *, int64 *total, int) {  \
    typedef sliced::counters<T, sizeof(T) == 1 ? 8 : 10> counters;                                                   \
    auto in = sliced::ring<T, counters, chunk, aligned>::make(image, width, height, bias, counters::start(total, levels)); \
    sliced::march(in, width, height, depth, segment, &sliced::queue);                                                \
    in.counted.finish(total, lut, levels);                                                                           \
    sliced::ready_again();                                                                                           \
    hand_over(total, levels, copy, done);                                                                            \
  }
#define DEEP(name, T, chunk, aligned)                                                                                \
  extern "C" __global__ __attribute__((launch_bounds(384, 1))) void ecc_extrema_deep##name##_3d_##T(                 \
      const T *image, int width, int height, int depth, int segment, float32, float32, unsigned bias, int levels,    \
      int, int, float32, float32, const int *, const float32 *, int64 *total, int) {                                 \
    auto in = sliced::ring<T, sliced::halved, chunk, aligned>::make(image, width, height, bias, sliced::halved::start(total, levels)); \
    sliced::march(in, width, height, depth, segment, &sliced::queue);                                                \
    in.counted.finish(total, nullptr, levels);                                                                       \
    sliced::ready_again();                                                                                           \
  }
#define ROWS(KERNEL, T) KERNEL(, T, 16, true) KERNEL(_fours, T, 4, true) KERNEL(_unaligned, T, 4, false)
