/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#define WINDOW_SECONDS_DEFAULT 10
#define WINDOW_SECONDS_MAX 3600

enum {
	OPTION_RUN_DIR = 256,
	OPTION_USER,
	OPTION_GROUP,
	OPTION_NODE,
	OPTION_COLLECTOR_UID,
	OPTION_UPLOADER_UID,
	OPTION_WINDOW,
	OPTION_TABLES,
	OPTION_TABLES_DUMP,
	OPTION_SELFTEST_SYSCALL,
	OPTION_SELFTEST_PROCESS,
};

static const struct option long_options[] = {
	{ "run-dir", required_argument, NULL, OPTION_RUN_DIR },
	{ "user", required_argument, NULL, OPTION_USER },
	{ "group", required_argument, NULL, OPTION_GROUP },
	{ "node", required_argument, NULL, OPTION_NODE },
	{ "collector-uid", required_argument, NULL, OPTION_COLLECTOR_UID },
	{ "uploader-uid", required_argument, NULL, OPTION_UPLOADER_UID },
	{ "window", required_argument, NULL, OPTION_WINDOW },
	{ "tables", required_argument, NULL, OPTION_TABLES },
	{ "tables-dump", required_argument, NULL, OPTION_TABLES_DUMP },
#ifdef BELFRY_SELFTEST
	{ "selftest-syscall", required_argument, NULL, OPTION_SELFTEST_SYSCALL },
	{ "selftest-process", required_argument, NULL, OPTION_SELFTEST_PROCESS },
#endif
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void usage(FILE *to)
{
	fprintf(to,
		"usage: belfry-symbolizer [OPTION]...\n"
		"  --run-dir DIR        where the roles' sockets are (default /run/belfry)\n"
		"  --user U, --group G  who to become when started as root (default: as in the policy)\n"
		"  --node NAME          value of the node label (default: the host's name)\n"
		"  --collector-uid UID  only this user may send samples and files\n"
		"  --uploader-uid UID   only this user gets profiles\n"
		"  --window SECONDS     length of a profile, 1 to %d (default %d)\n"
		"  --tables FD          print the unwind rows of an open file and end (belfry tables)\n"
		"  -v, --verbose        more lines in the log\n",
		WINDOW_SECONDS_MAX, WINDOW_SECONDS_DEFAULT);
}

static int number(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || *value < least || *value > most) {
		fprintf(stderr, "belfry-symbolizer: %s %s: expected a number from %llu to %llu\n", name, text,
			(unsigned long long)least, (unsigned long long)most);
		return -1;
	}
	return 0;
}

static int take(struct symbolizer_options *o, int option)
{
	uint64_t value;

	switch (option) {
	case OPTION_RUN_DIR:
		o->run_dir = optarg;
		return 0;
	case OPTION_USER:
		o->user = optarg;
		return 0;
	case OPTION_GROUP:
		o->group = optarg;
		return 0;
	case OPTION_NODE:
		o->node = optarg;
		return 0;
	case OPTION_COLLECTOR_UID:
		if (number("--collector-uid", optarg, 0, UINT32_MAX - 2, &value) != 0)
			return -1;
		o->collector_uid = (int64_t)value;
		return 0;
	case OPTION_UPLOADER_UID:
		if (number("--uploader-uid", optarg, 0, UINT32_MAX - 2, &value) != 0)
			return -1;
		o->uploader_uid = (int64_t)value;
		return 0;
	case OPTION_WINDOW:
		if (number("--window", optarg, 1, WINDOW_SECONDS_MAX, &value) != 0)
			return -1;
		o->window_seconds = (uint32_t)value;
		return 0;
#ifdef BELFRY_SELFTEST
	case OPTION_SELFTEST_SYSCALL:
		o->selftest_syscall = optarg;
		return 0;
	case OPTION_SELFTEST_PROCESS:
		o->selftest_process = optarg;
		return 0;
#endif
	case OPTION_TABLES:
	case OPTION_TABLES_DUMP:
		if (number("--tables", optarg, 0, INT32_MAX, &value) != 0)
			return -1;
		o->tables_fd = (int)value;
		o->tables_dump = option == OPTION_TABLES_DUMP;
		return 0;
	case 'v':
		o->verbose++;
		return 0;
	case 'h':
		usage(stdout);
		return 1;
	default:
		usage(stderr);
		return -1;
	}
}

int symbolizer_options_parse(int argc, char **argv, struct symbolizer_options *o)
{
	int option;

	*o = (struct symbolizer_options){ .run_dir = "/run/belfry", .collector_uid = -1, .uploader_uid = -1,
					  .window_seconds = WINDOW_SECONDS_DEFAULT,
					  .tables_fd = -1 };
	while ((option = getopt_long(argc, argv, "vh", long_options, NULL)) != -1) {
		int result = take(o, option);

		if (result)
			return result;
	}
	if (optind < argc) {
		fprintf(stderr, "belfry-symbolizer: unexpected argument %s\n", argv[optind]);
		return -1;
	}
	return 0;
}
