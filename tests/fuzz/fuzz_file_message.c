/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any packet of the file channel, in either direction. Input: byte 0 = direction, phase and descriptors, then
 * the packet. What is accepted must encode to the very same bytes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/file_channel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t again[FILE_MESSAGE_MAX];
	struct file_message m;
	uint32_t fds, len;
	uint8_t *packet;

	if (size < 1 || size > 2 * FILE_MESSAGE_MAX)
		return 0;
	fds = data[0] >> 4 & 1;
	len = (uint32_t)size - 1;
	packet = malloc(len ? len : 1); /* of the exact length, so that the sanitizer sees its end */
	assert(packet);
	memcpy(packet, data + 1, len);
	if (data[0] & 0x80) {
		if (!file_message_decode(file_rules_to_symbolizer, file_rules_to_symbolizer_count,
					 data[0] & 3, packet, len, fds, &m)) {
			assert(fds == (m.type == FILE_OPENED || m.type == FILE_KALLSYMS));
			assert(file_message_encode(&m, again) == len && !memcmp(again, packet, len));
		}
	} else if (!file_message_decode(file_rules_to_collector, file_rules_to_collector_count,
					data[0] & 3, packet, len, fds, &m)) {
		assert(fds == 0 && m.result < FILE_RESULTS);
		assert(file_message_encode(&m, again) == len && !memcmp(again, packet, len));
	}
	free(packet);
	return 0;
}
