// Fetches one texel of a type from a texture, at integer coordinates inside of it.
#pragma once
#include "device.h"

typedef unsigned long long texture;

#ifdef ON_HOST // the texture is a pointer to onhost::texels
#define FETCH(T, V)                                                                                        \
  inlined void fetch(texture t, int x, int y, int z, const T *, V &v) { v = ((onhost::texels *)t)->at<T>(x, y, z); } \
  inlined void fetch(texture t, int x, int y, const T *, V &v) { v = ((onhost::texels *)t)->at<T>(x, y, 0); }

FETCH(uint8, int)
FETCH(int16, int)
FETCH(uint16, int)
FETCH(float32, float32)
#else
#define FETCH(T, V, format, constraint)                                                                 \
  inlined void fetch(texture t, int x, int y, int z, const T *, V &v) {                                 \
    V a, b, c;                                                                                          \
    asm("tex.3d.v4." format ".s32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"                            \
        : "=" constraint(v), "=" constraint(a), "=" constraint(b), "=" constraint(c)                    \
        : "l"(t), "r"(x), "r"(y), "r"(z));                                                              \
  }                                                                                                     \
  inlined void fetch(texture t, int x, int y, const T *, V &v) {                                        \
    V a, b, c;                                                                                          \
    asm("tex.2d.v4." format ".s32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                                    \
        : "=" constraint(v), "=" constraint(a), "=" constraint(b), "=" constraint(c)                    \
        : "l"(t), "r"(x), "r"(y));                                                                      \
  }

FETCH(uint8, int, "u32", "r")
FETCH(int16, int, "s32", "r")
FETCH(uint16, int, "u32", "r")
FETCH(float32, float32, "f32", "f")
#endif
#undef FETCH
