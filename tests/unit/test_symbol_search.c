/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/built_file.h"
#include "tests/unit/elf_image.h"
#include "symbolizer/elf/symbol_search.h"

#define FUNC(bind)   ELF64_ST_INFO(bind, STT_FUNC)
#define NOTYPE(bind) ELF64_ST_INFO(bind, STT_NOTYPE)
#define NAME_ROOM    256

/* Name of one address, "" for none. */
static const char *name_at(struct symbol_search *s, uint64_t address)
{
	static char name[NAME_ROOM];
	struct symbol_match m;

	assert_null(symbol_search_run(s, &address, 1, &m));
	name[0] = '\0';
	if (m.found)
		symbol_search_name(s, &m, name, sizeof(name));
	return name;
}

struct opened {
	struct elf_file file;
	struct symbol_search *search;
};

static void open_source(struct opened *o, const struct elf_source *source)
{
	const char *why;

	assert_int_equal(elf_file_open(&o->file, source, &why), ELF_OK);
	o->search = symbol_search_new(&o->file);
	assert_non_null(o->search);
}

static void close_opened(struct opened *o)
{
	symbol_search_free(o->search);
	elf_file_close(&o->file);
}

static void open_image(struct opened *o, const struct elf_image *m)
{
	struct elf_source source = elf_source_from_memory(m->bytes, m->size);

	open_source(o, &source);
}

static void a_symbol_covers_its_size_and_no_more(void **state)
{
	const struct image_symbol symbols[] = {
		{ "first", 0x401200, 0x10, FUNC(STB_GLOBAL), 1 },
		{ "second", 0x401220, 0x10, FUNC(STB_LOCAL), 1 },
	};
	struct elf_image m = elf_image_make(symbols, 2);
	struct opened o;

	(void)state;
	open_image(&o, &m);
	assert_string_equal(name_at(o.search, 0x401200), "first");
	assert_string_equal(name_at(o.search, 0x40120f), "first");
	assert_string_equal(name_at(o.search, 0x401210), "");
	assert_string_equal(name_at(o.search, 0x40121f), "");
	assert_string_equal(name_at(o.search, 0x40122f), "second");
	assert_string_equal(name_at(o.search, 0x401230), "");
	assert_string_equal(name_at(o.search, 0), "");
	close_opened(&o);
	free(m.bytes);
}

static void aliases_have_a_fixed_order(void **state)
{
	const struct image_symbol symbols[] = {
		{ "local", 0x401200, 0x10, FUNC(STB_LOCAL), 1 },
		{ "weak", 0x401200, 0x10, FUNC(STB_WEAK), 1 },
		{ "__libc_global", 0x401200, 0x10, FUNC(STB_GLOBAL), 1 },
		{ "global_long", 0x401200, 0x10, FUNC(STB_GLOBAL), 1 },
		{ "global_b", 0x401200, 0x10, FUNC(STB_GLOBAL), 1 },
		{ "global_a", 0x401200, 0x10, FUNC(STB_GLOBAL), 1 },
		{ "label", 0x401200, 0x10, NOTYPE(STB_GLOBAL), 1 },
		{ "sizeless", 0x401200, 0, FUNC(STB_GLOBAL), 1 },
		{ "weak2", 0x401300, 0x10, FUNC(STB_WEAK), 1 },
		{ "local2", 0x401300, 0x10, FUNC(STB_LOCAL), 1 },
		/*
		 * The longer of two equal ones names all of its addresses, also those that both
		 * cover.
		 */
		{ "part", 0x401400, 0x10, FUNC(STB_GLOBAL), 1 },
		{ "__whole", 0x401400, 0x40, FUNC(STB_GLOBAL), 1 },
		/* One inside another: the inner. */
		{ "outer", 0x401500, 0x100, FUNC(STB_GLOBAL), 1 },
		{ "inner", 0x401540, 0x20, FUNC(STB_LOCAL), 1 },
	};
	struct elf_image m = elf_image_make(symbols, 14);
	struct opened o;

	(void)state;
	open_image(&o, &m);
	assert_string_equal(name_at(o.search, 0x401204), "global_a");
	assert_string_equal(name_at(o.search, 0x401300), "weak2");
	assert_string_equal(name_at(o.search, 0x401408), "__whole");
	assert_string_equal(name_at(o.search, 0x401430), "__whole");
	assert_string_equal(name_at(o.search, 0x401508), "outer");
	assert_string_equal(name_at(o.search, 0x40155f), "inner");
	assert_string_equal(name_at(o.search, 0x401560), "outer");
	close_opened(&o);
	free(m.bytes);
}

