// SPDX-License-Identifier: Apache-2.0
#include "uploader/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_id {
	OPTION_RUN_DIR = 256,
	OPTION_USER,
	OPTION_GROUP,
	OPTION_DIRECTORY,
	OPTION_SYMBOLIZER_UID,
	OPTION_MAX_BYTES,
	OPTION_MAX_AGE,
	OPTION_JOURNAL_BYTES,
	OPTION_SYNC,
	OPTION_ONCE,
	OPTION_VERBOSE,
	OPTION_HELP,
};

static const struct option long_options[] = {
	{ "run-dir", required_argument, NULL, OPTION_RUN_DIR },
	{ "user", required_argument, NULL, OPTION_USER },
	{ "group", required_argument, NULL, OPTION_GROUP },
	{ "directory", required_argument, NULL, OPTION_DIRECTORY },
	{ "symbolizer-uid", required_argument, NULL, OPTION_SYMBOLIZER_UID },
	{ "max-bytes", required_argument, NULL, OPTION_MAX_BYTES },
	{ "max-age", required_argument, NULL, OPTION_MAX_AGE },
	{ "journal-bytes", required_argument, NULL, OPTION_JOURNAL_BYTES },
	{ "sync", required_argument, NULL, OPTION_SYNC },
	{ "once", no_argument, NULL, OPTION_ONCE },
	{ "verbose", no_argument, NULL, OPTION_VERBOSE },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ 0 },
};

static const char help[] =
	"usage: belfry-uploader --directory DIR [options]\n"
	"  --directory DIR        write profiles below this directory\n"
	"  --run-dir DIR          folder of the sockets (/run/belfry)\n"
	"  --user U, --group G    become these when started as root (names or numbers)\n"
	"  --symbolizer-uid U     the only uid that is listened to\n"
	"  --max-bytes N          of all profiles together; the oldest go first (1073741824)\n"
	"  --max-age SECONDS      older profiles are removed (604800)\n"
	"  --journal-bytes N      begin a new journal when it has grown to this (8388608)\n"
	"  --sync file|never      bring each file to the disk before it gets its name\n"
	"                         (file; never with --once)\n"
	"  --once                 end when the collector's stream has ended\n"
	"  --verbose              say more; twice: say everything\n";

static bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && *out >= least &&
	       *out <= most;
}

static bool set_sync(bool *sync, const char *text)
{
	*sync = strcmp(text, "file") == 0;
	return *sync || strcmp(text, "never") == 0;
}

static bool set_value(struct uploader_options *o, int id, const char *text)
{
	uint64_t n;

	switch (id) {
	case OPTION_RUN_DIR:
		o->run_dir = text;
		return true;
	case OPTION_USER:
		o->user = text;
		return true;
	case OPTION_GROUP:
		o->group = text;
		return true;
	case OPTION_DIRECTORY:
		o->directory = text;
		return true;
	case OPTION_SYMBOLIZER_UID:
		if (!parse_number(text, 0, UINT32_MAX - 1, &n))
			return false;
		o->symbolizer_uid = (int64_t)n;
		return true;
	case OPTION_MAX_BYTES:
		return parse_number(text, 1, INT64_MAX, &o->max_bytes);
	case OPTION_MAX_AGE:
		return parse_number(text, 1, INT64_MAX, &o->max_age);
	case OPTION_JOURNAL_BYTES:
		return parse_number(text, 4096, INT64_MAX, &o->journal_bytes);
	default:
		return false;
	}
}

int uploader_options_parse(int argc, char **argv, struct uploader_options *out)
{
	bool sync_told = false;
	int index = 0;
	int id;

	*out = (struct uploader_options){ .run_dir = "/run/belfry",
					  .symbolizer_uid = -1,
					  .max_bytes = 1u << 30,
					  .max_age = 7 * 86400,
					  .journal_bytes = 8 << 20,
					  .sync = true };
	while ((id = getopt_long(argc, argv, "", long_options, &index)) != -1) {
		bool good = true;

		if (id == '?')
			return -EINVAL; /* getopt has said it */
		if (id == OPTION_HELP) {
			fputs(help, stdout);
			return 1;
		}
		if (id == OPTION_ONCE)
			out->once = true;
		else if (id == OPTION_VERBOSE)
			out->verbose++;
		else if (id == OPTION_SYNC)
			good = sync_told = set_sync(&out->sync, optarg);
		else
			good = set_value(out, id, optarg);
		if (!good) {
			fprintf(stderr, "belfry-uploader: --%s %s: not a value that it can have\n",
				long_options[index].name, optarg);
			return -EINVAL;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "belfry-uploader: %s: takes no arguments, only options\n",
			argv[optind]);
		return -EINVAL;
	}
	if (!out->directory) {
		fprintf(stderr,
			"belfry-uploader: --directory DIR says where to write; it is missing\n");
		return -EINVAL;
	}
	/* A recording lives as long as its starter: no need to wait for disks. */
	if (out->once && !sync_told)
		out->sync = false;
	return 0;
}
