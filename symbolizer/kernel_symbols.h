/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_symbols: names of kernel addresses, from /proc/kallsyms (read through a descriptor that
 * the collector passed on).
 */
#ifndef BELFRY_SYMBOLIZER_KERNEL_SYMBOLS_H
#define BELFRY_SYMBOLIZER_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_symbols;

int kernel_symbols_new(struct kernel_symbols **out);
void kernel_symbols_free(struct kernel_symbols *k);

/*
 * Feeds text in any chunking; the last call has len 0. Returns NULL or a constant sentence (bad
 * line, budget).
 */
const char *kernel_symbols_feed(struct kernel_symbols *k, const char *text, size_t len);

/* Reads the whole of `fd` from its start (pread). Replaces what was there. Same result as feed. */
const char *kernel_symbols_load(struct kernel_symbols *k, int fd);

/* All addresses were zero: kptr_restrict or a missing CAP_SYSLOG. */
bool kernel_symbols_restricted(const struct kernel_symbols *k);

size_t kernel_symbols_count(const struct kernel_symbols *k);

/* Text symbol that covers `address`. `module` is "" for the kernel proper. Strings owned by k. */
bool kernel_symbols_lookup(const struct kernel_symbols *k, uint64_t address, const char **name,
			   const char **module, uint64_t *start);

#endif
