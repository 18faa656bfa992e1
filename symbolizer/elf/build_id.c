/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/elf/build_id.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/cursor.h"
#include "symbolizer/elf/content_hash.h"

#define NOTES_MAX	(1u << 20) /* bytes of one note segment or section that are looked at */
#define NOTES_TOTAL_MAX (4u << 20) /* bytes of all of them: a file may claim 65,536 note segments  \
				    */
#define GO_NOTE_TYPE   4
#define GO_ID_MIN      20 /* characters; real ones have 83: four hashes of 20, and three slashes */
#define GO_ID_MAX      1024
#define HASH_LEN       16
#define HASH_CHUNK     (64u << 10)
#define HASH_WHOLE_MAX (4u << 20) /* a file up to this size is hashed from end to end */
#define HASH_EDGE      (1u << 20) /* of a larger one so much of both ends, where names stand */
#define HASH_CODE_MAX                                                                              \
	(64u << 20) /* and so much executable code, which is in the page cache anyway */

/* Three bytes in front of a hash make an id of 19 bytes that no linker produces. */
static const uint8_t prefix_go[] = { 0xbe, 0x1f, 0x60 };
static const uint8_t prefix_content[] = { 0xbe, 0x1f, 0x0c };

struct notes {
	uint8_t gnu[BUILD_ID_BYTES_MAX];
	uint32_t gnu_len;
	uint8_t go[HASH_LEN];
	bool has_go;
	uint32_t bytes_left;
};

static uint32_t write_hex(char *out, uint32_t at, const uint8_t *bytes, uint32_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (uint32_t i = 0; i < len; i++) {
		out[at++] = digits[bytes[i] >> 4];
		out[at++] = digits[bytes[i] & 15];
	}
	out[at] = '\0';
	return at;
}

/*
 * One byte, or nothing but zeros, is what people write to switch the id off: many files share it.
 */
static bool gnu_id_trusted(const uint8_t *id, uint32_t len)
{
	uint8_t any = 0;

	if (len < 2 || len > BUILD_ID_BYTES_MAX)
		return false;
	for (uint32_t i = 0; i < len; i++)
		any |= id[i];
	return any != 0;
}

/*
 * Build systems overwrite Go's id with "redacted" and the like; a real one is hashes joined by
 * slashes.
 */
static bool go_id_trusted(const uint8_t *id, uint32_t len)
{
	return len >= GO_ID_MIN && len <= GO_ID_MAX && memchr(id, '/', len);
}

static void note_take(struct notes *n, const uint8_t *name, uint32_t name_len, uint32_t type,
		      const uint8_t *desc, uint32_t desc_len)
{
	struct content_hash h;

	if (name_len != 4)
		return;
	if (n->gnu_len == 0 && type == NT_GNU_BUILD_ID && memcmp(name, "GNU", 4) == 0 &&
	    gnu_id_trusted(desc, desc_len)) {
		memcpy(n->gnu, desc, desc_len);
		n->gnu_len = desc_len;
	}
	if (!n->has_go && type == GO_NOTE_TYPE && memcmp(name, "Go\0", 4) == 0 &&
	    go_id_trusted(desc, desc_len)) {
		content_hash_start(&h);
		content_hash_add(&h, desc, desc_len);
		content_hash_end(&h, n->go);
		n->has_go = true;
	}
}

/*
 * Name and descriptor are each padded to the note's alignment, 4 or 8 (gABI chapter 5, and GNU
 * property notes).
 */
static uint32_t padding(uint32_t offset, uint32_t align)
{
	return (align - offset % align) % align;
}

static void notes_walk(struct notes *n, const uint8_t *bytes, uint32_t len, uint32_t align)
{
	struct cursor c = cursor_over(bytes, len);

	while (cursor_left(&c) >= 12) {
		uint32_t name_len = cursor_u32(&c);
		uint32_t desc_len = cursor_u32(&c);
		uint32_t type = cursor_u32(&c);
		const uint8_t *name = cursor_bytes(&c, name_len);
		const uint8_t *desc;

		cursor_skip(&c, padding(c.offset, align));
		desc = cursor_bytes(&c, desc_len);
		if (!cursor_ok(&c))
			return;
		note_take(n, name, name_len, type, desc, desc_len);
		/* The last note need not be padded. */
		if (padding(c.offset, align) > cursor_left(&c))
			return;
		cursor_skip(&c, padding(c.offset, align));
	}
}

