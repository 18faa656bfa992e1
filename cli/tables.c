/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit_code.h"
#include "cli/role_command.h"

static void usage(FILE *out)
{
	fputs("usage: belfry tables [--dump] FILE\n"
	      "Prints what unwind rows an ELF file yields: entries, rows, gaps, and what cannot be "
	      "expressed.\n"
	      "  --dump  every row instead: address, CFA, rbp, return address, in the words of\n"
	      "          readelf --debug-dump=frames-interp\n",
	      out);
}

int tables_command(int argc, char **argv)
{
	static const struct option options[] = { { "dump", no_argument, NULL, 'd' },
						 { "help", no_argument, NULL, 'h' },
						 { NULL, 0, NULL, 0 } };
	struct role_command c;
	const char *dump = "--tables";
	int option, fd;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'd') {
			dump = "--tables-dump";
			continue;
		}
		usage(option == 'h' ? stdout : stderr);
		return option == 'h' ? EXIT_CODE_OK : EXIT_CODE_USAGE;
	}
	if (optind + 1 != argc) {
		usage(stderr);
		return EXIT_CODE_USAGE;
	}
	if (!role_command_find(&c, "symbolizer")) {
		fprintf(stderr, "belfry tables: belfry-symbolizer is neither beside belfry nor "
				"installed\n");
		return EXIT_CODE_USAGE;
	}
	fd = open(argv[optind], O_RDONLY | O_NONBLOCK | O_NOCTTY); /* a FIFO must not hold us up */
	if (fd < 0) {
		fprintf(stderr, "belfry tables: %s: %s\n", argv[optind], strerror(errno));
		return EXIT_CODE_USAGE;
	}
	role_command_add(&c, "belfry-symbolizer");
	role_command_number(&c, dump, (uint64_t)fd);
	execve(c.path, c.argv, role_environment());
	fprintf(stderr, "belfry tables: %s: %s\n", c.path, strerror(errno));
	return EXIT_CODE_USAGE;
}
