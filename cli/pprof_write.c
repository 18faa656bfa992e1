// SPDX-License-Identifier: Apache-2.0
#include "cli/pprof_write.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define PLAIN_LEN   (32u * 1024)
#define PACKED_LEN  (32u * 1024)
#define GZIP_FORMAT (16 + MAX_WBITS)
/* Levels above 2 cost 40 to 90 % more time for 1 to 2 % of size on profiles. */
#define GZIP_LEVEL 2

/* Plain bytes collect in `plain`, are deflated when it is full, and go to the file. */
struct output {
	z_stream z;
	int fd;
	int error; /* 0, or the first -errno */
	uint32_t len;
	uint8_t plain[PLAIN_LEN];
	uint8_t packed[PACKED_LEN];
};

static void write_packed(struct output *o, const uint8_t *data, size_t len)
{
	while (len && !o->error) {
		ssize_t written = write(o->fd, data, len);

		if (written > 0) {
			data += written;
			len -= (size_t)written;
		} else if (errno != EINTR) {
			o->error = written < 0 ? -errno : -EIO;
		}
	}
}

static void deflate_plain(struct output *o, int flush)
{
	int result = Z_OK;

	o->z.next_in = o->plain;
	o->z.avail_in = o->len;
	o->len = 0;
	do {
		o->z.next_out = o->packed;
		o->z.avail_out = PACKED_LEN;
		result = deflate(&o->z, flush);
		if (result == Z_STREAM_ERROR && !o->error)
			o->error = -EIO;
		write_packed(o, o->packed, PACKED_LEN - o->z.avail_out);
	} while (!o->error && o->z.avail_out == 0);
}

static void put_bytes(struct output *o, const void *data, size_t len)
{
	const uint8_t *from = data;

	while (len) {
		size_t room = PLAIN_LEN - o->len;
		size_t n = len < room ? len : room;

		memcpy(o->plain + o->len, from, n);
		o->len += (uint32_t)n;
		from += n;
		len -= n;
		if (o->len == PLAIN_LEN)
			deflate_plain(o, Z_NO_FLUSH);
	}
}

/* -- protocol buffer encoding --------------------------------------------------------------------
 */

static uint32_t varint_len(uint64_t v)
{
	uint32_t len = 1;

	for (; v > 0x7f; v >>= 7)
		len++;
	return len;
}

static void put_varint(struct output *o, uint64_t v)
{
	uint8_t raw[10];
	uint32_t len = 0;

	for (; v > 0x7f; v >>= 7)
		raw[len++] = (uint8_t)(v | 0x80);
	raw[len++] = (uint8_t)v;
	put_bytes(o, raw, len);
}

/* All field numbers here are below 16: a tag is one byte. */
static uint32_t number_len(uint64_t v)
{
	return v ? 1 + varint_len(v) : 0;
}

/* proto3: a zero is not written. */
static void put_number(struct output *o, uint32_t field, uint64_t v)
{
	if (!v)
		return;
	put_varint(o, field << 3);
	put_varint(o, v);
}

/* Begins a field of `len` bytes. */
static void put_length(struct output *o, uint32_t field, uint64_t len)
{
	put_varint(o, field << 3 | 2);
	put_varint(o, len);
}

static uint64_t bytes_len(uint64_t len)
{
	return 1 + varint_len(len) + len;
}

/* -- messages ------------------------------------------------------------------------------------
 */

static void put_value_type(struct output *o, uint32_t field, const struct pprof_value_type *v)
{
	put_length(o, field, number_len(v->type) + number_len(v->unit));
	put_number(o, 1, v->type);
	put_number(o, 2, v->unit);
}

static uint64_t label_len(const struct pprof_label *l)
{
	return number_len(l->key) + number_len(l->str) + number_len((uint64_t)l->num) +
	       number_len(l->unit);
}

static void put_label(struct output *o, const struct pprof_label *l)
{
	put_length(o, 3, label_len(l));
	put_number(o, 1, l->key);
	put_number(o, 2, l->str);
	put_number(o, 3, (uint64_t)l->num);
	put_number(o, 4, l->unit);
}

static void put_sample(struct output *o, const struct pprof *p, uint32_t number)
{
	const struct pprof_sample *s = &p->samples.items[number];
	const int64_t *values =
		PPROF_RANGE(p->values, (size_t)number * p->sample_type_count, p->sample_type_count);
	const uint32_t *stack = PPROF_RANGE(p->stack, s->first_location, s->location_count);
	const struct pprof_label *labels = PPROF_RANGE(p->labels, s->first_label, s->label_count);
	uint64_t stack_len = 0;
	uint64_t values_len = 0;
	uint64_t len;

	for (uint32_t i = 0; i < s->location_count; i++)
		stack_len += varint_len(stack[i] + 1ull);
	for (uint32_t i = 0; i < p->sample_type_count; i++)
		values_len += varint_len((uint64_t)values[i]);
	len = (stack_len ? bytes_len(stack_len) : 0) + bytes_len(values_len);
	for (uint32_t i = 0; i < s->label_count; i++)
		len += bytes_len(label_len(&labels[i]));

	put_length(o, 2, len);
	if (stack_len)
		put_length(o, 1, stack_len);
	for (uint32_t i = 0; i < s->location_count; i++)
		put_varint(o, stack[i] + 1ull);
	put_length(o, 2, values_len);
	for (uint32_t i = 0; i < p->sample_type_count; i++)
		put_varint(o, (uint64_t)values[i]);
	for (uint32_t i = 0; i < s->label_count; i++)
		put_label(o, &labels[i]);
}

