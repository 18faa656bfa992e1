/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes where a role's report should be. An accepted one encodes to the same bytes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "policy/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t again[REPORT_LENGTH];
	struct report r;
	uint8_t *bytes;

	if (size > 2 * REPORT_LENGTH)
		return 0;
	bytes = malloc(size ? size : 1);
	assert(bytes);
	memcpy(bytes, data, size);
	if (!report_decode(bytes, (uint32_t)size, &r)) {
		report_encode(&r, again);
		assert(size == sizeof(again) && memcmp(bytes, again, sizeof(again)) == 0);
	}
	free(bytes);
	return 0;
}
