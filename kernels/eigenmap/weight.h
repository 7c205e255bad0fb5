// Weights of two patches, exp(−|x_i − x_j|²/(Mα²) − |p_i − p_j|²/(2β²)), from integers: grey values
// from 0 to 255, four to a word, and positions on the grid of patches.
#pragma once
#include "sums.h"

// An integer as a double, by its bits, which is faster than a conversion.
inlined double whole(unsigned v) { return as<double>(0x4330000000000000ull | v) - 4503599627370496.0; }

// exp(x) for x ≤ 0. With x = n·ln 2 + r and |r| ≤ ½ ln 2, a Taylor series gives exp(r) with an
// error below a hundredth of the last bit. Adding 1.5·2⁵² rounds to the integer n. The result is
// scaled by two factors, so that subnormal results are possible.
inlined double exponential(double x) {
  const double last = 6755399441055744.0;
  x = x < -746 ? -746 : x;
  double shifted = __builtin_fma(x, 1.4426950408889634, last), n = shifted - last;
  double r = __builtin_fma(n, -6.93147180369123816490e-01, x);
  r = __builtin_fma(n, -1.90821492927058770002e-10, r);
  double p = 1.0 / 6227020800;
  p = __builtin_fma(p, r, 1.0 / 479001600);
  p = __builtin_fma(p, r, 1.0 / 39916800);
  p = __builtin_fma(p, r, 1.0 / 3628800);
  p = __builtin_fma(p, r, 1.0 / 362880);
  p = __builtin_fma(p, r, 1.0 / 40320);
  p = __builtin_fma(p, r, 1.0 / 5040);
  p = __builtin_fma(p, r, 1.0 / 720);
  p = __builtin_fma(p, r, 1.0 / 120);
  p = __builtin_fma(p, r, 1.0 / 24);
  p = __builtin_fma(p, r, 1.0 / 6);
  p = __builtin_fma(p, r, 0.5);
  p = __builtin_fma(p, r, 1.0);
  p = __builtin_fma(p, r, 1.0);
  int whole = (int)as<int64>(shifted), half = whole >> 1;
  return p * as<double>((int64)(half + 1023) << 52) * as<double>((int64)(whole - half + 1023) << 52);
}

// The features of a patch, as words. Some kernels require four words, which they keep in registers.
struct features {
  const unsigned *all;
  int words;
  const int *squares; // |x|² of each patch
};

// A patch with its features in registers.
struct of_four {
  static const bool few = true; // squared distances are less than 2²³
  typedef unsigned four __attribute__((vector_size(16)));
  four words;
  member of_four() {}
  member of_four(const features &f, int i) : words(((const four *)f.all)[i]) {}
  member unsigned dot(const features &, const of_four &b) const {
    unsigned sum = 0;
    UNROLL for (int k = 0; k < 4; k++) sum = dot_bytes(words[k], b.words[k], sum);
    return sum;
  }
};

// A patch with more features, which are read for each product.
struct of_many {
  static const bool few = false;
  const unsigned *words;
  member of_many() {}
  member of_many(const features &f, int i) : words(f.all + (int64)i * f.words) {}
  member unsigned dot(const features &f, const of_many &b) const {
    unsigned sum = 0;
    for (int k = 0; k < f.words; k++) sum = dot_bytes(words[k], b.words[k], sum);
    return sum;
  }
};