static void a_symbol_without_size_ends_at_the_next_one(void **state)
{
	const struct image_symbol symbols[] = {
		{ "start", 0x401200, 0, NOTYPE(STB_GLOBAL), 1 },
		{ "sized", 0x401280, 0x10, FUNC(STB_GLOBAL), 1 },
		{ "last", 0x402100, 0, FUNC(STB_GLOBAL), 1 },
	};
	struct elf_image m = elf_image_make(symbols, 3);
	struct opened o;

	(void)state;
	open_image(&o, &m);
	assert_string_equal(name_at(o.search, 0x40127f), "start");
	assert_string_equal(name_at(o.search, 0x40128f), "sized");
	/* Behind a sized symbol comes a gap, not the sizeless one before it. */
	assert_string_equal(name_at(o.search, 0x401290), "");
	assert_string_equal(name_at(o.search, 0x4020ff), "");
	/* The section ends at 0x401200 + 0x1000. */
	assert_string_equal(name_at(o.search, 0x4021ff), "last");
	assert_string_equal(name_at(o.search, 0x402200), "");
	close_opened(&o);
	free(m.bytes);
}

static void what_is_not_code_of_this_file_names_nothing(void **state)
{
	const struct image_symbol symbols[] = {
		{ "object", 0x401200, 0x10, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 1 },
		{ "undefined", 0x401210, 0x10, FUNC(STB_GLOBAL), SHN_UNDEF },
		{ "absolute", 0x401220, 0x10, NOTYPE(STB_GLOBAL), SHN_ABS },
		{ "elsewhere", 0x500000, 0x10, FUNC(STB_GLOBAL), 1 },
		{ "at_zero", 0, 0, FUNC(STB_GLOBAL), 1 },
		{ "", 0x401230, 0x10, FUNC(STB_GLOBAL), 1 },
		{ "whole_space", 0x401240, UINT64_MAX, FUNC(STB_GLOBAL), 1 },
	};
	struct elf_image m = elf_image_make(symbols, 7);
	struct opened o;

	(void)state;
	open_image(&o, &m);
	assert_string_equal(name_at(o.search, 0x401200), "");
	assert_string_equal(name_at(o.search, 0x401210), "");
	assert_string_equal(name_at(o.search, 0x401220), "");
	assert_string_equal(name_at(o.search, 0x500000), "");
	assert_string_equal(name_at(o.search, 0x401230), "");
	assert_string_equal(name_at(o.search, 0x4021ff), "whole_space");
	assert_string_equal(name_at(o.search, 0x402200), "");
	close_opened(&o);
	free(m.bytes);
}

static void mapping_symbols_of_arm_end_nothing(void **state)
{
	const struct image_symbol symbols[] = {
		{ "start", 0x401200, 0, FUNC(STB_GLOBAL), 1 },
		{ "$x", 0x401210, 0, NOTYPE(STB_LOCAL), 1 },
		{ "$d.3", 0x401220, 0, NOTYPE(STB_LOCAL), 1 },
	};
	struct elf_image m = elf_image_make(symbols, 3);
	struct opened o;

	(void)state;
	m.header->e_machine = EM_AARCH64;
	open_image(&o, &m);
	assert_string_equal(name_at(o.search, 0x401218), "start");
	assert_string_equal(name_at(o.search, 0x401228), "start");
	close_opened(&o);
	free(m.bytes);
}

