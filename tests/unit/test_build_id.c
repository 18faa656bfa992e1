/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/built_file.h"
#include "symbolizer/elf/build_id.h"

#define PROGRAM "int main(void) { return 0; }"

static enum build_id_kind id_of(struct built_file *f, char *out)
{
	struct elf_source source = elf_source_from_fd(f->fd, f->size);
	struct elf_file e;
	const char *why;
	enum build_id_kind kind;

	assert_int_equal(elf_file_open(&e, &source, &why), ELF_OK);
	kind = build_id_find(&e, out);
	elf_file_close(&e);
	return kind;
}

static enum build_id_kind id_of_program(const char *source, const char *extension,
					const char *flags, char *out)
{
	struct built_file f = built_file_from(source, extension, flags);
	enum build_id_kind kind = id_of(&f, out);

	built_file_remove(&f);
	return kind;
}

/* Asm for a note of Go's linker; the text is the id. */
static const char *go_note(const char *id)
{
	static char text[1024];

	snprintf(text, sizeof(text),
		 ".globl main\nmain: xor %%eax,%%eax\nret\n"
		 ".section .note.go.buildid,\"a\",@note\n.balign 4\n"
		 ".long 4, 1f-0f, 4\n.ascii \"Go\\0\\0\"\n0: .ascii \"%s\"\n1: .balign 4\n"
		 ".section .note.GNU-stack,\"\",@progbits\n",
		 id);
	return text;
}

static void the_gnu_note_is_what_readelf_prints(void **state)
{
	struct built_file f = built_file_from(PROGRAM, "c", "-Wl,--build-id=sha1");
	char command[256], expected[128] = "", id[BUILD_ID_TEXT_MAX];
	FILE *p;

	(void)state;
	snprintf(command, sizeof(command), "readelf -n %s | sed -n 's/.*Build ID: //p'", f.path);
	p = popen(command, "r");
	assert_non_null(fgets(expected, sizeof(expected), p));
	pclose(p);
	expected[strcspn(expected, "\n")] = '\0';
	assert_int_equal(id_of(&f, id), BUILD_ID_GNU);
	assert_string_equal(id, expected);
	/* The note is found by PT_NOTE as well. */
	run_command("llvm-objcopy --strip-sections %s", f.path);
	built_file_open(&f);
	assert_int_equal(id_of(&f, id), BUILD_ID_GNU);
	assert_string_equal(id, expected);
	built_file_remove(&f);
}

static void an_id_chosen_by_hand_is_taken_as_it_is(void **state)
{
	char id[BUILD_ID_TEXT_MAX];

	(void)state;
	assert_int_equal(id_of_program(PROGRAM, "c", "-Wl,--build-id=0x0123456789abcdef", id),
			 BUILD_ID_GNU);
	assert_string_equal(id, "0123456789abcdef");
}

static void one_byte_or_zeros_are_not_trusted(void **state)
{
	char id[BUILD_ID_TEXT_MAX];

	(void)state;
	assert_int_equal(id_of_program(PROGRAM, "c", "-Wl,--build-id=0x00", id), BUILD_ID_CONTENT);
	assert_int_equal(id_of_program(PROGRAM, "c", "-Wl,--build-id=0x7f", id), BUILD_ID_CONTENT);
	assert_int_equal(id_of_program(PROGRAM, "c", "-Wl,--build-id=0x00000000", id),
			 BUILD_ID_CONTENT);
}

static void without_a_note_the_contents_are_the_id(void **state)
{
	struct built_file f = built_file_from(PROGRAM, "c", "-Wl,--build-id=none");
	char first[BUILD_ID_TEXT_MAX], again[BUILD_ID_TEXT_MAX];

	(void)state;
	assert_int_equal(id_of(&f, first), BUILD_ID_CONTENT);
	assert_int_equal(strlen(first), 6 + 32);
	assert_memory_equal(first, "be1f0c", 6);
	run_command("cp %s %s.copy && mv %s.copy %s", f.path, f.path, f.path, f.path);
	built_file_open(&f);
	assert_int_equal(id_of(&f, again), BUILD_ID_CONTENT);
	assert_string_equal(first, again);
	built_file_remove(&f);
}

