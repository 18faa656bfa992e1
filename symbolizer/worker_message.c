/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/worker_message.h"

#include <string.h>

#define REQUEST_MAGIC	 0x51575242u /* "BRWQ" */
#define REQUEST_IDENTIFY 1u

#define NAME_HAS_ADDRESS 1u
#define NAME_HAS_SYMBOL	 2u
#define NAME_SAME	 4u /* the system name is the name */
#define NAME_FLAGS	 (NAME_HAS_ADDRESS | NAME_HAS_SYMBOL | NAME_SAME)

void worker_request_encode(struct builder *b, const struct worker_request *r)
{
	builder_u32(b, REQUEST_MAGIC);
	builder_u32(b, r->identify ? REQUEST_IDENTIFY : 0);
	builder_u64(b, r->file_size);
	builder_u32(b, r->count);
	builder_u32(b, 0);
	for (uint32_t i = 0; i < r->count; i++)
		builder_u64(b, r->offsets[i]);
}

const char *worker_request_decode(const uint8_t *data, uint32_t len, struct worker_request *r)
{
	struct cursor c = cursor_over(data, len);
	uint32_t flags;

	if (cursor_u32(&c) != REQUEST_MAGIC)
		return "request has another magic";
	flags = cursor_u32(&c);
	r->identify = flags & REQUEST_IDENTIFY;
	r->file_size = cursor_u64(&c);
	r->count = cursor_u32(&c);
	cursor_skip(&c, 4);
	if (flags & ~REQUEST_IDENTIFY)
		return "request has unknown flags";
	if (r->count > WORKER_OFFSETS_MAX)
		return "request asks for too many offsets";
	for (uint32_t i = 0; i < r->count; i++)
		r->offsets[i] = cursor_u64(&c);
	return cursor_finished(&c) ? NULL : "request has a wrong length";
}

static void begin(struct builder *b, enum worker_packet_type type, uint32_t count)
{
	builder_u32(b, type);
	builder_u32(b, count);
}

static void add_text(struct builder *b, const char *text, uint32_t len)
{
	builder_u16(b, (uint16_t)len);
	builder_bytes(b, text, len);
}

void worker_file_encode(struct builder *b, const struct worker_file *f)
{
	begin(b, WORKER_FILE, 0);
	builder_u32(b, f->status);
	builder_u32(b, f->parts);
	add_text(b, f->build_id, (uint32_t)strnlen(f->build_id, WORKER_BUILD_ID_MAX));
	add_text(b, f->detail, (uint32_t)strnlen(f->detail, WORKER_DETAIL_MAX));
}

void worker_bare_encode(struct builder *b, enum worker_packet_type type)
{
	begin(b, type, 0);
}

void worker_names_begin(struct builder *b)
{
	begin(b, WORKER_NAMES, 0);
}

uint32_t worker_names_count(const struct builder *b)
{
	struct cursor c = cursor_over(b->data, b->len);

	cursor_skip(&c, 4);
	return cursor_u32(&c);
}

static void set_count(struct builder *b, uint32_t count)
{
	struct builder field = builder_over(b->data + 4, 4);

	builder_u32(&field, count);
}

bool worker_names_add(struct builder *b, const struct worker_name *n)
{
	bool same = n->system_name_len == n->name_len &&
		    (n->name_len == 0 || memcmp(n->name, n->system_name, n->name_len) == 0);
	uint32_t before = b->len;

	builder_u8(b, (uint8_t)((n->has_address ? NAME_HAS_ADDRESS : 0) |
				(n->has_symbol ? NAME_HAS_SYMBOL : 0) |
				(n->has_symbol && same ? NAME_SAME : 0)));
	if (n->has_address)
		builder_u64(b, n->address);
	if (n->has_symbol) {
		builder_u64(b, n->function_start);
		add_text(b, n->name, n->name_len);
		if (!same)
			add_text(b, n->system_name, n->system_name_len);
	}
	if (b->bad) {
		b->bad = false;
		b->len = before;
		return false;
	}
	set_count(b, worker_names_count(b) + 1);
	return true;
}

