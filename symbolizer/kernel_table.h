/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_table: text symbols of the kernel in 10 bytes each and their names. Addresses are 32-bit
 * distances from the base of their region: kernel and modules lie within 4 GiB on x86-64, but not
 * on every architecture.
 */
#ifndef BELFRY_SYMBOLIZER_KERNEL_TABLE_H
#define BELFRY_SYMBOLIZER_KERNEL_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define KERNEL_SYMBOLS_MAX (1u << 20)
#define KERNEL_NAMES_MAX   (32u << 20) /* bytes */
#define KERNEL_MODULES_MAX 8191u
#define KERNEL_REGIONS_MAX 64u

/* A symbol as it is read, before the table is made. */
struct kernel_symbol {
	uint64_t address;
	uint32_t name;	 /* offset into names */
	uint16_t module; /* index into modules; 0 = the kernel proper */
	uint16_t rank;	 /* among symbols of one address: lower is shown */
};

/* Symbols [first, next region's first) have base + delta as their addresses. */
struct kernel_region {
	uint64_t base;
	uint32_t first;
};

struct kernel_table {
	struct kernel_region regions[KERNEL_REGIONS_MAX];
	uint32_t region_count;
	uint32_t count;
	uint32_t *deltas; /* ascending inside a region */
	uint32_t *name_offsets;
	uint16_t *modules;	/* index of each symbol's module */
	char *names;		/* NUL-terminated, back to back; module names as well */
	uint32_t *module_names; /* offsets into names */
};

/*
 * Sorts `symbols` in place and packs them; one symbol for each address stays. Takes `names` and
 * `module_names` over. Returns NULL or a constant sentence; on failure nothing was taken.
 */
const char *kernel_table_build(struct kernel_table *t, struct kernel_symbol *symbols,
			       uint32_t count, char *names, uint32_t *module_names);
void kernel_table_free(struct kernel_table *t);

/* Index of the symbol that covers `address`, with its start; false where none does. */
bool kernel_table_find(const struct kernel_table *t, uint64_t address, uint32_t *index,
		       uint64_t *start);

#endif