static void notes_read(struct notes *n, const struct elf_source *source, uint64_t offset,
		       uint64_t size, uint64_t align)
{
	uint32_t len = size > NOTES_MAX ? NOTES_MAX : (uint32_t)size;
	uint8_t *bytes;

	if (len > n->bytes_left)
		return;
	n->bytes_left -= len;
	bytes = elf_source_copy(source, offset, len);
	if (!bytes)
		return;
	notes_walk(n, bytes, len, align == 8 ? 8 : 4);
	free(bytes);
}

static void notes_find(struct notes *n, const struct elf_file *e)
{
	for (uint32_t i = 0; i < e->segment_count && n->gnu_len == 0; i++) {
		const struct elf_segment *s = &e->segments[i];

		if (s->type == PT_NOTE)
			notes_read(n, &e->source, s->offset, s->file_size, s->align);
	}
	/*
	 * Relocatable files and some linker scripts have the section only. Its alignment is always
	 * 4.
	 */
	for (uint32_t i = 0; i < e->section_count && n->gnu_len == 0; i++) {
		const struct elf_section *s = &e->sections[i];

		if (s->type == SHT_NOTE)
			notes_read(n, &e->source, s->offset, s->size, 4);
	}
}

static bool hash_range(struct content_hash *h, const struct elf_source *s, uint64_t offset,
		       uint64_t size, uint8_t *chunk)
{
	while (size > 0) {
		size_t n = size < HASH_CHUNK ? (size_t)size : HASH_CHUNK;

		if (!elf_source_read(s, chunk, n, offset))
			return false;
		content_hash_add(h, chunk, n);
		offset += n;
		size -= n;
	}
	return true;
}

static bool hash_code(struct content_hash *h, const struct elf_file *e, uint8_t *chunk)
{
	uint64_t left = HASH_CODE_MAX;

	for (uint32_t i = 0; i < e->segment_count && left > 0; i++) {
		const struct elf_segment *s = &e->segments[i];
		uint64_t size = s->file_size < left ? s->file_size : left;

		if (s->type != PT_LOAD || !(s->flags & PF_X))
			continue;
		if (!hash_range(h, &e->source, s->offset, size, chunk))
			return false;
		left -= size;
	}
	return true;
}

static bool hash_contents(struct content_hash *h, const struct elf_file *e, uint8_t *chunk)
{
	const struct elf_source *s = &e->source;
	uint8_t size[8];

	for (int i = 0; i < 8; i++)
		size[i] = (uint8_t)(s->size >> 8 * i);
	content_hash_start(h);
	content_hash_add(h, size, sizeof(size));
	if (s->size <= HASH_WHOLE_MAX)
		return hash_range(h, s, 0, s->size, chunk);
	/*
	 * The ends hold the ELF header, the program headers and, as linkers write them, section
	 * headers and string tables.
	 */
	return hash_range(h, s, 0, HASH_EDGE, chunk) &&
	       hash_range(h, s, s->size - HASH_EDGE, HASH_EDGE, chunk) && hash_code(h, e, chunk);
}

enum build_id_kind build_id_find(const struct elf_file *e, char out[BUILD_ID_TEXT_MAX])
{
	struct notes notes = { .bytes_left = NOTES_TOTAL_MAX };
	struct content_hash h;
	uint8_t digest[HASH_LEN];
	uint8_t *chunk;
	bool whole;

	out[0] = '\0';
	notes_find(&notes, e);
	if (notes.gnu_len) {
		write_hex(out, 0, notes.gnu, notes.gnu_len);
		return BUILD_ID_GNU;
	}
	if (notes.has_go) {
		write_hex(out, write_hex(out, 0, prefix_go, sizeof(prefix_go)), notes.go, HASH_LEN);
		return BUILD_ID_GO;
	}
	chunk = malloc(HASH_CHUNK);
	whole = chunk && hash_contents(&h, e, chunk);
	free(chunk);
	if (!whole)
		return BUILD_ID_NONE;
	content_hash_end(&h, digest);
	write_hex(out, write_hex(out, 0, prefix_content, sizeof(prefix_content)), digest, HASH_LEN);
	return BUILD_ID_CONTENT;
}