/* The same machine code under another function name: not the same file. */
static void files_that_differ_in_a_name_have_two_ids(void **state)
{
	char a[BUILD_ID_TEXT_MAX], b[BUILD_ID_TEXT_MAX];

	(void)state;
	id_of_program("void name_a(void) {} int main(void) { return 0; }", "c",
		      "-Wl,--build-id=none", a);
	id_of_program("void name_b(void) {} int main(void) { return 0; }", "c",
		      "-Wl,--build-id=none", b);
	assert_string_not_equal(a, b);
}

/*
 * 3 MiB of nothing before and behind it: too far from both ends of the file to be hashed as an
 * edge.
 */
static const char *code_in_the_middle(int value)
{
	static char text[512];

	snprintf(text, sizeof(text),
		 ".globl main\nmain: ret\n.space 3145728, 0xcc\nmov $%d, %%eax\nret\n.space "
		 "3145728, 0xcc\n"
		 ".section .note.GNU-stack,\"\",@progbits\n",
		 value);
	return text;
}

/* Beyond 4 MiB only the ends and the code are read. */
static void large_files_that_differ_in_code_or_at_the_end_have_two_ids(void **state)
{
	const char *flags = "-Wl,--build-id=none -Wl,--defsym=name_a=1";
	char one[BUILD_ID_TEXT_MAX], two[BUILD_ID_TEXT_MAX], end[BUILD_ID_TEXT_MAX];

	(void)state;
	assert_int_equal(id_of_program(code_in_the_middle(1), "s", flags, one), BUILD_ID_CONTENT);
	id_of_program(code_in_the_middle(2), "s", flags, two);
	id_of_program(code_in_the_middle(1), "s", "-Wl,--build-id=none -Wl,--defsym=name_b=1", end);
	assert_string_not_equal(one, two);
	assert_string_not_equal(one, end);
	assert_string_not_equal(two, end);
}

static void go_notes_give_each_program_its_own_id(void **state)
{
	char a[BUILD_ID_TEXT_MAX], b[BUILD_ID_TEXT_MAX];

	(void)state;
	assert_int_equal(id_of_program(go_note("aaaaaaaaaaaaaaaaaaaa/b/c/dddddddddddddddddddd"),
				       "s", "-Wl,--build-id=none", a),
			 BUILD_ID_GO);
	assert_int_equal(id_of_program(go_note("aaaaaaaaaaaaaaaaaaaa/b/c/eeeeeeeeeeeeeeeeeeee"),
				       "s", "-Wl,--build-id=none", b),
			 BUILD_ID_GO);
	assert_memory_equal(a, "be1f60", 6);
	assert_string_not_equal(a, b);
}

static void a_go_id_that_a_build_system_blanked_is_not_trusted(void **state)
{
	char id[BUILD_ID_TEXT_MAX];

	(void)state;
	assert_int_equal(id_of_program(go_note("redacted"), "s", "-Wl,--build-id=none", id),
			 BUILD_ID_CONTENT);
	assert_int_equal(id_of_program(go_note(""), "s", "-Wl,--build-id=none", id),
			 BUILD_ID_CONTENT);
}

static void the_gnu_note_goes_before_gos(void **state)
{
	char id[BUILD_ID_TEXT_MAX];

	(void)state;
	assert_int_equal(id_of_program(go_note("aaaaaaaaaaaaaaaaaaaa/b/c/dddddddddddddddddddd"),
				       "s", "-Wl,--build-id=0x1122334455667788", id),
			 BUILD_ID_GNU);
	assert_string_equal(id, "1122334455667788");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_gnu_note_is_what_readelf_prints),
		cmocka_unit_test(an_id_chosen_by_hand_is_taken_as_it_is),
		cmocka_unit_test(one_byte_or_zeros_are_not_trusted),
		cmocka_unit_test(without_a_note_the_contents_are_the_id),
		cmocka_unit_test(files_that_differ_in_a_name_have_two_ids),
		cmocka_unit_test(large_files_that_differ_in_code_or_at_the_end_have_two_ids),
		cmocka_unit_test(go_notes_give_each_program_its_own_id),
		cmocka_unit_test(a_go_id_that_a_build_system_blanked_is_not_trusted),
		cmocka_unit_test(the_gnu_note_goes_before_gos),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
