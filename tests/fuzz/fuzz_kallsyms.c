/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "symbolizer/kernel_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* First byte: size of the chunks in which the rest arrives. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kernel_symbols *k;
	size_t chunk = size ? data[0] + 1u : 1;
	const char *name, *module;
	uint64_t start;

	if (kernel_symbols_new(&k) != 0)
		return 0;
	for (size_t at = 1; at < size; at += chunk)
		kernel_symbols_feed(k, (const char *)data + at,
				    size - at < chunk ? size - at : chunk);
	kernel_symbols_feed(k, NULL, 0);
	for (uint64_t bit = 0; bit < 64; bit++) {
		uint64_t address = ~0ull << bit | size;

		if (!kernel_symbols_lookup(k, address, &name, &module, &start))
			continue;
		assert(start <= address && strlen(name) < 1024 && strlen(module) < 1024);
	}
	kernel_symbols_free(k);
	return 0;
}
