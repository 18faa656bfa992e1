/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle: C++ (Itanium) and Rust (legacy, v0) names by libiberty, in the worker, since names are
 * foreign bytes: input, output and recursion are bounded, nothing is allocated for the output.
 */
#ifndef BELFRY_SYMBOLIZER_DEMANGLE_H
#define BELFRY_SYMBOLIZER_DEMANGLE_H

#include <stddef.h>

#define DEMANGLE_INPUT_MAX  (16u << 10)
#define DEMANGLE_OUTPUT_MAX (64u << 10)

/*
 * Writes the readable form of `name` into `out` (`size` bytes, at most DEMANGLE_OUTPUT_MAX are
 * used), cut where it does not fit. A name that is not mangled, or is too long or too deep, is
 * copied as it is. A symbol version (@VER, @@VER) and LLVM's .llvm.HASH suffix are left out; other
 * suffixes (.cold, .constprop.0, .isra.0, .part.0) stay visible. Returns the length.
 */
size_t demangle(const char *name, char *out, size_t size);

#endif
