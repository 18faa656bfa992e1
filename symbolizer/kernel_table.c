/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/kernel_table.h"

#include <stdlib.h>
#include <string.h>

/*
 * kallsyms has no sizes. A symbol reaches to the next one, but the last of a module, or of the
 * kernel's text, would reach to the next module: that far it is believed. The longest functions of
 * kernels are some 30 KiB.
 */
#define LAST_SYMBOL_REACH (64u << 10)

static int order(const struct kernel_symbol *x, const struct kernel_symbol *y)
{
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	/* Equal ranks keep the order in which the kernel listed them. */
	return x->name < y->name ? -1 : x->name > y->name;
}

static int order_symbols(const void *a, const void *b)
{
	return order(a, b);
}

/*
 * The kernel's own part is sorted already, modules and BPF programs are appended: mostly there is
 * nothing to do.
 */
static void sort_symbols(struct kernel_symbol *symbols, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		if (order(&symbols[i - 1], &symbols[i]) > 0) {
			qsort(symbols, count, sizeof(*symbols), order_symbols);
			return;
		}
	}
}

/* Keeps the best symbol of each address. */
static uint32_t drop_aliases(struct kernel_symbol *symbols, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (kept == 0 || symbols[kept - 1].address != symbols[i].address)
			symbols[kept++] = symbols[i];
	return kept;
}

static bool add_region(struct kernel_table *t, uint64_t base, uint32_t first)
{
	if (t->region_count == KERNEL_REGIONS_MAX)
		return false;
	t->regions[t->region_count++] = (struct kernel_region){ .base = base, .first = first };
	return true;
}

const char *kernel_table_build(struct kernel_table *t, struct kernel_symbol *symbols,
			       uint32_t count, char *names, uint32_t *module_names)
{
	*t = (struct kernel_table){ 0 };
	sort_symbols(symbols, count);
	count = drop_aliases(symbols, count);
	t->deltas = malloc((count + 1) * sizeof(*t->deltas));
	t->name_offsets = malloc((count + 1) * sizeof(*t->name_offsets));
	t->modules = malloc((count + 1) * sizeof(*t->modules));
	if (!t->deltas || !t->name_offsets || !t->modules) {
		kernel_table_free(t);
		return "kallsyms: no memory for the table";
	}
	for (uint32_t i = 0; i < count; i++) {
		uint64_t address = symbols[i].address;

		if ((t->region_count == 0 ||
		     address - t->regions[t->region_count - 1].base > UINT32_MAX) &&
		    !add_region(t, address, i)) {
			kernel_table_free(t);
			return "kallsyms: addresses are spread over too many regions";
		}
		t->deltas[i] = (uint32_t)(address - t->regions[t->region_count - 1].base);
		t->name_offsets[i] = symbols[i].name;
		t->modules[i] = symbols[i].module;
	}
	t->count = count;
	t->names = names;
	t->module_names = module_names;
	return NULL;
}

void kernel_table_free(struct kernel_table *t)
{
	free(t->deltas);
	free(t->name_offsets);
	free(t->modules);
	free(t->names);
	free(t->module_names);
	*t = (struct kernel_table){ 0 };
}

static uint64_t address_of(const struct kernel_table *t, uint32_t region, uint32_t index)
{
	return t->regions[region].base + t->deltas[index];
}

/* First address that the symbol no longer covers. */
static uint64_t end_of(const struct kernel_table *t, uint32_t region, uint32_t index, uint32_t end)
{
	uint64_t reach = address_of(t, region, index) + LAST_SYMBOL_REACH;
	uint64_t next = UINT64_MAX;

	if (index + 1 < end)
		next = address_of(t, region, index + 1);
	else if (region + 1 < t->region_count)
		next = t->regions[region + 1].base;
	if (index + 1 < end && t->modules[index + 1] == t->modules[index])
		return next;
	return next < reach ? next : reach;
}

bool kernel_table_find(const struct kernel_table *t, uint64_t address, uint32_t *index,
		       uint64_t *start)
{
	uint32_t region = t->region_count;
	uint32_t low, left, end;
	uint64_t delta;

	while (region > 0 && t->regions[region - 1].base > address)
		region--;
	if (region == 0)
		return false;
	region--;
	delta = address - t->regions[region].base;
	low = t->regions[region].first;
	end = region + 1 < t->region_count ? t->regions[region + 1].first : t->count;
	/*
	 * The region's base is a symbol, so `low` never lies above the address. Halving without a
	 * branch: 3x faster here.
	 */
	for (left = end - low; left > 1;) {
		uint32_t half = left / 2;

		low = t->deltas[low + half] <= delta ? low + half : low;
		left -= half;
	}
	*index = low;
	*start = address_of(t, region, low);
	return address < end_of(t, region, low, end);
}
