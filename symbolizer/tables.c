/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ipc/log.h"
#include "policy/confine.h"
#include "symbolizer/cfi/unwind_rows.h"
#include "symbolizer/cfi/unwind_sections.h"

#define NOBODY	    65534 /* whom root becomes before it parses */
#define MEMORY_MAX  (1024ull * 1024 * 1024)
#define CPU_SECONDS 30

static const char *register_name(uint8_t number)
{
	static const char *const names[DWARF_REGISTERS] = { "rax", "rdx", "rcx", "rbx", "rsi",
							    "rdi", "rbp", "rsp", "r8",	"r9",
							    "r10", "r11", "r12", "r13", "r14",
							    "r15", "ra" };

	return number < DWARF_REGISTERS ? names[number] : "?";
}

static const char *bad_name(enum bad_reason why)
{
	static const char *const names[BAD_REASONS] = {
		[BAD_NONE] = "none",
		[BAD_CFA_EXPRESSION] = "cfa_expression",
		[BAD_CFA_REGISTER] = "cfa_register",
		[BAD_RA_RULE] = "return_address_rule",
		[BAD_RBP_RULE] = "rbp_rule",
		[BAD_OFFSET] = "offset",
		[BAD_OPCODE] = "opcode",
		[BAD_STATE_STACK] = "state_stack",
		[BAD_TRUNCATED] = "truncated",
	};

	return names[why];
}

static void print_cfa(const struct unwind_rule *r)
{
	switch ((enum cfa_kind)r->cfa_kind) {
	case CFA_REGISTER:
		printf("%s%+d", register_name(r->cfa_register), r->cfa_offset);
		break;
	case CFA_DEREF:
		printf("*(%s%+d)%+d", register_name(r->cfa_register), r->cfa_offset, r->cfa_addend);
		break;
	case CFA_PLT:
		printf("plt%u", r->plt_limit);
		break;
	case CFA_BAD:
		printf("bad:%s", bad_name((enum bad_reason)r->bad));
		break;
	case CFA_GAP:
		printf("gap");
		break;
	}
}

static void print_saved(const struct saved_rule *s)
{
	switch ((enum rule_kind)s->kind) {
	case RULE_SAME:
		printf(" s");
		break;
	case RULE_AT_CFA:
		printf(" c%+d", s->offset);
		break;
	case RULE_AT_REGISTER:
		printf(" *(%s%+d)", register_name(s->reg), s->offset);
		break;
	case RULE_REGISTER:
		printf(" %s", register_name(s->reg));
		break;
	case RULE_UNDEFINED:
		printf(" u");
		break;
	}
}

/* LOC CFA rbp ra, as `readelf --debug-dump=frames-interp` has its columns; S marks a signal frame.
 */
static void print_row(void *context, const struct unwind_row *row)
{
	const bool *dump = context;

	if (!*dump)
		return;
	printf("%016" PRIx64 " ", row->pc);
	print_cfa(&row->rule);
	if (row->rule.cfa_kind != CFA_BAD && row->rule.cfa_kind != CFA_GAP) {
		print_saved(&row->rule.rbp);
		print_saved(&row->rule.ra);
		if (row->rule.signal_frame)
			printf(" S");
	}
	putchar('\n');
}

static void print_counts(const struct unwind_sections *u, const struct unwind_counts *c,
			 double seconds)
{
	for (uint32_t i = 0; i < u->count; i++)
		printf("section  %s, %u bytes\n", u->names[i], u->found[i].len);
	if (u->count == 0)
		printf("section  none: frame pointers are all there is\n");
	if (u->skipped)
		printf("skipped  %s\n", u->skipped);
	printf("entries  %" PRIu64 " (%" PRIu64 " empty, %" PRIu64 " unreadable, %" PRIu64
	       " overlapped, %" PRIu64 " over the limit)\n",
	       c->fdes, c->empty, c->invalid, c->overlapped, c->over_limit);
	printf("rows     %" PRIu64 " (%" PRIu64 " before neighbours were merged)\n", c->merged_rows,
	       c->rows);
	printf("gaps     %" PRIu64 "\n", c->gaps);
	for (int i = BAD_NONE + 1; i < BAD_REASONS; i++)
		if (c->bad[i])
			printf("bad      %" PRIu64 " rows: %s\n", c->bad[i],
			       bad_name((enum bad_reason)i));
	printf("time     %.3f ms\n", seconds * 1000);
}

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

static int print_tables(const struct elf_file *e, bool dump)
{
	struct unwind_sections u;
	struct unwind_counts counts;
	struct timespec start;
	int error;

	clock_gettime(CLOCK_MONOTONIC, &start);
	unwind_sections_read(&u, e);
	error = unwind_rows_build(u.found, u.count, print_row, &dump, &counts);
	if (error)
		log_error("tables", "building the rows: %s", strerror(-error));
	else if (!dump)
		print_counts(&u, &counts, seconds_since(&start));
	unwind_sections_free(&u);
	return error ? 1 : 0;
}

/* As a worker is confined: the file, standard output, some memory and time. */
static int confine(void)
{
	const struct identity nobody = { NOBODY, NOBODY };
	const struct rlimit memory = { MEMORY_MAX, MEMORY_MAX }, cpu = { CPU_SECONDS, CPU_SECONDS };

	if (geteuid() == 0 && confine_become(&policy_symbolizer, &nobody) != 0)
		return -EPERM;
	if (setrlimit(RLIMIT_AS, &memory) != 0 || setrlimit(RLIMIT_CPU, &cpu) != 0)
		return -errno;
	if (confine_no_new_privileges() != 0 || confine_landlock(&policy_symbolizer, NULL, 0) < 0)
		return -EPERM;
	return confine_seccomp(&policy_symbolizer, "worker");
}

int tables_main(int fd, bool dump)
{
	struct elf_source source;
	struct elf_file e;
	struct stat s;
	const char *why;
	int result;

	if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode)) {
		fprintf(stderr, "belfry tables: not a regular file\n");
		return 1;
	}
	if (confine() != 0)
		return 1;
	source = elf_source_from_fd(fd, (uint64_t)s.st_size);
	if (elf_file_open(&e, &source, &why) != ELF_OK) {
		fprintf(stderr, "belfry tables: %s\n", why);
		return 1;
	}
	result = print_tables(&e, dump);
	elf_file_close(&e);
	return fflush(stdout) == 0 ? result : 1;
}
