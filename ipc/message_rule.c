/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/message_rule.h"

#include <stddef.h>

const char *message_rule_check(const struct message_rule *rules, uint32_t count, uint32_t type,
			       uint32_t phase, uint32_t length, uint32_t fds, uint32_t *index)
{
	for (uint32_t i = 0; i < count; i++) {
		if (rules[i].type != type)
			continue;
		if ((rules[i].phases & phase) == 0)
			return "message not allowed now";
		if (rules[i].length != length)
			return "message has the wrong length";
		if (rules[i].fds != fds)
			return fds ? "message carries a descriptor that it must not" :
				     "message lacks its descriptor";
		*index = i;
		return NULL;
	}
	return "unknown message type";
}
