/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/sample_channel.h"

#include <stddef.h>

#define SAMPLE_HEADER_LEN ((uint32_t)sizeof(struct sample_record))

_Static_assert(sizeof(struct sample_record) == 88, "sample_record must have no padding");
_Static_assert(BELFRY_SAMPLE_MAX + RECORD_HEADER_LEN <= RECORD_MAX, "a sample must fit a record");
_Static_assert(RECORD_MAX + BATCH_HEADER_LEN <= BATCH_MAX, "a record must fit a batch");
_Static_assert(RECORD_PATH_MAX + 128 <= RECORD_MAX, "a path must fit a record");

/* What a record of each type may measure, its 8-byte header (u32 type, u32 length) left out. */
struct record_rule {
	uint32_t minimum;
	uint32_t maximum;
	const char *(*decode)(struct cursor *c, struct record *r);
};

void batch_header_encode(const struct batch_header *h, uint8_t *out)
{
	struct builder b = builder_over(out, BATCH_HEADER_LEN);

	builder_u32(&b, BATCH_MAGIC);
	builder_u32(&b, SAMPLE_CHANNEL_VERSION);
	builder_u64(&b, h->stream_id);
	builder_u64(&b, h->sequence);
	builder_u64(&b, h->first_sample);
	builder_u32(&b, h->samples);
	builder_u32(&b, h->records);
	builder_u32(&b, h->frequency);
	builder_u32(&b, 0);
}

const char *batch_open(const uint8_t *data, uint32_t len, struct batch_header *h,
		       struct cursor *body)
{
	struct cursor c;

	if (len > BATCH_MAX)
		return "batch is too long";
	c = cursor_over(data, len);
	if (cursor_u32(&c) != BATCH_MAGIC)
		return "batch does not begin with its magic number";
	if (cursor_u32(&c) != SAMPLE_CHANNEL_VERSION)
		return "batch has another version";
	h->stream_id = cursor_u64(&c);
	h->sequence = cursor_u64(&c);
	h->first_sample = cursor_u64(&c);
	h->samples = cursor_u32(&c);
	h->records = cursor_u32(&c);
	h->frequency = cursor_u32(&c);
	if (cursor_u32(&c) != 0)
		return "reserved field of the batch header is not zero";
	if (!cursor_ok(&c))
		return "batch is shorter than its header";
	if (h->samples > h->records || h->records > BATCH_MAX / RECORD_HEADER_LEN)
		return "batch announces more samples than records, or more records than fit";
	if (h->first_sample > UINT64_MAX - h->samples)
		return "sample number of the batch overflows";
	if (h->frequency == 0 || h->frequency > 1000000)
		return "sampling frequency of the batch is out of range";
	*body = c;
	return NULL;
}

static const char *decode_sample(struct cursor *c, struct record *r)
{
	struct sample_record *s = &r->sample.header;

	s->time = cursor_u64(c);
	s->start_time = cursor_u64(c);
	s->cgroup_id = cursor_u64(c);
	s->tgid = cursor_u32(c);
	s->tid = cursor_u32(c);
	s->cpu = cursor_u32(c);
	s->uid = cursor_u32(c);
	s->kernel_frames = cursor_u16(c);
	s->user_frames = cursor_u16(c);
	s->frames_by_table = cursor_u16(c);
	s->frames_by_frame_pointer = cursor_u16(c);
	s->frames_by_interpreter = cursor_u16(c);
	s->status = cursor_u8(c);
	s->flags = cursor_u8(c);
	s->reserved = cursor_u32(c);
	cursor_copy(c, s->comm, BELFRY_COMM_LEN);
	cursor_copy(c, s->process_comm, BELFRY_COMM_LEN);
	if (s->kernel_frames > BELFRY_KERNEL_FRAMES_MAX || s->user_frames > BELFRY_USER_FRAMES_MAX)
		return "sample has too many frames";
	if (s->status >= SAMPLE_STATUS_COUNT || (s->flags & ~SAMPLE_FLAGS_ALL) || s->reserved)
		return "sample has an unknown status or flag";
	r->sample.frames = cursor_bytes(c, 8u * ((uint32_t)s->kernel_frames + s->user_frames));
	return NULL;
}