/* -- against a straight scan ---------------------------------------------------------------- */

/*
 * The rule of symbol_search.h for one address, written down a second time without any cleverness.
 */
static const char *scan(const struct image_symbol *symbols, uint32_t count, uint64_t address)
{
	const struct image_symbol *best = NULL;
	uint64_t nearest = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct image_symbol *s = &symbols[i];

		if (s->value > nearest && s->value <= address)
			nearest = s->value;
		if (s->size == 0 || address < s->value || address - s->value >= s->size)
			continue;
		if (!best || s->value > best->value ||
		    (s->value == best->value &&
		     (s->size > best->size ||
		      (s->size == best->size && strcmp(s->name, best->name) < 0))))
			best = s;
	}
	for (uint32_t i = 0; i < count && !best; i++)
		if (symbols[i].size == 0 && symbols[i].value == nearest)
			best = &symbols[i];
	return best ? best->name : "";
}

static void a_batch_agrees_with_a_straight_scan(void **state)
{
	enum { SYMBOLS = 300, ADDRESSES = 2000 };
	static char names[SYMBOLS][16];
	static struct image_symbol symbols[SYMBOLS];
	static uint64_t addresses[ADDRESSES];
	static struct symbol_match matches[ADDRESSES];

	(void)state;
	for (unsigned int seed = 1; seed <= 20; seed++) {
		struct elf_image m;
		struct opened o;

		srandom(seed);
		for (int i = 0; i < SYMBOLS; i++) {
			snprintf(names[i], sizeof(names[i]), "f%03d", i);
			symbols[i] = (struct image_symbol){
				/* Sizeless ones never share an address: odd steps of 8. */
				names[i], TEXT_ADDRESS + (uint64_t)random() % (TEXT_SIZE / 16) * 16,
				(uint64_t)random() % 64 + 1, FUNC(STB_GLOBAL), 1
			};
			if (i % 7 == 0) {
				symbols[i].size = 0;
				symbols[i].value = TEXT_ADDRESS + 8 + (uint64_t)i / 7 * 80;
			}
		}
		for (uint32_t i = 0; i < ADDRESSES; i++)
			addresses[i] = TEXT_ADDRESS + i * 2;
		m = elf_image_make(symbols, SYMBOLS);
		open_image(&o, &m);
		assert_null(symbol_search_run(o.search, addresses, ADDRESSES, matches));
		for (uint32_t i = 0; i < ADDRESSES; i++) {
			char name[NAME_ROOM] = "";

			if (matches[i].found)
				symbol_search_name(o.search, &matches[i], name, sizeof(name));
			assert_string_equal(name, scan(symbols, SYMBOLS, addresses[i]));
		}
		close_opened(&o);
		free(m.bytes);
	}
}

/* -- against nm ----------------------------------------------------------------------------- */

#define SOURCE                                                                                     \
	"#include <stdio.h>\n"                                                                     \
	"__attribute__((noinline)) int exported(int n) { return puts(\"x\") + n; }\n"              \
	"__attribute__((noinline)) static int hidden(int n) { return exported(n) * 3; }\n"         \
	"__attribute__((noinline)) int caller(int n) { return hidden(n) + hidden(n + 1); }\n"      \
	"int main(int c, char **v) { return caller(c); }\n"

struct nm_line {
	uint64_t address;
	uint64_t size; /* 0 where nm prints none */
	char name[128];
};

#define NM_LINES 8192

/* What nm says of code, versions cut off. */
static uint32_t read_nm(const struct built_file *f, const char *flags, struct nm_line *lines)
{
	char command[256], text[1024], name[512];
	unsigned long long address, size;
	uint32_t count = 0;
	FILE *nm;

	snprintf(command, sizeof(command), "nm -S --defined-only %s %s | grep -i ' [twi] '", flags,
		 f->path);
	nm = popen(command, "r");
	while (fgets(text, sizeof(text), nm) && count < NM_LINES) {
		if (sscanf(text, "%llx %llx %*c %511s", &address, &size, name) != 3) {
			size = 0;
			if (sscanf(text, "%llx %*c %511s", &address, name) != 2)
				continue;
		}
		name[strcspn(name, "@")] = '\0';
		lines[count] = (struct nm_line){ .address = address, .size = size };
		snprintf(lines[count++].name, sizeof(lines[0].name), "%.127s", name);
	}
	pclose(nm);
	return count;
}

