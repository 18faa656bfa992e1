/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/pprof.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "ipc/index_table.h"

#define RAW_BYTES (64 * 1024)   /* what is collected before it is compressed */
#define FIRST_OUTPUT (16 * 1024)
#define GZIP_WINDOW (15 + 16)   /* zlib: largest window, gzip framing */
#define GZIP_LEVEL 1            /* a profile's size hardly depends on it, the time does */
#define TEXT_MAX (32u << 20)    /* bytes of all strings: names compress well, so that the limit on the output does not bound them */
#define MESSAGE_MAX 64          /* a message of numbers only, as encoded here */

/* Field numbers of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};

/* A string that was written: where its copy lies, for comparison. */
struct written_string {
	uint32_t offset;
	uint32_t len;
};

struct written_function {
	uint32_t name;
	uint32_t system_name;
	uint32_t file;
};

struct pprof_encoder {
	enum pprof_result result;
	size_t limit;
	uint64_t seed;
	uint64_t period;

	z_stream stream;
	uint8_t *raw;
	size_t raw_len;
	uint8_t *output;
	size_t output_size;

	struct index_table string_table;
	struct written_string *strings;
	uint32_t string_count;
	uint32_t string_room;
	char *text;
	uint32_t text_len;
	uint32_t text_room;

	struct index_table function_table;
	struct written_function *functions;
	uint32_t function_count;
	uint32_t function_room;

	uint64_t mappings;
	uint64_t locations;
};

static void give_up(struct pprof_encoder *p, enum pprof_result why)
{
	if (p->result == PPROF_DONE)
		p->result = why;
}

/* Doubles an array when it is full. `items` is the array's pointer. */
static bool make_room(struct pprof_encoder *p, void **items, uint32_t need, uint32_t *room, size_t size)
{
	uint64_t more = *room ? *room : 64;
	void *grown;

	if (need <= *room)
		return true;
	while (more < need)
		more *= 2;
	grown = more <= UINT32_MAX / size ? realloc(*items, (size_t)more * size) : NULL;
	if (!grown) {
		give_up(p, PPROF_NO_MEMORY);
		return false;
	}
	*items = grown;
	*room = (uint32_t)more;
	return true;
}

/* ---- output: raw bytes -> gzip -------------------------------------------------------------------- */

static bool grow_output(struct pprof_encoder *p)
{
	size_t size = p->output_size * 2 < p->limit ? p->output_size * 2 : p->limit;
	uint8_t *grown;

	if (size == p->output_size) {
		give_up(p, PPROF_TOO_LARGE);
		return false;
	}
	grown = realloc(p->output, size);
	if (!grown) {
		give_up(p, PPROF_NO_MEMORY);
		return false;
	}
	p->output = grown;
	p->stream.next_out = p->output + p->output_size;
	p->stream.avail_out = (uInt)(size - p->output_size);
	p->output_size = size;
	return true;
}

static void compress_raw(struct pprof_encoder *p, int flush)
{
	p->stream.next_in = p->raw;
	p->stream.avail_in = (uInt)p->raw_len;
	p->raw_len = 0;
	while (p->result == PPROF_DONE) {
		int state = deflate(&p->stream, flush);

		if (state == Z_STREAM_END || (flush == Z_NO_FLUSH && p->stream.avail_out > 0))
			return;
		if (state != Z_OK && state != Z_BUF_ERROR)
			give_up(p, PPROF_NO_MEMORY);
		else if (p->stream.avail_out == 0)
			grow_output(p);
	}
}

static void append(struct pprof_encoder *p, const void *bytes, size_t len)
{
	const uint8_t *from = bytes;

	while (len > 0 && p->result == PPROF_DONE) {
		size_t part = RAW_BYTES - p->raw_len < len ? RAW_BYTES - p->raw_len : len;

		memcpy(p->raw + p->raw_len, from, part);
		p->raw_len += part;
		from += part;
		len -= part;
		if (p->raw_len == RAW_BYTES)
			compress_raw(p, Z_NO_FLUSH);
	}
}

/* ---- protobuf wire format ------------------------------------------------------------------------- */

