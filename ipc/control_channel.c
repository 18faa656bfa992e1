/* SPDX-License-Identifier: Apache-2.0 */
/* Layout of every message: u32 type, u32 version, then the fields of its type. */
#include "ipc/control_channel.h"

#include <stddef.h>

#include "ipc/builder.h"
#include "ipc/cursor.h"

#define CONTROL_VERSION 1
#define HEADER_LEN 8
#define FILTER_LEN (HEADER_LEN + 4 + 4 + 8)
#define COUNTERS_LEN (HEADER_LEN + 8 * COLLECTOR_COUNTERS)

_Static_assert(COUNTERS_LEN <= CONTROL_MESSAGE_MAX, "counters must fit one control message");

const struct message_rule control_rules_to_collector[] = {
	{ CONTROL_FILTER_ADD, "FILTER_ADD", FILTER_LEN, CONTROL_PHASE_ANY, 0 },
	{ CONTROL_FILTER_REMOVE, "FILTER_REMOVE", FILTER_LEN, CONTROL_PHASE_ANY, 0 },
	{ CONTROL_START, "START", HEADER_LEN, CONTROL_PHASE_ANY, 0 },
	{ CONTROL_STOP, "STOP", HEADER_LEN, CONTROL_PHASE_ANY, 0 },
	{ CONTROL_GET_COUNTERS, "GET_COUNTERS", HEADER_LEN, CONTROL_PHASE_ANY, 0 },
};
const unsigned int control_rules_to_collector_count =
	sizeof(control_rules_to_collector) / sizeof(control_rules_to_collector[0]);

const struct message_rule control_rules_to_launcher[] = {
	{ CONTROL_READY, "READY", HEADER_LEN, CONTROL_PHASE_ANY, 0 },
	{ CONTROL_COUNTERS, "COUNTERS", COUNTERS_LEN, CONTROL_PHASE_ANY, 0 },
	{ CONTROL_STOPPED, "STOPPED", COUNTERS_LEN, CONTROL_PHASE_ANY, 0 },
};
const unsigned int control_rules_to_launcher_count =
	sizeof(control_rules_to_launcher) / sizeof(control_rules_to_launcher[0]);

uint32_t control_message_encode(const struct control_message *m, uint8_t *out)
{
	struct builder b = builder_over(out, CONTROL_MESSAGE_MAX);

	builder_u32(&b, m->type);
	builder_u32(&b, CONTROL_VERSION);
	switch (m->type) {
	case CONTROL_FILTER_ADD:
	case CONTROL_FILTER_REMOVE:
		builder_u32(&b, m->filter);
		builder_u32(&b, m->descendants);
		builder_u64(&b, m->key);
		break;
	case CONTROL_COUNTERS:
	case CONTROL_STOPPED:
		for (uint32_t i = 0; i < COLLECTOR_COUNTERS; i++)
			builder_u64(&b, m->counters.value[i]);
		break;
	case CONTROL_START:
	case CONTROL_STOP:
	case CONTROL_GET_COUNTERS:
	case CONTROL_READY:
	case CONTROL_MESSAGE_TYPES:
		break;
	}
	return b.len;
}

static const char *decode_filter(struct cursor *c, struct control_message *m)
{
	m->filter = cursor_u32(c);
	m->descendants = cursor_u32(c);
	m->key = cursor_u64(c);
	if (m->filter >= FILTER_KINDS)
		return "unknown filter kind";
	if (m->descendants > 1 || (m->descendants == 1 && m->filter != FILTER_PROCESS))
		return "descendants apply to process filters only, as 0 or 1";
	if (m->filter != FILTER_CGROUP && m->key > UINT32_MAX)
		return "process and user ids have 32 bits";
	return NULL;
}

static const char *decode_fields(struct cursor *c, struct control_message *m)
{
	const char *wrong = NULL;

	switch (m->type) {
	case CONTROL_FILTER_ADD:
	case CONTROL_FILTER_REMOVE:
		wrong = decode_filter(c, m);
		break;
	case CONTROL_COUNTERS:
	case CONTROL_STOPPED:
		for (uint32_t i = 0; i < COLLECTOR_COUNTERS; i++)
			m->counters.value[i] = cursor_u64(c);
		break;
	case CONTROL_START:
	case CONTROL_STOP:
	case CONTROL_GET_COUNTERS:
	case CONTROL_READY:
	case CONTROL_MESSAGE_TYPES:
		break;
	}
	if (wrong)
		return wrong;
	return cursor_finished(c) ? NULL : "message does not end where its fields end";
}

const char *control_message_decode(const struct message_rule *rules, unsigned int rule_count,
				   const uint8_t *data, uint32_t len, uint32_t fds,
				   struct control_message *m)
{
	struct cursor c;
	const char *wrong;
	uint32_t index = 0;
	uint32_t type;

	if (len > CONTROL_MESSAGE_MAX)
		return "message is too long";
	c = cursor_over(data, len);
	type = cursor_u32(&c);
	/* A packet too short for a header reads as version 0. */
	if (cursor_u32(&c) != CONTROL_VERSION)
		return "message has another version";
	wrong = message_rule_check(rules, rule_count, type, CONTROL_PHASE_ANY, len, fds, &index);
	if (wrong)
		return wrong;
	*m = (struct control_message){ .type = (enum control_message_type)rules[index].type };
	return decode_fields(&c, m);
}
