/* SPDX-License-Identifier: Apache-2.0 */
/* message_rule: what may be said on a channel, when, how long, and with what. */
#ifndef BELFRY_IPC_MESSAGE_RULE_H
#define BELFRY_IPC_MESSAGE_RULE_H

#include <stdint.h>

struct message_rule {
	uint32_t type;
	const char *name;
	uint32_t length; /* exact length of the packet, bytes */
	uint32_t phases; /* bits of the phases in which it is allowed */
	uint32_t fds;    /* descriptors that must come with it, 0 or 1 */
};

/*
 * Finds the rule of a packet and checks length, phase and descriptors.
 * Returns NULL and sets *index, or a constant sentence that says what was wrong.
 */
const char *message_rule_check(const struct message_rule *rules, uint32_t count, uint32_t type,
			       uint32_t phase, uint32_t length, uint32_t fds, uint32_t *index);

#endif
