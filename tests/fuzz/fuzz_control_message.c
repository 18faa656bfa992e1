/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any packet of the control channel, in either direction. Input: byte 0 = direction and descriptors, then the packet.
 * What is accepted must encode to the very same bytes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/control_channel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t again[CONTROL_MESSAGE_MAX];
	const struct message_rule *rules = control_rules_to_launcher;
	unsigned int count = control_rules_to_launcher_count;
	struct control_message m;
	uint8_t *packet;
	uint32_t len;

	if (size < 1 || size > 2 * CONTROL_MESSAGE_MAX)
		return 0;
	if (data[0] & 0x80) {
		rules = control_rules_to_collector;
		count = control_rules_to_collector_count;
	}
	len = (uint32_t)size - 1;
	packet = malloc(len ? len : 1); /* of the exact length, so that the sanitizer sees its end */
	assert(packet);
	memcpy(packet, data + 1, len);
	if (!control_message_decode(rules, count, packet, len, data[0] & 1, &m)) {
		assert(!(data[0] & 1) && m.filter < FILTER_KINDS && m.descendants <= 1);
		assert(control_message_encode(&m, again) == len && !memcmp(again, packet, len));
	}
	free(packet);
	return 0;
}
