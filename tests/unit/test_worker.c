/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/built_file.h"
#include "tests/unit/elf_image.h"
#include "symbolizer/worker.h"

#define NAME_ROOM 512

struct told {
	struct worker_file file;
	uint32_t files, names, ends;
	struct worker_name name[WORKER_OFFSETS_MAX];
	char readable[WORKER_OFFSETS_MAX][NAME_ROOM];
	char raw[WORKER_OFFSETS_MAX][NAME_ROOM];
	uint32_t packets_left;
};

static bool take(void *context, const void *packet, uint32_t len)
{
	struct told *t = context;
	struct worker_packet p;

	if (t->packets_left-- == 0)
		return false;
	assert_null(worker_packet_decode(packet, len, &p));
	t->files += p.type == WORKER_FILE;
	t->ends += p.type == WORKER_END;
	if (p.type == WORKER_FILE)
		t->file = p.file;
	for (uint32_t i = 0; p.type == WORKER_NAMES && i < p.count; i++) {
		struct worker_name *n = &t->name[t->names];

		assert_null(worker_name_decode(&p.body, n));
		snprintf(t->readable[t->names], NAME_ROOM, "%.*s", (int)n->name_len,
			 n->name ? n->name : "");
		snprintf(t->raw[t->names], NAME_ROOM, "%.*s", (int)n->system_name_len,
			 n->system_name ? n->system_name : "");
		t->names++;
	}
	return true;
}

static struct worker_request request;
static struct told told;

static bool ask(const struct elf_source *source)
{
	struct worker_output output = { .send = take, .context = &told };

	memset(&told, 0, sizeof(told));
	told.packets_left = UINT32_MAX;
	request.file_size = source->size;
	return worker_answer(source, &request, &output);
}

static void offsets_are_answered_in_their_order(void **state)
{
	const struct image_symbol symbols[] = {
		{ "_ZN3foo3barEi", 0x401200, 0x10, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1 },
		{ "plain", 0x401210, 0x10, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 1 },
	};
	struct elf_image m = elf_image_make(symbols, 2);
	struct elf_source source = elf_source_from_memory(m.bytes, m.size);

	(void)state;
	/* Descending, with a repetition, one outside of every segment, one without a symbol. */
	request = (struct worker_request){ .identify = true,
					   .count = 5,
					   .offsets = { 0x21f, 0x200, 0x21f, 0, 0x300 } };
	assert_true(ask(&source));
	assert_int_equal(told.files, 1);
	assert_int_equal(told.ends, 1);
	assert_int_equal(told.names, 5);
	assert_int_equal(told.file.status, WORKER_FILE_OK);
	assert_int_equal(told.file.parts, WORKER_HAS_SYMTAB | WORKER_HAS_SEGMENTS);
	assert_int_equal(strlen(told.file.build_id), 38);
	assert_string_equal(told.file.detail, "");
	assert_int_equal(told.name[0].address, 0x40121f);
	assert_int_equal(told.name[0].function_start, 0x401210);
	assert_string_equal(told.readable[0], "plain");
	assert_string_equal(told.readable[1], "foo::bar(int)");
	assert_string_equal(told.raw[1], "_ZN3foo3barEi");
	assert_string_equal(told.readable[2], "plain");
	assert_false(told.name[3].has_address);
	assert_true(told.name[4].has_address);
	assert_int_equal(told.name[4].address, 0x401300);
	assert_false(told.name[4].has_symbol);
	free(m.bytes);
}

static void the_build_id_is_found_only_when_asked_for(void **state)
{
	struct elf_image m = elf_image_make(NULL, 0);
	struct elf_source source = elf_source_from_memory(m.bytes, m.size);

	(void)state;
	request = (struct worker_request){ .count = 1 };
	assert_true(ask(&source));
	assert_string_equal(told.file.build_id, "");
	free(m.bytes);
}

static void a_file_that_is_no_elf_is_answered_as_such(void **state)
{
	struct elf_source source = elf_source_from_memory("JiTD and so on", 14);

	(void)state;
	request = (struct worker_request){ .count = 2 };
	assert_true(ask(&source));
	assert_int_equal(told.file.status, WORKER_FILE_NOT_ELF);
	assert_int_equal(told.file.parts, 0);
	assert_string_equal(told.file.detail, "not an ELF file");
	assert_int_equal(told.names, 2);
	assert_false(told.name[0].has_address);
}