static size_t put_varint(uint8_t *out, uint64_t value)
{
	size_t len = 0;

	while (value >= 0x80) {
		out[len++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	out[len++] = (uint8_t)value;
	return len;
}

static size_t varint_len(uint64_t value)
{
	size_t len = 1;

	for (; value >= 0x80; value >>= 7)
		len++;
	return len;
}

/* A number field; 0 is what an absent one means. */
static size_t put_number(uint8_t *out, uint32_t field, uint64_t value)
{
	size_t len;

	if (value == 0)
		return 0;
	len = put_varint(out, field << 3);
	return len + put_varint(out + len, value);
}

static void append_varint(struct pprof_encoder *p, uint64_t value)
{
	uint8_t out[10];

	append(p, out, put_varint(out, value));
}

static void append_number(struct pprof_encoder *p, uint32_t field, uint64_t value)
{
	uint8_t out[20];

	append(p, out, put_number(out, field, value));
}

static void append_header(struct pprof_encoder *p, uint32_t field, uint64_t len)
{
	append_varint(p, field << 3 | 2);
	append_varint(p, len);
}

static void append_message(struct pprof_encoder *p, uint32_t field, const uint8_t *message, size_t len)
{
	append_header(p, field, len);
	append(p, message, len);
}

/* ---- strings and functions, written once each ----------------------------------------------------- */

struct string_key {
	const struct pprof_encoder *p;
	const char *text;
	uint32_t len;
};

static bool string_equal(const void *key, uint32_t index)
{
	const struct string_key *k = key;
	const struct written_string *s = &k->p->strings[index];

	return s->len == k->len && memcmp(k->p->text + s->offset, k->text, k->len) == 0;
}

static uint32_t string_id(struct pprof_encoder *p, const char *text)
{
	struct string_key key = { p, text, (uint32_t)strlen(text) };
	uint64_t hash = hash_bytes(p->seed, text, key.len);
	uint32_t found = index_table_find(&p->string_table, hash, string_equal, &key);

	if (found != INDEX_NONE)
		return found;
	if (key.len > TEXT_MAX - p->text_len)
		give_up(p, PPROF_TOO_LARGE);
	if (p->result != PPROF_DONE)
		return 0;
	if (!make_room(p, (void **)&p->strings, p->string_count + 1, &p->string_room,
		       sizeof(*p->strings)) ||
	    !make_room(p, (void **)&p->text, p->text_len + key.len, &p->text_room, 1))
		return 0;
	if (!index_table_add(&p->string_table, hash, p->string_count)) {
		give_up(p, PPROF_NO_MEMORY);
		return 0;
	}
	if (key.len) /* the empty string comes first, when there is no room yet */
		memcpy(p->text + p->text_len, text, key.len);
	p->strings[p->string_count] = (struct written_string){ p->text_len, key.len };
	p->text_len += key.len;
	append_header(p, PROFILE_STRING_TABLE, key.len);
	append(p, text, key.len);
	return p->string_count++;
}

struct function_key {
	const struct pprof_encoder *p;
	struct written_function f;
};

static bool function_equal(const void *key, uint32_t index)
{
	const struct function_key *k = key;
	const struct written_function *f = &k->p->functions[index];

	return f->name == k->f.name && f->system_name == k->f.system_name && f->file == k->f.file;
}

uint64_t encoder_function(struct pprof_encoder *p, const char *name, const char *system_name, const char *file)
{
	struct function_key key = { p, { string_id(p, name), string_id(p, system_name), string_id(p, file) } };
	uint64_t hash = hash_number(hash_number(p->seed, (uint64_t)key.f.name << 32 | key.f.system_name),
				    key.f.file);
	uint32_t found = index_table_find(&p->function_table, hash, function_equal, &key);
	uint8_t message[MESSAGE_MAX];
	size_t len;

	if (found != INDEX_NONE)
		return found + 1;
	if (p->result != PPROF_DONE ||
	    !make_room(p, (void **)&p->functions, p->function_count + 1, &p->function_room,
		       sizeof(*p->functions)))
		return 0;
	if (!index_table_add(&p->function_table, hash, p->function_count)) {
		give_up(p, PPROF_NO_MEMORY);
		return 0;
	}
	p->functions[p->function_count++] = key.f;
	len = put_number(message, 1, p->function_count);
	len += put_number(message + len, 2, key.f.name);
	len += put_number(message + len, 3, key.f.system_name);
	len += put_number(message + len, 4, key.f.file);
	append_message(p, PROFILE_FUNCTION, message, len);
	return p->function_count;
}

/* ---- the rest ------------------------------------------------------------------------------------- */

static void append_value_type(struct pprof_encoder *p, uint32_t field, const char *type, const char *unit)
{
	uint8_t message[MESSAGE_MAX];
	size_t len = put_number(message, 1, string_id(p, type));

	len += put_number(message + len, 2, string_id(p, unit));
	append_message(p, field, message, len);
}

struct pprof_encoder *encoder_new(const struct pprof_header *h, size_t limit)
{
	struct pprof_encoder *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->limit = limit;
	p->seed = hash_seed();
	p->period = h->period;
	p->output_size = FIRST_OUTPUT < limit ? FIRST_OUTPUT : limit;
	p->raw = malloc(RAW_BYTES);
	p->output = malloc(p->output_size);
	if (!p->raw || !p->output ||
	    deflateInit2(&p->stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(p->raw);
		free(p->output);
		free(p);
		return NULL;
	}
	p->stream.next_out = p->output;
	p->stream.avail_out = (uInt)p->output_size;
	string_id(p, ""); /* string 0 */
	append_value_type(p, PROFILE_SAMPLE_TYPE, "samples", "count");
	append_value_type(p, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
	append_value_type(p, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
	append_number(p, PROFILE_PERIOD, h->period);
	append_number(p, PROFILE_TIME_NANOS, h->time);
	append_number(p, PROFILE_DURATION_NANOS, h->duration);
	append_number(p, PROFILE_DEFAULT_SAMPLE_TYPE, string_id(p, "cpu"));
	return p;
}

uint64_t encoder_mapping(struct pprof_encoder *p, const struct pprof_mapping *m)
{
	uint8_t message[MESSAGE_MAX + 16];
	size_t len = put_number(message, 1, ++p->mappings);

	len += put_number(message + len, 2, m->start);
	len += put_number(message + len, 3, m->limit);
	len += put_number(message + len, 4, m->offset);
	len += put_number(message + len, 5, string_id(p, m->file));
	len += put_number(message + len, 6, string_id(p, m->build_id));
	len += put_number(message + len, 7, m->has_functions);
	append_message(p, PROFILE_MAPPING, message, len);
	return p->result == PPROF_DONE ? p->mappings : 0;
}

uint64_t encoder_location(struct pprof_encoder *p, uint64_t mapping_id, uint64_t address, uint64_t function_id)
{
	uint8_t message[MESSAGE_MAX], line[MESSAGE_MAX];
	size_t line_len = put_number(line, 1, function_id);
	size_t len = put_number(message, 1, ++p->locations);

	len += put_number(message + len, 2, mapping_id);
	len += put_number(message + len, 3, address);
	if (function_id) {
		len += put_varint(message + len, 4 << 3 | 2);
		len += put_varint(message + len, line_len);
		memcpy(message + len, line, line_len);
		len += line_len;
	}
	append_message(p, PROFILE_LOCATION, message, len);
	return p->result == PPROF_DONE ? p->locations : 0;
}

void encoder_sample(struct pprof_encoder *p, const uint64_t *location_ids, uint32_t count, uint64_t samples,
		  uint32_t thread_id, const char *thread_name)
{
	uint8_t tail[2 * MESSAGE_MAX], label[MESSAGE_MAX], values[20];
	size_t values_len = put_varint(values, samples);
	size_t ids_len = 0, label_len, tail_len;

	values_len += put_varint(values + values_len, samples * p->period);
	tail_len = put_varint(tail, 2 << 3 | 2);
	tail_len += put_varint(tail + tail_len, values_len);
	memcpy(tail + tail_len, values, values_len);
	tail_len += values_len;
	/* The unit keeps a thread id of 0 from being taken for an empty label. */
	label_len = put_number(label, 1, string_id(p, "thread_id"));
	label_len += put_number(label + label_len, 3, thread_id);
	label_len += put_number(label + label_len, 4, string_id(p, "id"));
	tail_len += put_varint(tail + tail_len, 3 << 3 | 2);
	tail_len += put_varint(tail + tail_len, label_len);
	memcpy(tail + tail_len, label, label_len);
	tail_len += label_len;
	if (*thread_name) {
		label_len = put_number(label, 1, string_id(p, "thread_name"));
		label_len += put_number(label + label_len, 2, string_id(p, thread_name));
		tail_len += put_varint(tail + tail_len, 3 << 3 | 2);
		tail_len += put_varint(tail + tail_len, label_len);
		memcpy(tail + tail_len, label, label_len);
		tail_len += label_len;
	}
	for (uint32_t i = 0; i < count; i++)
		ids_len += varint_len(location_ids[i]);
	append_header(p, PROFILE_SAMPLE, (count ? 1 + varint_len(ids_len) + ids_len : 0) + tail_len);
	if (count)
		append_header(p, 1, ids_len);
	for (uint32_t i = 0; i < count; i++)
		append_varint(p, location_ids[i]);
	append(p, tail, tail_len);
}

void encoder_comment(struct pprof_encoder *p, const char *text)
{
	append_number(p, PROFILE_COMMENT, string_id(p, text));
}

/* All but the result: a window has thousands of finished profiles, and each of these is some 100 KiB. */
static void free_tools(struct pprof_encoder *p)
{
	deflateEnd(&p->stream);
	index_table_free(&p->string_table);
	index_table_free(&p->function_table);
	free(p->strings);
	free(p->functions);
	free(p->text);
	free(p->raw);
	p->strings = NULL;
	p->functions = NULL;
	p->text = NULL;
	p->raw = NULL;
}

enum pprof_result encoder_finish(struct pprof_encoder *p, const uint8_t **data, size_t *len)
{
	uint8_t *shrunk;

	compress_raw(p, Z_FINISH);
	*len = p->output_size - p->stream.avail_out;
	free_tools(p);
	shrunk = realloc(p->output, *len ? *len : 1);
	if (shrunk)
		p->output = shrunk;
	*data = p->output;
	return p->result;
}

void encoder_free(struct pprof_encoder *p)
{
	if (!p)
		return;
	free_tools(p);
	free(p->output);
	free(p);
}
