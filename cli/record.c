// SPDX-License-Identifier: Apache-2.0
#include "cli/record.h"

#include <stdio.h>

#include "cli/exit_code.h"
#include "cli/inherited_fds.h"
#include "cli/launcher.h"
#include "cli/record_options.h"

int record_main(int argc, char **argv)
{
	struct record_options o;
	char problem[256];

	if (!inherited_streams_fill())
		return EXIT_CODE_PREFLIGHT; /* nowhere to say so */
	if (!record_options_parse(&o, argc, argv, problem, sizeof(problem))) {
		fprintf(stderr, "belfry record: %s\nbelfry record --help shows the options.\n",
			problem);
		return EXIT_CODE_USAGE;
	}
	if (o.help) {
		fputs(record_usage, stdout);
		return EXIT_CODE_OK;
	}
	return launcher_record(&o);
}
