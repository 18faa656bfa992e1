// SPDX-License-Identifier: Apache-2.0
#include "cli/pprof_read.h"

#include <stdlib.h>

#include "cli/gzip_read.h"
#include "ipc/index_table.h"
#include "cli/pprof_reader.h"
#include "cli/protobuf_field.h"

/* Field numbers of profile.proto (google/pprof, proto/profile.proto). */
enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_DROP_FRAMES = 7,
	PROFILE_KEEP_FRAMES = 8,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};

const char pprof_no_memory[] = "the profile needs more memory than the limit";
static const char bad_wire[] = "not a profile: the protocol buffer encoding is broken";

void reader_fail(struct reader *r, const char *problem)
{
	if (!r->problem)
		r->problem = problem;
}

void reader_check(struct reader *r, bool ok)
{
	if (!ok)
		reader_fail(r, pprof_no_memory);
}

/* A string reference; that it is in range is checked when the table is complete. */
static uint32_t string_reference(struct reader *r, const struct protobuf_field *f)
{
	if (f->type != PROTOBUF_VARINT || f->value >= PPROF_NONE) {
		reader_fail(r, "a string reference is out of range");
		return 0;
	}
	return (uint32_t)f->value;
}

static uint64_t number(struct reader *r, const struct protobuf_field *f)
{
	if (f->type != PROTOBUF_VARINT)
		reader_fail(r, bad_wire);
	return f->value;
}

/* Contents of a field that must be a message or a string. */
static struct cursor contents(struct reader *r, const struct protobuf_field *f)
{
	if (f->type == PROTOBUF_BYTES)
		return f->bytes;
	reader_fail(r, bad_wire);
	return cursor_over("", 0);
}

/* The end of each message: a cursor that went bad is a broken file. */
static void message_end(struct reader *r, const struct cursor *c)
{
	if (!cursor_ok(c))
		reader_fail(r, bad_wire);
}

static struct pprof_value_type read_value_type(struct reader *r, struct cursor c)
{
	struct pprof_value_type v = { 0 };
	struct protobuf_field f;

	while (!r->problem && protobuf_next(&c, &f)) {
		if (f.number == 1)
			v.type = string_reference(r, &f);
		else if (f.number == 2)
			v.unit = string_reference(r, &f);
	}
	message_end(r, &c);
	return v;
}

static void read_sample_type(struct reader *r, struct cursor c)
{
	if (r->p->sample_type_count == PPROF_SAMPLE_TYPES_MAX) {
		reader_fail(r, "the profile has more than 64 sample types");
		return;
	}
	r->p->sample_types[r->p->sample_type_count++] = read_value_type(r, c);
}

static void read_label(struct reader *r, struct cursor c)
{
	struct pprof_label l = { 0 };
	struct protobuf_field f;

	while (!r->problem && protobuf_next(&c, &f)) {
		if (f.number == 1)
			l.key = string_reference(r, &f);
		else if (f.number == 2)
			l.str = string_reference(r, &f);
		else if (f.number == 3)
			l.num = (int64_t)number(r, &f);
		else if (f.number == 4)
			l.unit = string_reference(r, &f);
	}
	message_end(r, &c);
	reader_check(r, PPROF_APPEND(r->p, labels, l));
}

static void append_location_id(struct reader *r, uint64_t id)
{
	READER_APPEND(r, stack_ids, id);
}

static void append_value(struct reader *r, uint64_t value)
{
	reader_check(r, PPROF_APPEND(r->p, values, (int64_t)value));
}

/* A repeated integer: packed, as encoders write it today, or one field an element. */
static void read_repeated(struct reader *r, const struct protobuf_field *f,
			  void (*append)(struct reader *, uint64_t))
{
	struct cursor packed = f->bytes;

	if (f->type == PROTOBUF_VARINT) {
		append(r, f->value);
		return;
	}
	if (f->type != PROTOBUF_BYTES) {
		reader_fail(r, bad_wire);
		return;
	}
	while (!r->problem && cursor_ok(&packed) && cursor_left(&packed)) {
		uint64_t value = protobuf_varint(&packed);

		if (cursor_ok(&packed))
			append(r, value);
	}
	message_end(r, &packed);
}

