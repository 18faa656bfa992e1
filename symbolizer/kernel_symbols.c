/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/kernel_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizer/kallsyms_line.h"
#include "symbolizer/kernel_table.h"

#define READ_CHUNK   (64u << 10)
#define MODULE_SLOTS 16384u /* twice KERNEL_MODULES_MAX, a power of two */

/* What has been read of a text that is not finished yet. */
struct reading {
	struct kernel_symbol *symbols;
	uint32_t count;
	uint32_t room;
	char *names;
	uint32_t names_len;
	uint32_t names_room;
	uint32_t *module_names; /* [0] is the empty name */
	uint32_t module_count;
	uint16_t *module_slots; /* hash of names -> index; 0 = free */
	char line[KALLSYMS_LINE_MAX];
	uint32_t line_len;
	bool line_too_long;
	uint32_t zeros; /* text symbols at address 0 */
	const char *error;
};

struct kernel_symbols {
	struct kernel_table table;
	bool restricted;
	struct reading *reading; /* what was fed of an unfinished text, or NULL */
};

int kernel_symbols_new(struct kernel_symbols **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static void reading_free(struct reading *r)
{
	if (!r)
		return;
	free(r->symbols);
	free(r->names);
	free(r->module_names);
	free(r->module_slots);
	free(r);
}

void kernel_symbols_free(struct kernel_symbols *k)
{
	reading_free(k->reading);
	kernel_table_free(&k->table);
	free(k);
}

/* Appends a name and its NUL; returns its offset, or sets the error. */
static uint32_t add_name(struct reading *r, const char *name, uint32_t len)
{
	uint32_t at = r->names_len;

	if (len + 1 > KERNEL_NAMES_MAX - at) {
		r->error = "kallsyms: names are longer than allowed";
		return 0;
	}
	if (len + 1 > r->names_room - at) {
		uint32_t room = r->names_room ? r->names_room * 2 : 1u << 20;
		char *more = realloc(r->names, room);

		if (!more) {
			r->error = "kallsyms: no memory for the names";
			return 0;
		}
		r->names = more;
		r->names_room = room;
	}
	if (len)
		memcpy(r->names + at, name, len);
	r->names[at + len] = '\0';
	r->names_len += len + 1;
	return at;
}

static struct reading *reading_new(void)
{
	struct reading *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->module_names = malloc((KERNEL_MODULES_MAX + 1) * sizeof(*r->module_names));
	r->module_slots = calloc(MODULE_SLOTS, sizeof(*r->module_slots));
	if (!r->module_names || !r->module_slots) {
		reading_free(r);
		return NULL;
	}
	r->module_names[r->module_count++] = add_name(r, "", 0);
	return r;
}

static uint32_t hash_name(const char *name, uint32_t len)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (uint32_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * 16777619u;
	return h;
}

static bool module_is(const struct reading *r, uint16_t index, const char *name, uint32_t len)
{
	const char *known = r->names + r->module_names[index];

	return strlen(known) == len && memcmp(known, name, len) == 0;
}

static uint16_t find_module(struct reading *r, const char *name, uint32_t len)
{
	uint32_t slot = hash_name(name, len) % MODULE_SLOTS;

	if (len == 0)
		return 0;
	while (r->module_slots[slot]) {
		if (module_is(r, r->module_slots[slot], name, len))
			return r->module_slots[slot];
		slot = (slot + 1) % MODULE_SLOTS;
	}
	if (r->module_count > KERNEL_MODULES_MAX) {
		r->error = "kallsyms: more modules than allowed";
		return 0;
	}
	r->module_names[r->module_count] = add_name(r, name, len);
	r->module_slots[slot] = (uint16_t)r->module_count;
	return (uint16_t)r->module_count++;
}

/*
 * Of several names of one address the one to show: global before weak before local, then the fewest
 * leading underscores.
 */
static uint16_t rank_of(const struct kallsyms_line *l)
{
	uint32_t underscores = 0;
	uint16_t binding = l->type == 'T' ? 0 : l->type == 't' ? 2 : 1;

	while (underscores < l->name_len && underscores < 255 && l->name[underscores] == '_')
		underscores++;
	return (uint16_t)(binding << 8 | underscores);
}

static void add_symbol(struct reading *r, const struct kallsyms_line *l)
{
	struct kernel_symbol s = { .address = l->address, .rank = rank_of(l) };

	if (r->count == r->room) {
		uint32_t room = r->room ? r->room * 2 : 32768;
		struct kernel_symbol *more;

		if (r->room == KERNEL_SYMBOLS_MAX) {
			r->error = "kallsyms: more text symbols than allowed";
			return;
		}
		more = realloc(r->symbols, room * sizeof(*more));
		if (!more) {
			r->error = "kallsyms: no memory for the symbols";
			return;
		}
		r->symbols = more;
		r->room = room;
	}
	s.module = find_module(r, l->module, l->module_len);
	s.name = add_name(r, l->name, l->name_len);
	r->symbols[r->count++] = s;
}

static void end_line(struct reading *r)
{
	struct kallsyms_line l;

	if (r->line_too_long || (r->line_len && !kallsyms_line_parse(r->line, r->line_len, &l)))
		r->error = "kallsyms: a line is not `address type name [module]`";
	else if (r->line_len && kallsyms_line_is_text(&l)) {
		if (l.address == 0)
			r->zeros++;
		else
			add_symbol(r, &l);
	}
	r->line_len = 0;
	r->line_too_long = false;
}

static void take_text(struct reading *r, const char *text, size_t len)
{
	while (len > 0 && !r->error) {
		const char *newline = memchr(text, '\n', len);
		size_t n = newline ? (size_t)(newline - text) : len;
		size_t room = sizeof(r->line) - r->line_len;

		if (n > room)
			r->line_too_long = true;
		memcpy(r->line + r->line_len, text, n < room ? n : room);
		r->line_len += (uint32_t)(n < room ? n : room);
		if (newline)
			end_line(r);
		n += newline ? 1 : 0;
		text += n;
		len -= n;
	}
}

/*
 * Makes the table of what was read. What was there before is replaced only by something complete.
 */
static const char *finish(struct kernel_symbols *k, struct reading *r)
{
	struct kernel_table table;
	uint32_t *modules;
	char *names;

	end_line(r);
	if (r->error)
		return r->error;
	names = realloc(r->names, r->names_len);
	if (names)
		r->names = names;
	modules = realloc(r->module_names, r->module_count * sizeof(*modules));
	if (modules)
		r->module_names = modules;
	r->error = kernel_table_build(&table, r->symbols, r->count, r->names, r->module_names);
	if (r->error)
		return r->error;
	r->names = NULL;
	r->module_names = NULL;
	kernel_table_free(&k->table);
	k->table = table;
	k->restricted = r->count == 0 && r->zeros > 0;
	return NULL;
}

const char *kernel_symbols_feed(struct kernel_symbols *k, const char *text, size_t len)
{
	const char *error;

	if (!k->reading)
		k->reading = reading_new();
	if (!k->reading)
		return "kallsyms: no memory to read it";
	if (len > 0) {
		take_text(k->reading, text, len);
		return k->reading->error;
	}
	error = finish(k, k->reading);
	reading_free(k->reading);
	k->reading = NULL;
	return error;
}

/* Reads to the end of the file or to the first line that is wrong. */
static const char *read_text(struct reading *r, int fd, char *chunk)
{
	off_t at = 0;

	while (!r->error) {
		ssize_t got = pread(fd, chunk, READ_CHUNK, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return "kallsyms: read failed";
		if (got == 0)
			break;
		at += got;
		take_text(r, chunk, (size_t)got);
	}
	return r->error;
}

const char *kernel_symbols_load(struct kernel_symbols *k, int fd)
{
	const char *error = "kallsyms: no memory to read it";
	struct reading *r = reading_new();
	char *chunk = malloc(READ_CHUNK);

	if (r && chunk)
		error = read_text(r, fd, chunk);
	if (!error)
		error = finish(k, r);
	free(chunk);
	reading_free(r);
	return error;
}

bool kernel_symbols_restricted(const struct kernel_symbols *k)
{
	return k->restricted;
}

size_t kernel_symbols_count(const struct kernel_symbols *k)
{
	return k->table.count;
}

bool kernel_symbols_lookup(const struct kernel_symbols *k, uint64_t address, const char **name,
			   const char **module, uint64_t *start)
{
	uint32_t index;

	if (!kernel_table_find(&k->table, address, &index, start))
		return false;
	*name = k->table.names + k->table.name_offsets[index];
	*module = k->table.names + k->table.module_names[k->table.modules[index]];
	return true;
}
