/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/demangle.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

/* Recursion stays limited: DMGL_NO_RECURSE_LIMIT would let a name exhaust the stack. */
#define OPTIONS (DMGL_PARAMS | DMGL_ANSI)

struct output {
	char *text;
	size_t size;
	size_t len;
	jmp_buf full;
};

/*
 * Output can grow exponentially with the input (substitutions of substitutions), and the callback
 * has no way to say stop. The library's callback functions keep their state on the stack, so it is
 * left by a jump as soon as no more fits. One thing is on the heap, the buffer of a punycode
 * identifier (at most 64 KiB): it is lost, in a process that ends after its request.
 */
static void output_take(const char *text, size_t len, void *context)
{
	struct output *o = context;
	size_t room = o->size - 1 - o->len;
	size_t n = len < room ? len : room;

	/* Rust's punycode decoder hands over NULL with nothing in it. */
	if (n)
		memcpy(o->text + o->len, text, n);
	o->len += n;
	if (n < len)
		longjmp(o->full, 1);
}

static bool demangle_into(struct output *o, const char *name)
{
	if (setjmp(o->full) != 0)
		return true;
	o->len = 0;
	/* Legacy Rust names are valid C++ names as well, so Rust goes first. */
	if (rust_demangle_callback(name, OPTIONS, output_take, o))
		return true;
	o->len = 0;
	return cplus_demangle_v3_callback(name, OPTIONS, output_take, o);
}

/* Length of `name` without a symbol version and without .llvm.HASH. */
static size_t length_without_noise(const char *name, size_t len)
{
	const char *at = memchr(name, '@', len);
	const char *llvm;

	if (at && at != name)
		len = (size_t)(at - name);
	llvm = memmem(name, len, ".llvm.", 6);
	if (llvm && llvm != name)
		len = (size_t)(llvm - name);
	return len;
}

static bool looks_mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "__Z", 3) == 0 ||
	       strncmp(name, "_R", 2) == 0 || strncmp(name, "_GLOBAL_", 8) == 0;
}

size_t demangle(const char *name, char *out, size_t size)
{
	struct output o = { .text = out, .size = size };
	size_t whole = strnlen(name, DEMANGLE_INPUT_MAX);
	size_t len;
	char *clean;

	if (size == 0)
		return 0;
	if (o.size > DEMANGLE_OUTPUT_MAX)
		o.size = DEMANGLE_OUTPUT_MAX;
	len = length_without_noise(name, whole);
	clean = whole < DEMANGLE_INPUT_MAX && looks_mangled(name) ? strndup(name, len) : NULL;
	if (!clean || !demangle_into(&o, clean) || o.len == 0) {
		o.len = len < o.size - 1 ? len : o.size - 1;
		memcpy(out, name, o.len);
	}
	free(clean);
	out[o.len] = '\0';
	return o.len;
}
