/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of a message channel, cut out of the input: u16 length, then the packet. */
#include <stdlib.h>

#include "ipc/cursor.h"
#include "ipc/message_piece.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct message_assembly a = { .message_max = 1 << 20 };
	struct cursor c = cursor_over(data, (uint32_t)size);

	while (cursor_left(&c) >= 2) {
		uint32_t len = cursor_u16(&c);
		const uint8_t *message;
		size_t message_len;
		const uint8_t *packet;

		len = len < cursor_left(&c) ? len : cursor_left(&c);
		packet = cursor_bytes(&c, len);
		if (message_assembly_add(&a, packet, len, &message, &message_len) == MESSAGE_WHOLE &&
		    (message_len == 0 || message_len > a.message_max))
			abort();
	}
	message_assembly_reset(&a);
	return 0;
}