static void read_sample(struct reader *r, struct cursor c)
{
	struct pprof_sample s = { .first_location = r->stack_ids.count,
				  .first_label = r->p->labels.count };
	uint32_t first_value = r->p->values.count;
	struct protobuf_field f;

	while (!r->problem && protobuf_next(&c, &f)) {
		if (f.number == 1)
			read_repeated(r, &f, append_location_id);
		else if (f.number == 2)
			read_repeated(r, &f, append_value);
		else if (f.number == 3)
			read_label(r, contents(r, &f));
	}
	message_end(r, &c);
	s.location_count = r->stack_ids.count - s.first_location;
	s.label_count = r->p->labels.count - s.first_label;
	if (!r->p->samples.count)
		r->sample_values = r->p->values.count;
	if (r->p->values.count - first_value != r->sample_values)
		reader_fail(r,
			    "a sample's number of values differs from the number of sample types");
	reader_check(r, PPROF_APPEND(r->p, samples, s));
}

static void read_mapping(struct reader *r, struct cursor c)
{
	struct pprof_mapping m = { 0 };
	struct protobuf_field f;
	uint64_t id = 0;

	while (!r->problem && protobuf_next(&c, &f)) {
		switch (f.number) {
		case 1:
			id = number(r, &f);
			break;
		case 2:
			m.start = number(r, &f);
			break;
		case 3:
			m.limit = number(r, &f);
			break;
		case 4:
			m.offset = number(r, &f);
			break;
		case 5:
			m.filename = string_reference(r, &f);
			break;
		case 6:
			m.build_id = string_reference(r, &f);
			break;
		case 7:
			m.has_functions = number(r, &f);
			break;
		case 8:
			m.has_filenames = number(r, &f);
			break;
		case 9:
			m.has_line_numbers = number(r, &f);
			break;
		case 10:
			m.has_inline_frames = number(r, &f);
			break;
		}
	}
	message_end(r, &c);
	READER_APPEND(r, mapping_ids, id);
	reader_check(r, PPROF_APPEND(r->p, mappings, m));
}

static void read_function(struct reader *r, struct cursor c)
{
	struct pprof_function fn = { 0 };
	struct protobuf_field f;
	uint64_t id = 0;

	while (!r->problem && protobuf_next(&c, &f)) {
		switch (f.number) {
		case 1:
			id = number(r, &f);
			break;
		case 2:
			fn.name = string_reference(r, &f);
			break;
		case 3:
			fn.system_name = string_reference(r, &f);
			break;
		case 4:
			fn.filename = string_reference(r, &f);
			break;
		case 5:
			fn.start_line = (int64_t)number(r, &f);
			break;
		}
	}
	message_end(r, &c);
	READER_APPEND(r, function_ids, id);
	reader_check(r, PPROF_APPEND(r->p, functions, fn));
}

static void read_line(struct reader *r, struct cursor c)
{
	struct pprof_line l = { 0 };
	struct protobuf_field f;
	uint64_t function = 0;

	while (!r->problem && protobuf_next(&c, &f)) {
		if (f.number == 1)
			function = number(r, &f);
		else if (f.number == 2)
			l.line = (int64_t)number(r, &f);
	}
	message_end(r, &c);
	READER_APPEND(r, line_functions, function);
	reader_check(r, PPROF_APPEND(r->p, lines, l));
}

static void read_location(struct reader *r, struct cursor c)
{
	struct pprof_location l = { .first_line = r->p->lines.count };
	struct protobuf_field f;
	uint64_t mapping = 0;
	uint64_t id = 0;

	while (!r->problem && protobuf_next(&c, &f)) {
		switch (f.number) {
		case 1:
			id = number(r, &f);
			break;
		case 2:
			mapping = number(r, &f);
			break;
		case 3:
			l.address = number(r, &f);
			break;
		case 4:
			read_line(r, contents(r, &f));
			break;
		case 5:
			l.is_folded = number(r, &f);
			break;
		}
	}
	message_end(r, &c);
	l.line_count = r->p->lines.count - l.first_line;
	READER_APPEND(r, location_ids, id);
	READER_APPEND(r, location_mappings, mapping);
	reader_check(r, PPROF_APPEND(r->p, locations, l));
}

