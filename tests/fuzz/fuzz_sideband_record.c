/* SPDX-License-Identifier: Apache-2.0 */
/* Perf side-band records. The copy ends where the record ends, so that reading on is seen. */
#include <stdlib.h>
#include <string.h>

#include "collector/sideband_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *record = malloc(size ? size : 1);
	struct sideband_event e;

	memcpy(record, data, size);
	if (size >= 8 && size <= UINT16_MAX) {
		record[6] = (uint8_t)size; /* else hardly any input has the right length */
		record[7] = (uint8_t)(size >> 8);
	}
	if (!sideband_record_decode(record, (uint32_t)size, &e)) {
		if (e.path && e.path[e.path_len] != 0)
			abort();
		if (memchr(e.comm, 0, sizeof(e.comm)) == NULL || e.start + e.length < e.start)
			abort();
	}
	free(record);
	return 0;
}
