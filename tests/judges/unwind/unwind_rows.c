/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_rows FILE < dump: compares each row of `belfry tables --dump FILE` with what elfutils says for the same addresses: every frame
 * that it knows inside the row, and in gaps that it knows none. Prints each difference; the last line has the sums. Exit code 0 = equal.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROW_TEXT 128
#define GAP_STEP 16 /* bytes: functions are aligned to that much */
#define SHOWN_MAX 10

struct row {
	uint64_t pc;
	char text[ROW_TEXT];
};

static const char *const registers[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
					 "r9",	"r10", "r11", "r12", "r13", "r14", "r15", "ra" };

static const char *name_of(uint64_t number)
{
	return number < sizeof(registers) / sizeof(registers[0]) ? registers[number] : "?";
}

static int is_breg(const Dwarf_Op *op)
{
	return op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31;
}

static void describe_cfa(const Dwarf_Op *ops, size_t n, char *out, size_t size)
{
	if (n == 1 && is_breg(ops))
		snprintf(out, size, "%s%+" PRId64, name_of(ops->atom - DW_OP_breg0), (int64_t)ops->number);
	else if (n == 1 && ops->atom == DW_OP_bregx)
		snprintf(out, size, "%s%+" PRId64, name_of(ops->number), (int64_t)ops->number2);
	else if (n == 9 && ops[2].atom == DW_OP_lit15)
		snprintf(out, size, "plt%d", ops[4].atom - DW_OP_lit0);
	else if ((n == 2 || n == 3) && is_breg(ops) && ops[1].atom == DW_OP_deref)
		snprintf(out, size, "*(%s%+" PRId64 ")%+" PRId64, name_of(ops->atom - DW_OP_breg0),
			 (int64_t)ops->number, n == 3 ? (int64_t)ops[2].number : 0);
	else
		snprintf(out, size, "bad:cfa_expression");
}

static void describe_register(Dwarf_Frame *frame, int number, char *out, size_t size)
{
	Dwarf_Op memory[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, number, memory, &ops, &n) != 0)
		snprintf(out, size, "error");
	else if (n == 0)
		snprintf(out, size, ops ? "u" : "s");
	else if (ops->atom == DW_OP_call_frame_cfa && n == 2 && ops[1].atom == DW_OP_plus_uconst)
		snprintf(out, size, "c%+" PRId64, (int64_t)ops[1].number);
	else if (ops->atom == DW_OP_call_frame_cfa && n == 2 && is_breg(&ops[1]))
		snprintf(out, size, "*(%s%+" PRId64 ")", name_of(ops[1].atom - DW_OP_breg0), (int64_t)ops[1].number);
	else if (ops->atom == DW_OP_call_frame_cfa && n == 1)
		snprintf(out, size, "c+0");
	else if (n == 1 && is_breg(ops))
		snprintf(out, size, "*(%s%+" PRId64 ")", name_of(ops->atom - DW_OP_breg0), (int64_t)ops->number);
	else if (n == 1 && ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31)
		snprintf(out, size, "%s", name_of(ops->atom - DW_OP_reg0));
	else if (n == 1 && ops->atom == DW_OP_regx)
		snprintf(out, size, "%s", name_of(ops->number));
	else
		snprintf(out, size, "other");
}

/* elfutils' rule for `pc` in the words of our dump; *end is where it stops to hold. "gap" where it knows none. */
static void judge(Dwarf_CFI *cfi, uint64_t pc, char *out, size_t size, uint64_t *end)
{
	char cfa[48], rbp[32], ra[32];
	Dwarf_Frame *frame;
	Dwarf_Addr start, stop;
	bool signal_frame;
	Dwarf_Op *ops;
	size_t n;
	int ra_register;

	*end = pc + GAP_STEP;
	snprintf(out, size, "gap");
	if (dwarf_cfi_addrframe(cfi, pc, &frame) != 0)
		return;
	ra_register = dwarf_frame_info(frame, &start, &stop, &signal_frame);
	*end = stop > pc ? stop : pc + 1;
	if (dwarf_frame_cfa(frame, &ops, &n) == 0) {
		describe_cfa(ops, n, cfa, sizeof(cfa));
		describe_register(frame, 6, rbp, sizeof(rbp));
		describe_register(frame, ra_register, ra, sizeof(ra));
		if (strncmp(cfa, "bad:", 4) == 0)
			snprintf(out, size, "%s", cfa);
		else
			snprintf(out, size, "%s %s %s%s", cfa, rbp, ra, signal_frame ? " S" : "");
	}
	free(frame);
}

static struct row *read_dump(size_t *count)
{
	struct row *rows = NULL;
	size_t room = 0;
	char line[17 + ROW_TEXT];

	*count = 0;
	while (fgets(line, sizeof(line), stdin)) {
		if (*count == room) {
			room = room ? 2 * room : 4096;
			rows = realloc(rows, room * sizeof(*rows));
			if (!rows)
				exit(2);
		}
		line[strcspn(line, "\n")] = '\0';
		rows[*count].pc = strtoull(line, NULL, 16);
		snprintf(rows[(*count)++].text, ROW_TEXT, "%s", line + 17);
	}
	return rows;
}

/* The last row is always a gap without an end; a page of it is looked at. */
static uint64_t compare(Dwarf_CFI *cfi, const char *file, const struct row *rows, size_t count, uint64_t *compared)
{
	uint64_t different = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t stop = i + 1 < count ? rows[i + 1].pc : rows[i].pc + 4096;
		uint64_t end;

		for (uint64_t pc = rows[i].pc; pc < stop; pc = end) {
			char text[ROW_TEXT];

			judge(cfi, pc, text, sizeof(text), &end);
			(*compared)++;
			if (strcmp(text, rows[i].text) == 0)
				continue;
			if (different++ < SHOWN_MAX)
				printf("%s: %" PRIx64 ": ours `%s`, elfutils' `%s`\n", file, pc, rows[i].text, text);
		}
	}
	return different;
}

int main(int argc, char **argv)
{
	uint64_t compared = 0, different;
	struct row *rows;
	Dwarf_CFI *cfi;
	size_t count;
	Elf *elf;
	int fd;

	if (argc != 2)
		return 2;
	elf_version(EV_CURRENT);
	fd = open(argv[1], O_RDONLY);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	cfi = elf ? dwarf_getcfi_elf(elf) : NULL;
	rows = read_dump(&count);
	if (!cfi) {
		printf("%s: elfutils finds no call frame information, we have %zu rows\n", argv[1], count);
		return count ? 1 : 0;
	}
	different = compare(cfi, argv[1], rows, count, &compared);
	printf("%s: %zu rows, %" PRIu64 " places compared, %" PRIu64 " different\n", argv[1], count, compared, different);
	return different ? 1 : 0;
}
