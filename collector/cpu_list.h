/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_list: a set of CPU numbers as sysfs writes it, e.g. "0-3,8,10-11" (cpu list format of the
 * kernel's bitmaps). */
#ifndef BELFRY_COLLECTOR_CPU_LIST_H
#define BELFRY_COLLECTOR_CPU_LIST_H

#include <stdbool.h>
#include <stdint.h>

#define CPU_LIST_MAX  8192 /* CPUs; the largest NR_CPUS that a kernel can be built with */
#define CPU_LIST_TEXT 8192 /* bytes of a list's text */

struct cpu_list {
	uint64_t bits[CPU_LIST_MAX / 64];
	uint32_t end; /* highest CPU + 1; 0 = none */
};

/* Returns NULL, or a constant sentence that names what was wrong; the list is then unusable. */
const char *cpu_list_parse(const uint8_t *text, uint32_t len, struct cpu_list *out);

/* Reads a list from the start of a file that stays open. Returns 0 or -errno. */
int cpu_list_read(int fd, struct cpu_list *out);

static inline bool cpu_list_has(const struct cpu_list *l, uint32_t cpu)
{
	return cpu < CPU_LIST_MAX && (l->bits[cpu / 64] >> (cpu % 64) & 1);
}

#endif
