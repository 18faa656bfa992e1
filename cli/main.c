// SPDX-License-Identifier: Apache-2.0
/* belfry: the sub-commands, one line each. */
#include <stdio.h>
#include <string.h>

#include "cli/audit.h"
#include "cli/exit_code.h"
#include "cli/record.h"
#include "cli/report.h"
#include "cli/tables.h"

#ifndef BELFRY_VERSION
#define BELFRY_VERSION "0.1.0"
#endif

static int help_main(int argc, char **argv);
static int version_main(int argc, char **argv);

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the sub-command */
	const char *summary;
} commands[] = {
	{ "record", record_main, "record the host, processes or a command into a pprof file" },
	{ "report", report_main, "print the hottest functions or the stacks of a pprof file" },
	{ "tables", tables_command, "print what unwind rows an ELF file yields" },
	{ "audit", audit_main, "compare the running roles with their policies" },
	{ "version", version_main, "print the version" },
	{ "help", help_main, "print this" },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *out)
{
	fputs("usage: belfry COMMAND [options]\n", out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
	fputs("belfry COMMAND --help says more about each.\n", out);
}

static int help_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	print_help(stdout);
	return EXIT_CODE_OK;
}

static int version_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("belfry " BELFRY_VERSION);
	return EXIT_CODE_OK;
}

static const char *without_dashes(const char *name)
{
	return strncmp(name, "--", 2) ? name : name + 2; /* belfry --help, belfry --version */
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		print_help(stderr);
		return EXIT_CODE_USAGE;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(without_dashes(argv[1]), commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "belfry: %s: no such command\n", argv[1]);
	print_help(stderr);
	return EXIT_CODE_USAGE;
}
