/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/message_piece.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/cursor.h"
#include "ipc/message_channel.h"

void message_assembly_reset(struct message_assembly *a)
{
	free(a->data);
	a->data = NULL;
	a->room = a->len = a->total = 0;
}

static bool append(struct message_assembly *a, const uint8_t *piece, uint32_t len)
{
	size_t room = a->room ? a->room : MESSAGE_PIECE_MAX;

	while (room < a->len + len)
		room *= 2;
	if (room > a->room) {
		uint8_t *grown = realloc(a->data, room);

		if (!grown)
			return false;
		a->data = grown;
		a->room = room;
	}
	memcpy(a->data + a->len, piece, len);
	a->len += len;
	return true;
}

enum message_progress message_assembly_add(struct message_assembly *a, const uint8_t *packet, uint32_t len,
					   const uint8_t **data, size_t *data_len)
{
	struct cursor c = cursor_over(packet, len);
	uint32_t total = cursor_u32(&c);
	uint32_t offset = cursor_u32(&c);
	uint32_t piece = cursor_left(&c);
	const uint8_t *bytes = cursor_bytes(&c, piece);

	if (a->total == a->len) /* the last message was whole: its memory is not needed any more */
		message_assembly_reset(a);
	if (!cursor_ok(&c) || piece == 0 || total > a->message_max || offset != a->len ||
	    piece > total - (offset < total ? offset : total) || (a->total && total != a->total))
		return MESSAGE_BROKEN;
	/* Only the last piece may be short: so a peer cannot make us work for each byte. */
	if (piece < MESSAGE_PIECE_MAX && offset + piece != total)
		return MESSAGE_BROKEN;
	if (piece == total) {
		*data = bytes;
		*data_len = piece;
		return MESSAGE_WHOLE;
	}
	a->total = total;
	if (!append(a, bytes, piece))
		return MESSAGE_BROKEN;
	if (a->len < a->total)
		return MESSAGE_PART;
	*data = a->data;
	*data_len = a->len;
	return MESSAGE_WHOLE;
}
