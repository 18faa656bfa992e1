/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SOURCES: ipc/file_channel.c ipc/message_rule.c
 * OPTIONS: -eva-precision 7 -eva-split-return full -eva-interprocedural-history
 * FUNCTIONS: file_message_decode decode_fields message_rule_check
 *
 * Messages of the symbolizer (and, the other way, of the collector): any bytes, any length, any phase, any number of
 * descriptors, against the real tables and against a table of any lengths, so that the decoder is safe by itself.
 */
#include "ipc/file_channel.h"
#include "tests/prove/unknown.h"

/* A packet of `len` bytes ends where this buffer ends: one byte read past it is out of bounds. */
static uint8_t buffer[FILE_MESSAGE_MAX];
static uint32_t results[FILE_RESULTS];

/* What a handler may rely on after a message was taken. */
static void use(const struct file_message *m)
{
	/*@ assert FILE_HELLO <= m->type < FILE_MESSAGE_TYPES; */
	if (m->type == FILE_DONE)
		results[m->result]++;
	if (m->type == FILE_OPENED || m->type == FILE_DONE || m->type == FILE_WANT)
		/*@ assert m->file_id >= FILE_ID_FIRST; */
		results[0]++;
}

static void any_packet(const struct message_rule *rules, unsigned int count, uint32_t len)
{
	struct file_message m;

	unknown_bytes(buffer, sizeof(buffer));
	if (!file_message_decode(rules, count, unknown_u32(), buffer + sizeof(buffer) - len, len,
				 unknown_u32(), &m))
		use(&m);
}

/* What the real table promises on top: the collector takes no descriptor, and DONE has its one length. */
static void to_collector(uint32_t len)
{
	uint32_t phase = unknown_u32(), fds = unknown_u32();
	struct file_message m;

	unknown_bytes(buffer, sizeof(buffer));
	if (file_message_decode(file_rules_to_collector, file_rules_to_collector_count, phase,
				buffer + sizeof(buffer) - len, len, fds, &m))
		return;
	/*@ assert fds == 0; */
	/*@ assert 16 <= len <= 24; */
	/*@ assert phase != 0; */
	use(&m);
}

void prove_file_message(void);
void prove_file_message(void)
{
	const char *wrong;
	struct message_rule any[FILE_MESSAGE_TYPES - 1];
	struct file_message m;

	for (uint32_t i = 0; i < FILE_MESSAGE_TYPES - 1; i++)
		any[i] = (struct message_rule){ i + 1, "any", unknown_u32(), unknown_u32(), unknown_u32() };
	/*@ loop unroll FILE_MESSAGE_MAX + 1; */
	for (uint32_t len = 0; len <= FILE_MESSAGE_MAX; len++) {
		any_packet(file_rules_to_symbolizer, file_rules_to_symbolizer_count, len);
		any_packet(any, FILE_MESSAGE_TYPES - 1, len);
		to_collector(len);
	}
	wrong = file_message_decode(any, FILE_MESSAGE_TYPES - 1, unknown_u32(), buffer,
				    Frama_C_unsigned_int_interval(FILE_MESSAGE_MAX + 1, 0xffffffffu), unknown_u32(), &m);
	/*@ assert wrong != \null; */
}
