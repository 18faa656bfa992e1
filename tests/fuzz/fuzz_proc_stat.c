/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/stat and /proc/PID/fdinfo/N. */
#include <stdlib.h>
#include <string.h>

#include "collector/procfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *text = malloc(size ? size : 1);
	struct proc_stat s;
	uint64_t id;

	memcpy(text, data, size);
	proc_stat_decode(text, (uint32_t)size, &s);
	proc_fdinfo_decode(text, (uint32_t)size, &id);
	free(text);
	return 0;
}