static bool nm_knows(const struct nm_line *lines, uint32_t count, uint64_t address,
		     const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (lines[i].address == address && strcmp(lines[i].name, name) == 0)
			return true;
	return false;
}

/*
 * Every sized function that nm lists must be found at its first and last byte, under a name that nm
 * gives to that address.
 */
static void agree_with_nm(struct built_file *f, const char *flags, unsigned int at_least)
{
	static struct nm_line lines[NM_LINES];
	struct elf_source source = elf_source_from_fd(f->fd, f->size);
	uint32_t count = read_nm(f, flags, lines);
	unsigned int checked = 0;
	struct opened o;

	open_source(&o, &source);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t ends[2] = { lines[i].address, lines[i].address + lines[i].size - 1 };
		struct symbol_match m[2];
		char found[128];

		if (lines[i].size < 2)
			continue;
		assert_null(symbol_search_run(o.search, ends, 2, m));
		assert_true(m[0].found && m[1].found);
		assert_int_equal(m[0].start, lines[i].address);
		symbol_search_name(o.search, &m[0], found, sizeof(found));
		found[strcspn(found, "@")] = '\0';
		assert_true(nm_knows(lines, count, lines[i].address, found));
		checked++;
	}
	assert_true(checked >= at_least);
	close_opened(&o);
}

static const char *name_of_symbol(struct built_file *f, uint64_t address)
{
	static char name[NAME_ROOM];
	struct elf_source source = elf_source_from_fd(f->fd, f->size);
	struct opened o;

	open_source(&o, &source);
	snprintf(name, sizeof(name), "%s", name_at(o.search, address));
	close_opened(&o);
	return name;
}

static uint64_t address_by_nm(const struct built_file *f, const char *name)
{
	char command[256];
	unsigned long long address = 0;
	FILE *nm;

	snprintf(command, sizeof(command), "nm %s | grep ' %s$'", f->path, name);
	nm = popen(command, "r");
	assert_int_equal(fscanf(nm, "%llx", &address), 1);
	pclose(nm);
	return address;
}

static void programs_of_each_kind_agree_with_nm(void **state)
{
	static const char *const flags[] = { "-O1 -pie -fPIE",
					     "-O1 -no-pie",
					     "-O1 -static",
					     "-O1 -static-pie",
					     "-O1 -Wl,-z,noseparate-code",
					     "-O1 -Wl,-Ttext-segment=0x7000000 -no-pie" };

	(void)state;
	for (unsigned int i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct built_file f = built_file_from(SOURCE, "c", flags[i]);

		/* exported, hidden, caller, main; _start has a size in glibc's crt1.o. */
		agree_with_nm(&f, "", strstr(flags[i], "static") ? 500 : 4);
		built_file_remove(&f);
	}
}

static void a_stripped_library_names_what_it_exports_only(void **state)
{
	struct built_file f = built_file_from(SOURCE, "c", "-O1 -shared -fPIC");
	uint64_t hidden = address_by_nm(&f, "hidden");
	uint64_t exported = address_by_nm(&f, "exported");

	(void)state;
	assert_string_equal(name_of_symbol(&f, hidden), "hidden");
	run_command("strip -s %s", f.path);
	built_file_open(&f);
	agree_with_nm(&f, "-D", 3);
	assert_string_equal(name_of_symbol(&f, exported), "exported");
	assert_string_equal(name_of_symbol(&f, hidden), "");
	built_file_remove(&f);
}

