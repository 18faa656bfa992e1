/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sanitizer/lsan_interface.h>

#include "symbolizer/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char out[4097];
	static const size_t rooms[] = { 1, 2, 100, sizeof(out) };
	char *name = malloc(size + 1);

	if (!name)
		return 0;
	memcpy(name, data, size);
	name[size] = '\0';
	for (unsigned int i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		size_t len;

		/*
		 * demangle() may lose the library's punycode buffer when it cuts the output: see
		 * there.
		 */
		__lsan_disable();
		len = demangle(name, out, rooms[i]);
		__lsan_enable();
		assert(len < rooms[i] && strlen(out) == len);
	}
	free(name);
	return 0;
}
