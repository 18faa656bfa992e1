/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/built_file.h"
#include "tests/unit/elf_image.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/elf/segments.h"

static enum elf_status open_bytes(struct elf_file *e, const void *bytes, uint64_t size,
				  const char **why)
{
	struct elf_source source = elf_source_from_memory(bytes, size);

	return elf_file_open(e, &source, why);
}

static void an_offset_becomes_the_address_of_its_segment(void **state)
{
	struct elf_image m = elf_image_make(NULL, 0);
	struct elf_file e;
	const char *why;
	uint64_t address;

	(void)state;
	assert_int_equal(open_bytes(&e, m.bytes, m.size, &why), ELF_OK);
	assert_true(segments_address(&e, TEXT_OFFSET, &address));
	assert_int_equal(address, TEXT_ADDRESS);
	assert_true(segments_address(&e, TEXT_OFFSET + TEXT_SIZE - 1, &address));
	assert_int_equal(address, TEXT_ADDRESS + TEXT_SIZE - 1);
	assert_false(segments_address(&e, TEXT_OFFSET - 1, &address));
	assert_false(segments_address(&e, TEXT_OFFSET + TEXT_SIZE, &address));
	elf_file_close(&e);
	free(m.bytes);
}

/*
 * Two executable segments whose address and offset differ by different amounts, as lld and mold lay
 * them out.
 */
static void each_segment_has_its_own_distance(void **state)
{
	struct elf_image m = elf_image_make(NULL, 0);
	struct elf_file e;
	const char *why;
	uint64_t address;

	(void)state;
	m.header->e_phnum = 3;
	m.segments[0].p_filesz = 0x100;
	m.segments[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
				      .p_flags = PF_R | PF_X,
				      .p_offset = TEXT_OFFSET + 0x100,
				      .p_vaddr = 0xb72300,
				      .p_filesz = 0x80,
				      .p_memsz = 0x80 };
	/* A data segment over the same bytes of the file must not win over the code. */
	m.segments[2] = m.segments[1];
	m.segments[2].p_flags = PF_R | PF_W;
	m.segments[2].p_vaddr = 0x900000;
	assert_int_equal(open_bytes(&e, m.bytes, m.size, &why), ELF_OK);
	assert_true(segments_address(&e, TEXT_OFFSET + 0xff, &address));
	assert_int_equal(address, TEXT_ADDRESS + 0xff);
	assert_true(segments_address(&e, TEXT_OFFSET + 0x100, &address));
	assert_int_equal(address, 0xb72300);
	assert_true(segments_address(&e, TEXT_OFFSET + 0x17f, &address));
	assert_int_equal(address, 0xb7237f);
	assert_false(segments_address(&e, TEXT_OFFSET + 0x180, &address));
	elf_file_close(&e);
	free(m.bytes);
}

static void what_is_not_elf_is_said_to_be_so(void **state)
{
	struct elf_image m = elf_image_make(NULL, 0);
	struct elf_file e;
	const char *why;

	(void)state;
	assert_int_equal(open_bytes(&e, "", 0, &why), ELF_NOT_ELF);
	assert_int_equal(open_bytes(&e,
				    "\x7f"
				    "EL",
				    3, &why),
			 ELF_NOT_ELF);
	assert_int_equal(open_bytes(&e, "#!/bin/sh\nexit 0\n", 17, &why), ELF_NOT_ELF);
	m.header->e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(open_bytes(&e, m.bytes, m.size, &why), ELF_MALFORMED);
	assert_string_equal(why, "32-bit ELF is not supported");
	m.header->e_ident[EI_CLASS] = ELFCLASS64;
	m.header->e_ident[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(open_bytes(&e, m.bytes, m.size, &why), ELF_MALFORMED);
	assert_string_equal(why, "big-endian ELF is not supported");
	free(m.bytes);
}

static void damaged_sections_cost_the_sections_only(void **state)
{
	struct elf_image m = elf_image_make(NULL, 0);
	struct elf_file e;
	const char *why;
	uint64_t address;

	(void)state;
	m.header->e_shoff = m.size - 8;
	assert_int_equal(open_bytes(&e, m.bytes, m.size, &why), ELF_OK);
	assert_string_equal(e.warning, "section headers end after the file");
	assert_int_equal(e.section_count, 0);
	assert_true(segments_address(&e, TEXT_OFFSET, &address));
	/* Without sections the executable segment is where code can be. */
	assert_non_null(elf_file_code_at(&e, TEXT_ADDRESS));
	elf_file_close(&e);
	free(m.bytes);
}

static void counts_beyond_16_bits_come_from_section_0(void **state)
{
	struct elf_image m = elf_image_make(NULL, 0);
	struct elf_file e;
	const char *why;

	(void)state;
	m.header->e_phnum = PN_XNUM;
	m.header->e_shnum = 0;
	m.sections[0].sh_info = 1;
	m.sections[0].sh_size = 4;
	assert_int_equal(open_bytes(&e, m.bytes, m.size, &why), ELF_OK);
	assert_null(e.warning);
	assert_int_equal(e.segment_count, 1);
	assert_int_equal(e.section_count, 4);
	elf_file_close(&e);
	m.sections[0].sh_info = ELF_SEGMENTS_MAX + 1;
	assert_int_equal(open_bytes(&e, m.bytes, m.size, &why), ELF_MALFORMED);
	assert_string_equal(why, "more program headers than allowed");
	m.sections[0].sh_info = 1;
	m.sections[0].sh_size = UINT64_MAX;
	assert_int_equal(open_bytes(&e, m.bytes, m.size, &why), ELF_OK);
	assert_string_equal(e.warning, "more section headers than allowed");
	elf_file_close(&e);
	free(m.bytes);
}

/* 70,000 sections that the linker really made: e_shnum is 0 there. */
static void more_sections_than_65280_are_read(void **state)
{
	struct built_file f = built_file_from(".altmacro\n.set i,0\n.macro one k\n.section "
					      ".s\\k,\"ax\",@progbits\n.byte 0xc3\n.endm\n"
					      ".rept 70000\none %i\n.set i,i+1\n.endr\n",
					      "s", "-c");
	struct elf_source source = elf_source_from_fd(f.fd, f.size);
	struct elf_file e;
	const char *why;

	(void)state;
	assert_int_equal(elf_file_open(&e, &source, &why), ELF_OK);
	assert_null(e.warning);
	assert_true(e.section_count > 70000);
	elf_file_close(&e);
	built_file_remove(&f);
}

static void a_file_cut_while_it_is_read_is_an_error(void **state)
{
	struct built_file f = built_file_from("int main(void) { return 0; }", "c", "");
	struct elf_source source = elf_source_from_fd(f.fd, f.size);
	struct elf_file e;
	const char *why;

	(void)state;
	/* Its size was taken before; now the file is shorter than that. */
	assert_int_equal(truncate(f.path, 100), 0);
	assert_int_equal(elf_file_open(&e, &source, &why), ELF_MALFORMED);
	assert_string_equal(why, "program headers end after the file");
	built_file_remove(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_offset_becomes_the_address_of_its_segment),
		cmocka_unit_test(each_segment_has_its_own_distance),
		cmocka_unit_test(what_is_not_elf_is_said_to_be_so),
		cmocka_unit_test(damaged_sections_cost_the_sections_only),
		cmocka_unit_test(counts_beyond_16_bits_come_from_section_0),
		cmocka_unit_test(more_sections_than_65280_are_read),
		cmocka_unit_test(a_file_cut_while_it_is_read_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
