/* SPDX-License-Identifier: Apache-2.0 */
/* message_piece: puts a message together from the packets of a message_channel. Decides whether each follows the one before. */
#ifndef BELFRY_IPC_MESSAGE_PIECE_H
#define BELFRY_IPC_MESSAGE_PIECE_H

#include <stddef.h>
#include <stdint.h>

enum message_progress {
	MESSAGE_PART = 0, /* more pieces are to come */
	MESSAGE_WHOLE,
	MESSAGE_BROKEN, /* a rule was broken, or memory is out: the peer must go */
};

struct message_assembly {
	size_t message_max;
	uint8_t *data; /* owned; grows with what comes, not with what is announced */
	size_t room;
	size_t len;   /* bytes so far */
	size_t total; /* announced; 0 = no message under way */
};

/*
 * Takes one packet. On MESSAGE_WHOLE *data is the message: inside `packet` when it came in one, else the assembly's own until the next
 * call.
 */
enum message_progress message_assembly_add(struct message_assembly *a, const uint8_t *packet, uint32_t len,
					   const uint8_t **data, size_t *data_len);

/* Forgets a message under way and frees its memory. */
void message_assembly_reset(struct message_assembly *a);

#endif