static void put_mapping(struct output *o, const struct pprof_mapping *m, uint64_t id)
{
	uint64_t len = number_len(id) + number_len(m->start) + number_len(m->limit) +
		       number_len(m->offset) + number_len(m->filename) + number_len(m->build_id) +
		       number_len(m->has_functions) + number_len(m->has_filenames) +
		       number_len(m->has_line_numbers) + number_len(m->has_inline_frames);

	put_length(o, 3, len);
	put_number(o, 1, id);
	put_number(o, 2, m->start);
	put_number(o, 3, m->limit);
	put_number(o, 4, m->offset);
	put_number(o, 5, m->filename);
	put_number(o, 6, m->build_id);
	put_number(o, 7, m->has_functions);
	put_number(o, 8, m->has_filenames);
	put_number(o, 9, m->has_line_numbers);
	put_number(o, 10, m->has_inline_frames);
}

static uint64_t line_len(const struct pprof_line *l)
{
	return number_len(l->function + 1ull) + number_len((uint64_t)l->line);
}

static void put_location(struct output *o, const struct pprof *p, uint32_t number)
{
	const struct pprof_location *l = &p->locations.items[number];
	const struct pprof_line *lines = PPROF_RANGE(p->lines, l->first_line, l->line_count);
	uint64_t mapping = l->mapping == PPROF_NONE ? 0 : l->mapping + 1ull;
	uint64_t len = number_len(number + 1ull) + number_len(mapping) + number_len(l->address) +
		       number_len(l->is_folded);

	for (uint32_t i = 0; i < l->line_count; i++)
		len += bytes_len(line_len(&lines[i]));
	put_length(o, 4, len);
	put_number(o, 1, number + 1ull);
	put_number(o, 2, mapping);
	put_number(o, 3, l->address);
	for (uint32_t i = 0; i < l->line_count; i++) {
		put_length(o, 4, line_len(&lines[i]));
		put_number(o, 1, lines[i].function + 1ull);
		put_number(o, 2, (uint64_t)lines[i].line);
	}
	put_number(o, 5, l->is_folded);
}

static void put_function(struct output *o, const struct pprof_function *f, uint64_t id)
{
	put_length(o, 5,
		   number_len(id) + number_len(f->name) + number_len(f->system_name) +
			   number_len(f->filename) + number_len((uint64_t)f->start_line));
	put_number(o, 1, id);
	put_number(o, 2, f->name);
	put_number(o, 3, f->system_name);
	put_number(o, 4, f->filename);
	put_number(o, 5, (uint64_t)f->start_line);
}

static void put_tables(struct output *o, const struct pprof *p)
{
	for (uint32_t i = 0; i < p->mappings.count; i++)
		put_mapping(o, &p->mappings.items[i], i + 1ull);
	for (uint32_t i = 0; i < p->locations.count; i++)
		put_location(o, p, i);
	for (uint32_t i = 0; i < p->functions.count; i++)
		put_function(o, &p->functions.items[i], i + 1ull);
	for (uint32_t i = 0; i < p->strings.count; i++) {
		put_length(o, 6, p->strings.items[i].len);
		put_bytes(o, p->strings.items[i].text, p->strings.items[i].len);
	}
}

static void put_profile(struct output *o, const struct pprof *p)
{
	for (uint32_t i = 0; i < p->sample_type_count; i++)
		put_value_type(o, 1, &p->sample_types[i]);
	for (uint32_t i = 0; i < p->samples.count && !o->error; i++)
		put_sample(o, p, i);
	put_tables(o, p);
	put_number(o, 7, p->drop_frames);
	put_number(o, 8, p->keep_frames);
	put_number(o, 9, (uint64_t)p->time);
	put_number(o, 10, (uint64_t)p->duration);
	put_value_type(o, 11, &p->period_type);
	put_number(o, 12, (uint64_t)p->period);
	for (uint32_t i = 0; i < p->comments.count; i++)
		put_number(o, 13, p->comments.items[i]);
	put_number(o, 14, p->default_sample_type);
}

int pprof_write(const struct pprof *p, int fd)
{
	struct output o = { .fd = fd };

	if (deflateInit2(&o.z, GZIP_LEVEL, Z_DEFLATED, GZIP_FORMAT, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	put_profile(&o, p);
	if (!o.error)
		deflate_plain(&o, Z_FINISH);
	deflateEnd(&o.z);
	return o.error;
}
