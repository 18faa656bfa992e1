/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/profile_channel.h"

#include <stddef.h>
#include <string.h>

static void encode_account(struct builder *b, const struct window_account *a)
{
	builder_u64(b, a->collector_stream);
	builder_u64(b, a->symbolizer_id);
	builder_u64(b, a->window);
	builder_u64(b, a->start_time);
	builder_u64(b, a->duration);
	builder_u64(b, a->first_sample);
	builder_u64(b, a->end_sample);
	builder_u64(b, a->received);
	builder_u64(b, a->in_profiles);
	for (uint32_t i = 0; i < SYMBOLIZER_LOSSES; i++)
		builder_u64(b, a->lost[i]);
	builder_u32(b, a->profiles);
	for (uint32_t i = 0; i < COLLECTOR_COUNTERS; i++)
		builder_u64(b, a->collector.value[i]);
}

void profile_message_encode_header(struct builder *b, const struct profile_message *m)
{
	builder_u32(b, PROFILE_MAGIC);
	builder_u16(b, PROFILE_CHANNEL_VERSION);
	builder_u16(b, (uint16_t)m->type);
	builder_u64(b, m->sequence);
	encode_account(b, &m->account);
	if (m->type != PROFILE_PPROF)
		return;
	builder_u32(b, m->index);
	builder_u64(b, m->samples);
	builder_u32(b, m->label_count);
	for (uint32_t i = 0; i < m->label_count; i++) {
		builder_u16(b, (uint16_t)m->labels[i].name_len);
		builder_bytes(b, m->labels[i].name, m->labels[i].name_len);
		builder_u16(b, (uint16_t)m->labels[i].value_len);
		builder_bytes(b, m->labels[i].value, m->labels[i].value_len);
	}
	builder_u32(b, m->pprof_len);
}

static const char *decode_account(struct cursor *c, struct window_account *a)
{
	a->collector_stream = cursor_u64(c);
	a->symbolizer_id = cursor_u64(c);
	a->window = cursor_u64(c);
	a->start_time = cursor_u64(c);
	a->duration = cursor_u64(c);
	a->first_sample = cursor_u64(c);
	a->end_sample = cursor_u64(c);
	a->received = cursor_u64(c);
	a->in_profiles = cursor_u64(c);
	for (uint32_t i = 0; i < SYMBOLIZER_LOSSES; i++)
		a->lost[i] = cursor_u64(c);
	a->profiles = cursor_u32(c);
	for (uint32_t i = 0; i < COLLECTOR_COUNTERS; i++)
		a->collector.value[i] = cursor_u64(c);
	return cursor_ok(c) ? NULL : "message ends inside the window's account";
}

/* The account's own law, checked at the door so that no later sum can go below zero. */
static const char *check_account(const struct window_account *a)
{
	uint64_t left = a->received;

	if (a->first_sample > a->end_sample)
		return "window covers a reversed range of samples";
	if (a->received > a->end_sample - a->first_sample)
		return "window received more samples than its range holds";
	if (a->in_profiles > left)
		return "window's profiles hold more samples than it received";
	left -= a->in_profiles;
	for (uint32_t i = 0; i < SYMBOLIZER_LOSSES; i++) {
		if (a->lost[i] > left)
			return "window lost more samples than it received";
		left -= a->lost[i];
	}
	return left ? "window does not say where all its samples went" : NULL;
}

static const char *decode_label(struct cursor *c, struct profile_label *l)
{
	l->name_len = cursor_u16(c);
	l->name = (const char *)cursor_bytes(c, l->name_len);
	l->value_len = cursor_u16(c);
	l->value = (const char *)cursor_bytes(c, l->value_len);
	if (!cursor_ok(c))
		return "message ends inside a label";
	if (l->name_len == 0 || l->name_len > PROFILE_LABEL_NAME_MAX ||
	    l->value_len > PROFILE_LABEL_VALUE_MAX)
		return "label is empty or too long";
	return NULL;
}

static const char *decode_pprof(struct cursor *c, struct profile_message *m)
{
	const char *wrong;

	m->index = cursor_u32(c);
	m->samples = cursor_u64(c);
	m->label_count = cursor_u32(c);
	if (!cursor_ok(c))
		return "message ends inside the profile's header";
	if (m->index >= m->account.profiles)
		return "profile's index is not below the window's number of profiles";
	if (m->samples > m->account.in_profiles)
		return "profile holds more samples than its window";
	if (m->label_count > PROFILE_LABELS_MAX)
		return "profile has too many labels";
	for (uint32_t i = 0; i < m->label_count; i++) {
		wrong = decode_label(c, &m->labels[i]);
		if (wrong)
			return wrong;
	}
	if (c->offset > PROFILE_HEADER_MAX)
		return "everything before the profile is too long";
	m->pprof_len = cursor_u32(c);
	m->pprof = cursor_bytes(c, m->pprof_len);
	return cursor_ok(c) ? NULL : "message ends inside the profile";
}

const char *profile_message_decode(const uint8_t *data, uint32_t len, struct profile_message *m)
{
	struct cursor c;
	const char *wrong;
	uint16_t type;

	if (len > PROFILE_MESSAGE_MAX)
		return "message is too long";
	memset(m, 0, sizeof(*m));
	c = cursor_over(data, len);
	if (cursor_u32(&c) != PROFILE_MAGIC)
		return "message does not begin with its magic number";
	if (cursor_u16(&c) != PROFILE_CHANNEL_VERSION)
		return "message has another version";
	type = cursor_u16(&c);
	if (type == 0 || type >= PROFILE_MESSAGE_TYPES)
		return "unknown message type";
	m->type = (enum profile_message_type)type;
	m->sequence = cursor_u64(&c);
	wrong = decode_account(&c, &m->account);
	if (!wrong)
		wrong = check_account(&m->account);
	if (!wrong && m->type == PROFILE_PPROF)
		wrong = decode_pprof(&c, m);
	if (wrong)
		return wrong;
	return cursor_finished(&c) ? NULL : "message does not end where its fields end";
}

const char *symbolizer_loss_name(enum symbolizer_loss l)
{
	static const char *const names[SYMBOLIZER_LOSSES] = {
		[SYMBOLIZER_LOSS_STACKS_FULL] = "stacks_full",
		[SYMBOLIZER_LOSS_BAD_BATCH] = "bad_batch",
		[SYMBOLIZER_LOSS_TOO_LARGE] = "profile_too_large",
		[SYMBOLIZER_LOSS_ENCODER] = "encoder_failed",
		[SYMBOLIZER_LOSS_UPLOADER_AWAY] = "uploader_away",
	};

	return (unsigned int)l < SYMBOLIZER_LOSSES ? names[l] : "unknown";
}
