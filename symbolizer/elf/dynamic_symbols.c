/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dynamic symbol table as the run-time linker finds it: for files whose section headers are
 * stripped or damaged. PT_DYNAMIC does not say how many symbols there are; the hash tables do.
 */
#include <elf.h>
#include <stdlib.h>

#include "symbolizer/elf/segments.h"
#include "symbolizer/elf/symbol_table.h"

#define DYNAMIC_BYTES_MAX    (64u << 10)
#define GNU_HASH_BUCKETS_MAX (16u << 20)
#define CHAIN_CHUNK	     1024u /* words of a chain read at once */

struct dynamic {
	uint64_t symbols;
	uint64_t strings;
	uint64_t strings_size;
	uint64_t hash;
	uint64_t gnu_hash;
	uint64_t entry_size;
};

static bool dynamic_read(const struct elf_file *e, struct dynamic *d)
{
	const struct elf_segment *s = NULL;
	struct cursor c;
	uint8_t *raw;
	uint32_t len;

	for (uint32_t i = 0; i < e->segment_count && !s; i++)
		if (e->segments[i].type == PT_DYNAMIC)
			s = &e->segments[i];
	if (!s)
		return false;
	len = s->file_size > DYNAMIC_BYTES_MAX ? DYNAMIC_BYTES_MAX : (uint32_t)s->file_size;
	raw = elf_source_copy(&e->source, s->offset, len);
	if (!raw)
		return false;
	c = cursor_over(raw, len);
	while (cursor_left(&c) >= sizeof(Elf64_Dyn)) {
		uint64_t tag = cursor_u64(&c);
		uint64_t value = cursor_u64(&c);

		if (tag == DT_NULL)
			break;
		if (tag == DT_SYMTAB)
			d->symbols = value;
		else if (tag == DT_STRTAB)
			d->strings = value;
		else if (tag == DT_STRSZ)
			d->strings_size = value;
		else if (tag == DT_SYMENT)
			d->entry_size = value;
		else if (tag == DT_HASH)
			d->hash = value;
		else if (tag == DT_GNU_HASH)
			d->gnu_hash = value;
	}
	free(raw);
	return d->symbols && d->strings && d->entry_size == SYMBOL_ENTRY_LEN;
}

/* Words at an address; false where its segment ends before them. */
static bool words_at(const struct elf_file *e, uint64_t address, uint32_t *words, uint32_t count)
{
	uint64_t bytes = (uint64_t)count * 4;
	uint64_t offset;
	uint64_t room;
	struct cursor c;
	uint8_t raw[CHAIN_CHUNK * 4];

	if (count > CHAIN_CHUNK || !segments_offset(e, address, &offset, &room) || room < bytes ||
	    !elf_source_read(&e->source, raw, (size_t)bytes, offset))
		return false;
	c = cursor_over(raw, (uint32_t)bytes);
	for (uint32_t i = 0; i < count; i++)
		words[i] = cursor_u32(&c);
	return true;
}

/* DT_HASH: nbucket, nchain; a chain entry for every symbol. */
static uint32_t count_by_hash(const struct elf_file *e, uint64_t address)
{
	uint32_t head[2];

	return words_at(e, address, head, 2) ? head[1] : 0;
}

/* Largest symbol index that a bucket starts with. */
static bool gnu_last_bucket(const struct elf_file *e, uint64_t address, uint32_t buckets,
			    uint32_t *last)
{
	uint32_t words[CHAIN_CHUNK];

	*last = 0;
	for (uint32_t i = 0; i < buckets; i += CHAIN_CHUNK) {
		uint32_t n = buckets - i < CHAIN_CHUNK ? buckets - i : CHAIN_CHUNK;

		if (!words_at(e, address + (uint64_t)i * 4, words, n))
			return false;
		for (uint32_t k = 0; k < n; k++)
			if (words[k] > *last)
				*last = words[k];
	}
	return true;
}

/*
 * DT_GNU_HASH: nbuckets, symoffset, bloom_size, bloom_shift, bloom words of 8 bytes, buckets,
 * chain. Symbols are sorted by bucket, so the chain of the highest bucket start ends with the last
 * symbol: bit 0 of its chain word is set.
 */
static uint32_t count_by_gnu_hash(const struct elf_file *e, uint64_t address)
{
	uint32_t head[4];
	uint32_t word;
	uint32_t last;
	uint64_t buckets_at;
	uint64_t chain_at;

	if (!words_at(e, address, head, 4) || head[0] > GNU_HASH_BUCKETS_MAX)
		return 0;
	buckets_at = address + 16 + (uint64_t)head[2] * 8;
	chain_at = buckets_at + (uint64_t)head[0] * 4;
	if (!gnu_last_bucket(e, buckets_at, head[0], &last))
		return 0;
	if (last < head[1])
		return head[1]; /* nothing is exported: the unhashed symbols are all there is */
	for (; last < SYMBOL_TABLE_BYTES_MAX / SYMBOL_ENTRY_LEN; last++) {
		if (!words_at(e, chain_at + (uint64_t)(last - head[1]) * 4, &word, 1))
			return 0;
		if (word & 1)
			return last + 1;
	}
	return 0;
}

void dynamic_symbols_find(struct elf_file *e, struct symbol_table *out)
{
	struct dynamic d = { 0 };
	struct symbol_table t = { 0 };
	uint64_t room;
	uint64_t count;

	if (!dynamic_read(e, &d))
		return;
	count = d.hash ? count_by_hash(e, d.hash) : 0;
	if (count == 0 && d.gnu_hash)
		count = count_by_gnu_hash(e, d.gnu_hash);
	if (count == 0)
		return;
	if (!segments_offset(e, d.strings, &t.strings_offset, &room)) {
		elf_file_warn(e, "dynamic string table lies outside of the segments");
		return;
	}
	t.strings_size = d.strings_size < room ? d.strings_size : room;
	if (t.strings_size > STRING_TABLE_BYTES_MAX)
		t.strings_size = STRING_TABLE_BYTES_MAX;
	if (!segments_offset(e, d.symbols, &t.offset, &room)) {
		elf_file_warn(e, "dynamic symbol table lies outside of the segments");
		return;
	}
	if (room > SYMBOL_TABLE_BYTES_MAX)
		room = SYMBOL_TABLE_BYTES_MAX;
	if (count > room / SYMBOL_ENTRY_LEN) {
		elf_file_warn(e, "dynamic symbol table ends after its segment");
		count = room / SYMBOL_ENTRY_LEN;
	}
	t.count = (uint32_t)count;
	*out = t;
}