static const char *decode_process(struct cursor *c, struct record *r)
{
	struct process_record *p = &r->process;

	p->time = cursor_u64(c);
	p->start_time = cursor_u64(c);
	p->cgroup_id = cursor_u64(c);
	p->tgid = cursor_u32(c);
	p->parent_tgid = cursor_u32(c);
	p->uid = cursor_u32(c);
	p->reason = cursor_u32(c);
	cursor_copy(c, p->comm, BELFRY_COMM_LEN);
	p->cgroup_len = cursor_u16(c);
	if (p->reason == 0 || p->reason >= PROCESS_REASONS)
		return "process record has an unknown reason";
	if (p->cgroup_len > RECORD_CGROUP_MAX)
		return "cgroup text is too long";
	p->cgroup = cursor_bytes(c, p->cgroup_len);
	return NULL;
}

static const char *decode_mapping(struct cursor *c, struct record *r)
{
	struct mapping_record *m = &r->mapping;

	m->time = cursor_u64(c);
	m->start_time = cursor_u64(c);
	m->start = cursor_u64(c);
	m->end = cursor_u64(c);
	m->offset = cursor_u64(c);
	m->file_id = cursor_u64(c);
	m->tgid = cursor_u32(c);
	m->kind = cursor_u32(c);
	m->path_len = cursor_u16(c);
	if (m->start >= m->end)
		return "mapping is empty or reversed";
	if (m->kind == 0 || m->kind >= MAPPING_KINDS)
		return "mapping has an unknown kind";
	if (m->path_len > RECORD_PATH_MAX)
		return "path of a mapping is too long";
	m->path = cursor_bytes(c, m->path_len);
	return NULL;
}

static const char *decode_exit(struct cursor *c, struct record *r)
{
	r->exit.time = cursor_u64(c);
	r->exit.start_time = cursor_u64(c);
	r->exit.tgid = cursor_u32(c);
	return NULL;
}

static const char *decode_counters(struct cursor *c, struct record *r)
{
	for (uint32_t i = 0; i < COLLECTOR_COUNTERS; i++)
		r->counters.value[i] = cursor_u64(c);
	return NULL;
}

static const char *decode_end(struct cursor *c, struct record *r)
{
	(void)c;
	(void)r;
	return NULL;
}

#define PROCESS_FIXED_LEN (3 * 8 + 4 * 4 + BELFRY_COMM_LEN + 2)
#define MAPPING_FIXED_LEN (6 * 8 + 2 * 4 + 2)
#define EXIT_LEN (2 * 8 + 4)
#define COUNTERS_LEN (8 * COLLECTOR_COUNTERS)

static const struct record_rule record_rules[RECORD_TYPES] = {
	[RECORD_SAMPLE] = { SAMPLE_HEADER_LEN, BELFRY_SAMPLE_MAX, decode_sample },
	[RECORD_PROCESS] = { PROCESS_FIXED_LEN, PROCESS_FIXED_LEN + RECORD_CGROUP_MAX,
			     decode_process },
	[RECORD_MAPPING] = { MAPPING_FIXED_LEN, MAPPING_FIXED_LEN + RECORD_PATH_MAX,
			     decode_mapping },
	[RECORD_EXIT] = { EXIT_LEN, EXIT_LEN, decode_exit },
	[RECORD_COUNTERS] = { COUNTERS_LEN, COUNTERS_LEN, decode_counters },
	[RECORD_END] = { 0, 0, decode_end },
};

const char *record_decode(struct cursor *body, struct record *r)
{
	const struct record_rule *rule;
	struct cursor fields;
	const uint8_t *bytes;
	const char *wrong;
	uint32_t type, len;

	*r = (struct record){ 0 };
	if (cursor_finished(body))
		return NULL;
	type = cursor_u32(body);
	len = cursor_u32(body);
	if (!cursor_ok(body))
		return "batch ends inside a record header";
	if (type == 0 || type >= RECORD_TYPES)
		return "unknown record type";
	rule = &record_rules[type];
	if (len < rule->minimum || len > rule->maximum)
		return "record has the wrong length";
	bytes = cursor_bytes(body, len);
	if (!bytes)
		return "batch ends inside a record";
	fields = cursor_over(bytes, len);
	wrong = rule->decode(&fields, r);
	if (wrong)
		return wrong;
	if (!cursor_finished(&fields))
		return "record does not end where its fields end";
	r->type = (enum record_type)type;
	return NULL;
}

static void record_begin(struct builder *b, enum record_type type, uint32_t len)
{
	builder_u32(b, type);
	builder_u32(b, len);
}