static bool is_hex(const char *text)
{
	return text[strspn(text, "0123456789abcdef")] == '\0';
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

/*
 * Copies a text of at most `most` bytes; a NUL inside makes it shorter, which the checks on its
 * content see.
 */
static bool take_text(struct cursor *c, char *out, uint32_t most)
{
	uint32_t len = cursor_u16(c);

	if (len > most)
		return false;
	cursor_copy(c, out, len);
	out[len] = '\0';
	return cursor_ok(c) && strlen(out) == len;
}

static const char *file_decode(struct cursor *c, struct worker_file *f)
{
	uint32_t status = cursor_u32(c);

	f->parts = cursor_u32(c);
	if (status == 0 || status >= WORKER_FILE_STATUSES)
		return "answer has an unknown file status";
	f->status = (enum worker_file_status)status;
	if (f->parts & ~(WORKER_HAS_SYMTAB | WORKER_HAS_DYNSYM | WORKER_HAS_SEGMENTS))
		return "answer has unknown parts";
	if (!take_text(c, f->build_id, WORKER_BUILD_ID_MAX) || !is_hex(f->build_id))
		return "answer has a build id that is not hexadecimal";
	if (!take_text(c, f->detail, WORKER_DETAIL_MAX) || !is_printable(f->detail))
		return "answer has a detail that is not plain text";
	return cursor_finished(c) ? NULL : "answer about the file has a wrong length";
}

const char *worker_packet_decode(const uint8_t *data, uint32_t len, struct worker_packet *p)
{
	struct cursor c = cursor_over(data, len);
	uint32_t type = cursor_u32(&c);

	p->count = cursor_u32(&c);
	if (!cursor_ok(&c) || type == 0 || type >= WORKER_PACKET_TYPES)
		return "answer of an unknown type";
	p->type = (enum worker_packet_type)type;
	if (p->type == WORKER_NAMES) {
		p->body = c;
		return p->count > WORKER_OFFSETS_MAX ? "answer has more names than were asked for"
						     : NULL;
	}
	if (p->count != 0)
		return "answer counts what it does not have";
	if (p->type == WORKER_FILE)
		return file_decode(&c, &p->file);
	return cursor_finished(&c) ? NULL : "answer has a wrong length";
}

static bool take_name(struct cursor *body, const char **name, uint32_t *len)
{
	*len = cursor_u16(body);
	*name = (const char *)cursor_bytes(body, *len);
	return cursor_ok(body) && *len > 0 && *len <= WORKER_NAME_MAX && !memchr(*name, '\0', *len);
}

const char *worker_name_decode(struct cursor *body, struct worker_name *n)
{
	uint8_t flags = cursor_u8(body);

	*n = (struct worker_name){ 0 };
	if (!cursor_ok(body))
		return "answer ends inside a name";
	n->has_address = flags & NAME_HAS_ADDRESS;
	n->has_symbol = flags & NAME_HAS_SYMBOL;
	if ((flags & ~NAME_FLAGS) || (n->has_symbol && !n->has_address) ||
	    ((flags & NAME_SAME) && !n->has_symbol))
		return "answer has impossible flags";
	if (n->has_address)
		n->address = cursor_u64(body);
	if (n->has_symbol) {
		n->function_start = cursor_u64(body);
		if (n->function_start > n->address)
			return "answer has a function that starts after its address";
		if (!take_name(body, &n->name, &n->name_len))
			return "answer has a bad name";
		n->system_name = n->name;
		n->system_name_len = n->name_len;
		if (!(flags & NAME_SAME) && !take_name(body, &n->system_name, &n->system_name_len))
			return "answer has a bad raw name";
	}
	return cursor_ok(body) ? NULL : "answer ends inside a name";
}
