/* SPDX-License-Identifier: Apache-2.0 */
/* Layout of every message: u32 type, u32 version, then the fields of its type. */
#include "ipc/file_channel.h"

#include <stddef.h>

#include "ipc/builder.h"
#include "ipc/cursor.h"

#define HEADER_LEN 8
#define HELLO_LEN (HEADER_LEN + 8)
#define OPENED_LEN (HEADER_LEN + 5 * 8)
#define KALLSYMS_LEN HEADER_LEN
#define DONE_LEN (HEADER_LEN + 8 + 4 + 4)
#define WANT_LEN (HEADER_LEN + 8)

const struct message_rule file_rules_to_symbolizer[] = {
	{ FILE_HELLO, "HELLO", HELLO_LEN, FILE_PHASE_NEW, 0 },
	{ FILE_OPENED, "OPENED", OPENED_LEN, FILE_PHASE_OPEN, 1 },
	{ FILE_KALLSYMS, "KALLSYMS", KALLSYMS_LEN, FILE_PHASE_OPEN, 1 },
};
const unsigned int file_rules_to_symbolizer_count =
	sizeof(file_rules_to_symbolizer) / sizeof(file_rules_to_symbolizer[0]);

const struct message_rule file_rules_to_collector[] = {
	{ FILE_HELLO, "HELLO", HELLO_LEN, FILE_PHASE_NEW, 0 },
	{ FILE_DONE, "DONE", DONE_LEN, FILE_PHASE_OPEN, 0 },
	{ FILE_WANT, "WANT", WANT_LEN, FILE_PHASE_OPEN, 0 },
};
const unsigned int file_rules_to_collector_count =
	sizeof(file_rules_to_collector) / sizeof(file_rules_to_collector[0]);

uint32_t file_message_encode(const struct file_message *m, uint8_t *out)
{
	struct builder b = builder_over(out, FILE_MESSAGE_MAX);

	builder_u32(&b, m->type);
	builder_u32(&b, FILE_CHANNEL_VERSION);
	switch (m->type) {
	case FILE_HELLO:
		builder_u64(&b, m->stream_id);
		break;
	case FILE_OPENED:
		builder_u64(&b, m->file_id);
		builder_u64(&b, m->device);
		builder_u64(&b, m->inode);
		builder_u64(&b, m->size);
		builder_u64(&b, m->change_time);
		break;
	case FILE_DONE:
		builder_u64(&b, m->file_id);
		builder_u32(&b, m->result);
		builder_u32(&b, 0);
		break;
	case FILE_WANT:
		builder_u64(&b, m->file_id);
		break;
	case FILE_KALLSYMS:
	case FILE_MESSAGE_TYPES:
		break;
	}
	return b.len;
}

static const char *decode_fields(struct cursor *c, struct file_message *m)
{
	switch (m->type) {
	case FILE_HELLO:
		m->stream_id = cursor_u64(c);
		break;
	case FILE_OPENED:
		m->file_id = cursor_u64(c);
		m->device = cursor_u64(c);
		m->inode = cursor_u64(c);
		m->size = cursor_u64(c);
		m->change_time = cursor_u64(c);
		if (m->file_id < FILE_ID_FIRST)
			return "file id is reserved";
		break;
	case FILE_DONE:
		m->file_id = cursor_u64(c);
		m->result = cursor_u32(c);
		if (cursor_u32(c) != 0)
			return "reserved field is not zero";
		if (m->file_id < FILE_ID_FIRST)
			return "file id is reserved";
		if (m->result >= FILE_RESULTS)
			return "unknown file result";
		break;
	case FILE_WANT:
		m->file_id = cursor_u64(c);
		if (m->file_id < FILE_ID_FIRST)
			return "file id is reserved";
		break;
	case FILE_KALLSYMS:
	case FILE_MESSAGE_TYPES:
		break;
	}
	return cursor_finished(c) ? NULL : "message does not end where its fields end";
}

const char *file_message_decode(const struct message_rule *rules, unsigned int rule_count,
				uint32_t phase, const uint8_t *data, uint32_t len, uint32_t fds,
				struct file_message *m)
{
	struct cursor c;
	const char *wrong;
	uint32_t index = 0;
	uint32_t type;

	if (len > FILE_MESSAGE_MAX)
		return "message is too long";
	c = cursor_over(data, len);
	type = cursor_u32(&c);
	/* A packet too short for a header reads as version 0. */
	if (cursor_u32(&c) != FILE_CHANNEL_VERSION)
		return "message has another version";
	wrong = message_rule_check(rules, rule_count, type, phase, len, fds, &index);
	if (wrong)
		return wrong;
	*m = (struct file_message){ .type = (enum file_message_type)rules[index].type };
	return decode_fields(&c, m);
}