void record_encode_sample(struct builder *b, const struct sample_record *s, const void *frames)
{
	uint32_t frames_len = 8u * ((uint32_t)s->kernel_frames + s->user_frames);

	record_begin(b, RECORD_SAMPLE, SAMPLE_HEADER_LEN + frames_len);
	builder_u64(b, s->time);
	builder_u64(b, s->start_time);
	builder_u64(b, s->cgroup_id);
	builder_u32(b, s->tgid);
	builder_u32(b, s->tid);
	builder_u32(b, s->cpu);
	builder_u32(b, s->uid);
	builder_u16(b, s->kernel_frames);
	builder_u16(b, s->user_frames);
	builder_u16(b, s->frames_by_table);
	builder_u16(b, s->frames_by_frame_pointer);
	builder_u16(b, s->frames_by_interpreter);
	builder_u8(b, s->status);
	builder_u8(b, s->flags);
	builder_u32(b, 0);
	builder_bytes(b, s->comm, BELFRY_COMM_LEN);
	builder_bytes(b, s->process_comm, BELFRY_COMM_LEN);
	builder_bytes(b, frames, frames_len);
}

void record_encode_process(struct builder *b, const struct process_record *p)
{
	uint16_t cgroup_len = p->cgroup_len < RECORD_CGROUP_MAX ? p->cgroup_len : RECORD_CGROUP_MAX;

	record_begin(b, RECORD_PROCESS, PROCESS_FIXED_LEN + cgroup_len);
	builder_u64(b, p->time);
	builder_u64(b, p->start_time);
	builder_u64(b, p->cgroup_id);
	builder_u32(b, p->tgid);
	builder_u32(b, p->parent_tgid);
	builder_u32(b, p->uid);
	builder_u32(b, p->reason);
	builder_bytes(b, p->comm, BELFRY_COMM_LEN);
	builder_u16(b, cgroup_len);
	builder_bytes(b, p->cgroup, cgroup_len);
}

void record_encode_mapping(struct builder *b, const struct mapping_record *m)
{
	uint16_t path_len = m->path_len < RECORD_PATH_MAX ? m->path_len : RECORD_PATH_MAX;

	record_begin(b, RECORD_MAPPING, MAPPING_FIXED_LEN + path_len);
	builder_u64(b, m->time);
	builder_u64(b, m->start_time);
	builder_u64(b, m->start);
	builder_u64(b, m->end);
	builder_u64(b, m->offset);
	builder_u64(b, m->file_id);
	builder_u32(b, m->tgid);
	builder_u32(b, m->kind);
	builder_u16(b, path_len);
	builder_bytes(b, m->path, path_len);
}

void record_encode_exit(struct builder *b, const struct exit_record *e)
{
	record_begin(b, RECORD_EXIT, EXIT_LEN);
	builder_u64(b, e->time);
	builder_u64(b, e->start_time);
	builder_u32(b, e->tgid);
}

void record_encode_counters(struct builder *b, const struct counters_record *c)
{
	record_begin(b, RECORD_COUNTERS, COUNTERS_LEN);
	for (uint32_t i = 0; i < COLLECTOR_COUNTERS; i++)
		builder_u64(b, c->value[i]);
}

void record_encode_end(struct builder *b)
{
	record_begin(b, RECORD_END, 0);
}

const char *collector_counter_name(enum collector_counter c)
{
	static const char *const names[COLLECTOR_COUNTERS] = {
		[COLLECTOR_TAKEN] = "taken",
		[COLLECTOR_RING_FULL] = "ring_full",
		[COLLECTOR_QUEUE_FULL] = "queue_full",
		[COLLECTOR_INVALID] = "invalid",
		[COLLECTOR_SENT] = "sent",
		[COLLECTOR_HELD] = "held",
		[COLLECTOR_EVENTS] = "events",
		[COLLECTOR_IDLE] = "idle",
		[COLLECTOR_AGENT] = "agent",
		[COLLECTOR_FILTERED] = "filtered",
		[COLLECTOR_FILES_SENT] = "files_sent",
		[COLLECTOR_FILES_REFUSED] = "files_refused",
		[COLLECTOR_FILES_FAILED] = "files_failed",
		[COLLECTOR_FILES_DEFERRED] = "files_deferred",
		[COLLECTOR_SIDEBAND_LOST] = "sideband_lost",
		[COLLECTOR_SIDEBAND_BAD] = "sideband_bad",
		[COLLECTOR_PROCESSES] = "processes",
		[COLLECTOR_PROCESSES_GONE] = "processes_gone",
		[COLLECTOR_PEER_REFUSED] = "peer_refused",
	};

	return (unsigned int)c < COLLECTOR_COUNTERS ? names[c] : "unknown";
}
