/* SPDX-License-Identifier: Apache-2.0 */
/* One line of /proc/PID/maps. */
#include <stdlib.h>
#include <string.h>

#include "collector/procfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *line = malloc(size ? size : 1);
	struct proc_mapping m;

	memcpy(line, data, size);
	if (!proc_mapping_decode(line, (uint32_t)size, &m)) {
		if (m.start >= m.end)
			abort();
		if (m.path_len && m.path + m.path_len != line + size)
			abort();
	}
	free(line);
	return 0;
}
