// How a warp gets its planes as slices (extrema_sliced.h), and adds their changes to the
// counters. Planes are copied to shared memory ahead of their turn, what is outside too:
// around the image is as much memory, which holds the first level (impls/extrema). No
// cell is there, and what counter its changes, which are 0, go to does not matter.
#pragma once
#include "extrema_sliced.h"

namespace sliced {

// Three planes of 8 or 16 bits a voxel: the one that is counted, the next, and the one
// after. A thread has a word of each row, and copies so many bytes at a time; of rows that
// do not begin at multiples of four, from the multiple before.
template <class T, int bytes, bool aligned> struct ring {
  static const int size = sizeof(T), bits = size == 1 ? 8 : 10, words = 2 / size;
  static const int wide = 128, pitch = wide + 16, slot = rows * pitch, shared = 3 * slot; // in bytes
  static const int copiers = wide / bytes;                                                // threads to a row
  typedef counters<1 << bits, 32> table;
  typedef unsigned row;

  const uint8 *image, *p, *beyond_p; // where the thread copies from next
  int64 plane;                       // in bytes, as is a row's width
  int width, left;                   // planes that are still to be copied
  unsigned now, next, far;           // slots
  unsigned first;                    // where the tile begins in the plane that is counted, of which two bits matter
  unsigned counter, bias;

  inlined ring make(const T *image, int width, int height, unsigned bias, unsigned slots) {
    ring in{};
    in.image = (const uint8 *)image, in.width = width * size, in.plane = (int64)width * height * size;
    in.now = slots, in.next = slots + slot, in.far = slots + 2 * slot;
    in.counter = table::mine(), in.bias = bias;
    return in;
  }
  member void begin(int x, int y, int z, int planes) {
    int lane = thread_x() & 31;
    p = image + z * plane + (int64)y * width + x * size;
    first = (unsigned)(unsigned long long)p - (unsigned)plane;
    beyond_p = p + (int64)(lane & (rows - 1)) * width + wide;
    p += (int64)(lane / copiers) * width + lane % copiers * bytes;
    left = planes;
    copy(next);
    copy(far);
  }
  // Begins to copy a plane to a slot that no thread reads any more.
  member void copy(unsigned to) {
    int lane = thread_x() & 31;
    sync_warp();
    if (left > 0) {
      UNROLL for (int r = 0; r < rows; r += 32 / copiers)
        copy_to_shared<bytes>(to + (r + lane / copiers) * pitch + lane % copiers * bytes, whole(ahead(p, r, width)));
      if (lane < rows) copy_to_shared<bytes>(to + lane * pitch + wide, whole(beyond_p));
      p += plane, beyond_p += plane;
      left--;
    }
    end_of_copies();
  }
  inlined const void *whole(const void *p) { return aligned ? p : (const void *)((unsigned long long)p & ~3ull); }

  // By how many bytes a row is off, of the plane that is counted or the next.
  member unsigned off(int row, bool of_next) const {
    return aligned ? 0 : (first + (of_next ? (unsigned)plane : 0) + row * width) & 3;
  }
  // A word of a row, as levels; values of uint8 are their own.
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
  member void add(unsigned of, int column, int change) const {
    unsigned scaled = table::stride << (8 * column);
    add_shared(size == 1 ? dot_bytes(of, scaled, counter) : dot_halves(of, scaled, counter), change);
  }
  member void add(unsigned beyond, int change) const { add_shared(counter + table::stride * beyond, change); }
  member void pass() {
    copy(now);
    unsigned last = now;
    now = next, next = far, far = last;
    first += (unsigned)plane;
  }
};
}

// The kernels of a type: for rows that begin at multiples
// of 16 bytes, of four, and anywhere.
#define SLICED(name, T, chunk, aligned)                                                                             \
  extern "C" __global__ __attribute__((launch_bounds(384, 1))) void ecc_extrema_sliced##name##_3d_##T(               \
      const T *image, int width, int height, int depth, int segment, float32, float32, unsigned bias, int64 *copy,   \
      unsigned *done, int levels, int, int, float32, float32, const int *lut, const float32 *, int64 *total, int) {  \
    typedef sliced::ring<T, chunk, aligned> ring;                                                                    \
    ring::table::clear();                                                                                            \
    unsigned slots = shared_address(block_changes) + ring::table::bytes + (thread_x() >> 5) * ring::shared;          \
    ring in = ring::make(image, width, height, bias, slots);                                                         \
    sliced::march(in, width, height, depth, segment);                                                                \
    ring::table::total_up(total, lut, sizeof(T) == 1 ? 256 : levels);                                                \
    sliced::ready_again();                                                                                           \
    hand_over(total, levels, copy, done);                                                                            \
  }
#define SLICES(T) SLICED(, T, 16, true) SLICED(_fours, T, 4, true) SLICED(_unaligned, T, 4, false)
