/* SPDX-License-Identifier: Apache-2.0 */
/* One line of /proc/PID/mountinfo. */
#include <stdlib.h>
#include <string.h>

#include "collector/procfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *line = malloc(size ? size : 1);
	struct proc_mount m;

	memcpy(line, data, size);
	if (!proc_mount_decode(line, (uint32_t)size, &m)) {
		if (!m.type[0] || !memchr(m.type, 0, sizeof(m.type)))
			abort();
		proc_mount_is_remote(&m);
	}
	free(line);
	return 0;
}