static void without_section_headers_the_dynamic_segment_leads_to_the_symbols(void **state)
{
	static const char *const styles[] = { "-Wl,--hash-style=gnu", "-Wl,--hash-style=sysv" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		char flags[64];
		struct built_file f;
		uint64_t exported, caller;

		snprintf(flags, sizeof(flags), "-O1 -shared -fPIC %s", styles[i]);
		f = built_file_from(SOURCE, "c", flags);
		exported = address_by_nm(&f, "exported");
		caller = address_by_nm(&f, "caller");
		run_command("llvm-objcopy --strip-sections %s", f.path);
		built_file_open(&f);
		assert_string_equal(name_of_symbol(&f, exported), "exported");
		assert_string_equal(name_of_symbol(&f, caller + 1), "caller");
		built_file_remove(&f);
	}
}

/* A label without .size in front of code whose symbols are gone. */
static void one_surviving_label_does_not_name_the_next_section(void **state)
{
	struct built_file f =
		built_file_from(".section .text.a,\"ax\",@progbits\n.globl main\nmain: ret\n"
				".section other,\"ax\",@progbits\n.space 64, 0xc3\n.section "
				".note.GNU-stack,\"\",@progbits\n",
				"s", "-nostdlib -Wl,-emain -no-pie");
	uint64_t label = address_by_nm(&f, "main");

	(void)state;
	assert_string_equal(name_of_symbol(&f, label), "main");
	assert_string_equal(name_of_symbol(&f, label + 32), "");
	built_file_remove(&f);
}

/* Between two exports may lie any number of functions that .dynsym does not list. */
static void an_exported_label_without_size_names_its_first_byte(void **state)
{
	struct built_file f =
		built_file_from(".globl label\n.type label,@function\nlabel: nop\nnop\nret\n"
				".section .note.GNU-stack,\"\",@progbits\n",
				"s", "-nostdlib -shared");
	uint64_t label = address_by_nm(&f, "label");

	(void)state;
	assert_string_equal(name_of_symbol(&f, label + 1), "label");
	run_command("strip -s %s", f.path);
	built_file_open(&f);
	assert_string_equal(name_of_symbol(&f, label), "label");
	assert_string_equal(name_of_symbol(&f, label + 1), "");
	built_file_remove(&f);
}

/*
 * As `strip --keep-symbol` leaves it: the unwinder's table still knows where the nameless functions
 * start.
 */
static void one_surviving_label_does_not_name_the_functions_behind_it(void **state)
{
	struct built_file f =
		built_file_from(".globl main\nmain: nop\nnop\nret\n"
				"gone: .cfi_startproc\nnop\nnop\nnop\nret\n.cfi_endproc\n"
				".section .note.GNU-stack,\"\",@progbits\n",
				"s", "-nostdlib -Wl,-emain -no-pie");
	uint64_t label = address_by_nm(&f, "main");

	(void)state;
	run_command("strip --strip-all --keep-symbol=main %s", f.path);
	built_file_open(&f);
	assert_string_equal(name_of_symbol(&f, label + 2), "main");
	assert_string_equal(name_of_symbol(&f, label + 3), "");
	assert_string_equal(name_of_symbol(&f, label + 6), "");
	built_file_remove(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_symbol_covers_its_size_and_no_more),
		cmocka_unit_test(aliases_have_a_fixed_order),
		cmocka_unit_test(a_symbol_without_size_ends_at_the_next_one),
		cmocka_unit_test(what_is_not_code_of_this_file_names_nothing),
		cmocka_unit_test(mapping_symbols_of_arm_end_nothing),
		cmocka_unit_test(a_batch_agrees_with_a_straight_scan),
		cmocka_unit_test(programs_of_each_kind_agree_with_nm),
		cmocka_unit_test(a_stripped_library_names_what_it_exports_only),
		cmocka_unit_test(without_section_headers_the_dynamic_segment_leads_to_the_symbols),
		cmocka_unit_test(an_exported_label_without_size_names_its_first_byte),
		cmocka_unit_test(one_surviving_label_does_not_name_the_next_section),
		cmocka_unit_test(one_surviving_label_does_not_name_the_functions_behind_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
