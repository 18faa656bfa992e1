/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SOURCES: ipc/control_channel.c ipc/message_rule.c
 * OPTIONS: -eva-precision 7 -eva-split-return full -eva-interprocedural-history
 * FUNCTIONS: control_message_decode decode_fields decode_filter message_rule_check
 *
 * Commands of the launcher: any bytes of any length, against the real tables and against a table of any lengths.
 */
#include "ipc/control_channel.h"
#include "tests/prove/unknown.h"

static uint8_t buffer[CONTROL_MESSAGE_MAX];
static uint64_t entries[FILTER_KINDS];
static uint64_t kinds_with_descendants[2];

static void use(const struct control_message *m)
{
	/*@ assert CONTROL_FILTER_ADD <= m->type < CONTROL_MESSAGE_TYPES; */
	if (m->type == CONTROL_FILTER_ADD || m->type == CONTROL_FILTER_REMOVE) {
		entries[m->filter] = m->key;
		kinds_with_descendants[m->descendants]++;
	}
	if (m->type == CONTROL_COUNTERS || m->type == CONTROL_STOPPED)
		entries[0] = m->counters.value[COLLECTOR_COUNTERS - 1];
}

/* Every length: the packet stands at the buffer's start. */
static void any_length(const struct message_rule *rules, unsigned int count)
{
	struct control_message m;

	unknown_bytes(buffer, sizeof(buffer));
	if (!control_message_decode(rules, count, buffer, unknown_u32(), unknown_u32(), &m))
		use(&m);
}

/* One length: the packet ends where the buffer ends. */
static void exact_length(const struct message_rule *rules, unsigned int count, uint32_t len)
{
	struct control_message m;

	unknown_bytes(buffer, sizeof(buffer));
	if (!control_message_decode(rules, count, buffer + sizeof(buffer) - len, len, unknown_u32(), &m))
		use(&m);
}

void prove_control_message(void);
void prove_control_message(void)
{
	struct message_rule any[CONTROL_MESSAGE_TYPES - 1];

	for (uint32_t i = 0; i < CONTROL_MESSAGE_TYPES - 1; i++)
		any[i] = (struct message_rule){ i + 1, "any", unknown_u32(), unknown_u32(), unknown_u32() };
	any_length(control_rules_to_collector, control_rules_to_collector_count);
	any_length(control_rules_to_launcher, control_rules_to_launcher_count);
	any_length(any, CONTROL_MESSAGE_TYPES - 1);
	/*@ loop unroll 33; */
	for (uint32_t len = 0; len <= 32; len++)
		exact_length(any, CONTROL_MESSAGE_TYPES - 1, len);
	/*@ loop unroll 12; */
	for (uint32_t len = 8 * COLLECTOR_COUNTERS; len < 8 * COLLECTOR_COUNTERS + 12; len++)
		exact_length(any, CONTROL_MESSAGE_TYPES - 1, len);
}