static void read_string(struct reader *r, struct cursor c)
{
	struct pprof_string s = { .text = (const char *)cursor_bytes(&c, c.len), .len = c.len };

	if (!r->p->strings.count && s.len)
		reader_fail(r, "not a profile: the first string of its table is not empty");
	reader_check(r, PPROF_APPEND(r->p, strings, s));
}

static void append_comment(struct reader *r, uint64_t string)
{
	if (string >= PPROF_NONE)
		reader_fail(r, "a comment's string reference is out of range");
	else
		reader_check(r, PPROF_APPEND(r->p, comments, (uint32_t)string));
}

/* time_nanos: twice means two profiles back to back, which no reader can tell apart again. */
static void read_time(struct reader *r, const struct protobuf_field *f)
{
	if (r->p->time)
		reader_fail(r, "the file holds two profiles back to back");
	r->p->time = (int64_t)number(r, f);
}

static void read_profile_field(struct reader *r, const struct protobuf_field *f)
{
	struct pprof *p = r->p;

	switch (f->number) {
	case PROFILE_SAMPLE_TYPE:
		read_sample_type(r, contents(r, f));
		break;
	case PROFILE_SAMPLE:
		read_sample(r, contents(r, f));
		break;
	case PROFILE_MAPPING:
		read_mapping(r, contents(r, f));
		break;
	case PROFILE_LOCATION:
		read_location(r, contents(r, f));
		break;
	case PROFILE_FUNCTION:
		read_function(r, contents(r, f));
		break;
	case PROFILE_STRING_TABLE:
		read_string(r, contents(r, f));
		break;
	case PROFILE_DROP_FRAMES:
		p->drop_frames = string_reference(r, f);
		break;
	case PROFILE_KEEP_FRAMES:
		p->keep_frames = string_reference(r, f);
		break;
	case PROFILE_TIME_NANOS:
		read_time(r, f);
		break;
	case PROFILE_DURATION_NANOS:
		p->duration = (int64_t)number(r, f);
		break;
	case PROFILE_PERIOD_TYPE:
		p->period_type = read_value_type(r, contents(r, f));
		break;
	case PROFILE_PERIOD:
		p->period = (int64_t)number(r, f);
		break;
	case PROFILE_COMMENT:
		read_repeated(r, f, append_comment);
		break;
	case PROFILE_DEFAULT_SAMPLE_TYPE:
		p->default_sample_type = string_reference(r, f);
		break;
	}
}

static void reader_free(struct reader *r)
{
	free(r->mapping_ids.items);
	free(r->function_ids.items);
	free(r->location_ids.items);
	free(r->location_mappings.items);
	free(r->line_functions.items);
	free(r->stack_ids.items);
}

static const char *read_message(struct pprof *p, const uint8_t *data, uint32_t len)
{
	struct reader r = { .p = p, .seed = hash_seed() };
	struct cursor c = cursor_over(data, len);
	struct protobuf_field f;

	while (!r.problem && protobuf_next(&c, &f))
		read_profile_field(&r, &f);
	message_end(&r, &c);
	if (!r.problem)
		reader_resolve(&r);
	reader_free(&r);
	return r.problem;
}

const char *pprof_read(struct pprof *p, const uint8_t *data, uint32_t len)
{
	const char *problem;
	uint8_t *inflated;

	pprof_init(p);
	if (gzip_recognise(data, len)) {
		problem = gzip_read(data, len, PPROF_INFLATED_MAX, &inflated, &len);
		if (problem)
			return problem;
		if (!arena_adopt(&p->arena, inflated, len)) {
			free(inflated);
			return pprof_no_memory;
		}
		data = inflated;
	}
	problem = read_message(p, data, len);
	if (problem)
		pprof_free(p);
	return problem;
}
