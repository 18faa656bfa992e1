/* SPDX-License-Identifier: Apache-2.0 */
/* Any text where sysfs should have a CPU list. In an accepted one, `end` is one above the highest
 * CPU. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "collector/cpu_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpu_list list;
	uint8_t *text;

	if (size > 2 * CPU_LIST_TEXT)
		return 0;
	text = malloc(size ? size
			   : 1); /* of the exact length, so that the sanitizer sees its end */
	assert(text);
	memcpy(text, data, size);
	if (!cpu_list_parse(text, (uint32_t)size, &list)) {
		assert(list.end <= CPU_LIST_MAX);
		assert(list.end == 0 || cpu_list_has(&list, list.end - 1));
		for (uint32_t cpu = list.end; cpu < CPU_LIST_MAX; cpu++)
			assert(!cpu_list_has(&list, cpu));
	}
	free(text);
	return 0;
}