static void nobody_listening_ends_the_work(void **state)
{
	struct elf_image m = elf_image_make(NULL, 0);
	struct elf_source source = elf_source_from_memory(m.bytes, m.size);
	struct worker_output output = { .send = take, .context = &told };

	(void)state;
	request = (struct worker_request){ .count = 1 };
	for (uint32_t packets = 0; packets < 3; packets++) {
		memset(&told, 0, sizeof(told));
		told.packets_left = packets;
		assert_false(worker_answer(&source, &request, &output));
	}
	free(m.bytes);
}

static void a_name_of_more_than_4_kib_is_cut(void **state)
{
	static char name[9000];
	const struct image_symbol symbol = { name, 0x401200, 0x10,
					     ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1 };
	struct elf_source source;
	struct elf_image m;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	m = elf_image_make(&symbol, 1);
	source = elf_source_from_memory(m.bytes, m.size);
	request = (struct worker_request){ .count = 1, .offsets = { 0x200 } };
	assert_true(ask(&source));
	assert_int_equal(told.name[0].name_len, WORKER_NAME_MAX);
	assert_int_equal(told.name[0].system_name_len, WORKER_NAME_MAX);
	free(m.bytes);
}

/*
 * Cut everywhere: in steps that hit each structure. Never a crash, always an answer, and always one
 * that says why.
 */
static void a_cut_file_gets_an_answer_that_says_so(void **state)
{
	struct built_file f = built_file_from("int main(void) { return 0; }", "c", "-O1");
	uint8_t *whole = malloc(f.size);
	unsigned int cuts = 0;

	(void)state;
	assert_int_equal(pread(f.fd, whole, f.size, 0), (ssize_t)f.size);
	request = (struct worker_request){ .identify = true,
					   .count = 2,
					   .offsets = { 0x1000, 0x1040 } };
	for (uint64_t size = 0; size < f.size; size += size < 1024 ? 7 : 71) {
		/* A buffer of its own, so that a byte too far is seen by the address sanitizer. */
		uint8_t *cut = malloc(size ? size : 1);
		struct elf_source source;

		memcpy(cut, whole, size);
		source = elf_source_from_memory(cut, size);
		assert_true(ask(&source));
		assert_int_equal(told.ends, 1);
		assert_int_equal(told.names, 2);
		assert_int_not_equal(told.file.status, WORKER_FILE_OK);
		assert_int_equal(told.file.status == WORKER_FILE_NOT_ELF, size < 4);
		assert_true(strlen(told.file.detail) > 10);
		free(cut);
		cuts++;
	}
	assert_true(cuts > 200);
	free(whole);
	built_file_remove(&f);
}

/* Each byte of the headers and tables changed in turn: whatever the answer says, there is one. */
static void a_changed_byte_does_no_harm(void **state)
{
	const struct image_symbol symbols[] = {
		{ "one", 0x401200, 0x10, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1 },
		{ "two", 0x401210, 0, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 1 },
	};
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	struct elf_image m = elf_image_make(symbols, 2);
	struct elf_source source = elf_source_from_memory(m.bytes, m.size);

	(void)state;
	request = (struct worker_request){ .identify = true,
					   .count = 2,
					   .offsets = { 0x204, 0x214 } };
	for (uint64_t at = 0; at < m.size; at++) {
		uint8_t old = m.bytes[at];

		if (at >= TEXT_OFFSET && at < TEXT_OFFSET + TEXT_SIZE)
			continue;
		for (unsigned int v = 0; v < sizeof(values); v++) {
			m.bytes[at] = values[v];
			assert_true(ask(&source));
			assert_int_equal(told.ends, 1);
			assert_int_equal(told.names, 2);
		}
		m.bytes[at] = old;
	}
	free(m.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_are_answered_in_their_order),
		cmocka_unit_test(the_build_id_is_found_only_when_asked_for),
		cmocka_unit_test(a_file_that_is_no_elf_is_answered_as_such),
		cmocka_unit_test(nobody_listening_ends_the_work),
		cmocka_unit_test(a_name_of_more_than_4_kib_is_cut),
		cmocka_unit_test(a_cut_file_gets_an_answer_that_says_so),
		cmocka_unit_test(a_changed_byte_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
