/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "collector/cgroup.h"

#define FREQUENCY_MAX 100000 /* the kernel's shortest period of a software clock is 10 us */

enum option_id {
	OPTION_RUN_DIR = 256,
	OPTION_USER,
	OPTION_GROUP,
	OPTION_FREQUENCY,
	OPTION_CONTROL_FD,
	OPTION_SYMBOLIZER_UID,
	OPTION_AGENT_UID,
	OPTION_INCLUDE_AGENT,
	OPTION_TABLE_MEMORY,
	OPTION_FILTER_PID,
	OPTION_FILTER_CGROUP,
	OPTION_FILTER_UID,
	OPTION_ALLOW_REMOTE_FILES,
	OPTION_NO_HOTPLUG,
	OPTION_ACCEPT_FREEZE_BUG,
	OPTION_VERBOSE,
	OPTION_HELP,
};

static const struct option long_options[] = {
	{ "run-dir", required_argument, NULL, OPTION_RUN_DIR },
	{ "user", required_argument, NULL, OPTION_USER },
	{ "group", required_argument, NULL, OPTION_GROUP },
	{ "frequency", required_argument, NULL, OPTION_FREQUENCY },
	{ "control-fd", required_argument, NULL, OPTION_CONTROL_FD },
	{ "symbolizer-uid", required_argument, NULL, OPTION_SYMBOLIZER_UID },
	{ "agent-uid", required_argument, NULL, OPTION_AGENT_UID },
	{ "include-agent", no_argument, NULL, OPTION_INCLUDE_AGENT },
	{ "table-memory", required_argument, NULL, OPTION_TABLE_MEMORY },
	{ "filter-pid", required_argument, NULL, OPTION_FILTER_PID },
	{ "filter-cgroup", required_argument, NULL, OPTION_FILTER_CGROUP },
	{ "filter-uid", required_argument, NULL, OPTION_FILTER_UID },
	{ "allow-remote-files", no_argument, NULL, OPTION_ALLOW_REMOTE_FILES },
	{ "no-hotplug", no_argument, NULL, OPTION_NO_HOTPLUG },
	{ "accept-freeze-bug", no_argument, NULL, OPTION_ACCEPT_FREEZE_BUG },
	{ "verbose", no_argument, NULL, OPTION_VERBOSE },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ 0 },
};

static const char help[] =
	"usage: belfry-collector [options]\n"
	"  --run-dir DIR          folder of the sockets (/run/belfry)\n"
	"  --user U, --group G    become these when started as root (names or numbers)\n"
	"  --frequency HZ         samples a second and CPU (19)\n"
	"  --control-fd N         take commands on this socket, wait for START\n"
	"  --symbolizer-uid U     the only uid that is talked to\n"
	"  --agent-uid U          leave out samples of this uid as our own (may be repeated)\n"
	"  --include-agent        sample Belfry's own processes as well\n"
	"  --table-memory BYTES   most memory for BPF maps whose size can vary (16777216)\n"
	"  --filter-pid N, --filter-cgroup ID|PATH, --filter-uid N\n"
	"                         sample only these (may be repeated; kinds must all match)\n"
	"  --allow-remote-files   open files on FUSE and network file systems too\n"
	"  --no-hotplug           do not follow CPUs that come back; gives CAP_PERFMON up\n"
	"  --accept-freeze-bug    start on kernels that can freeze under BPF profilers\n"
	"  --verbose\n";

static bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && *out >= least &&
	       *out <= most;
}

static bool add_filter(struct options *o, enum filter_kind kind, uint64_t key)
{
	if (o->filter_count == OPTIONS_FILTERS_MAX)
		return false;
	o->filters[o->filter_count++] = (struct filter_option){ kind, key };
	return true;
}

static bool set_number(struct options *o, int id, const char *text)
{
	uint64_t n = 0;

	switch (id) {
	case OPTION_FREQUENCY:
		if (!parse_number(text, 1, FREQUENCY_MAX, &n))
			return false;
		o->frequency = (uint32_t)n;
		return true;
	case OPTION_CONTROL_FD:
		if (!parse_number(text, 3, INT32_MAX, &n))
			return false;
		o->control_fd = (int)n;
		return true;
	case OPTION_SYMBOLIZER_UID:
		if (!parse_number(text, 0, UINT32_MAX - 1, &n))
			return false;
		o->symbolizer_uid = (int64_t)n;
		return true;
	case OPTION_AGENT_UID:
		if (!parse_number(text, 0, UINT32_MAX - 1, &n) ||
		    o->agent_uid_count == OPTIONS_AGENT_UIDS_MAX)
			return false;
		o->agent_uids[o->agent_uid_count++] = (uint32_t)n;
		return true;
	case OPTION_TABLE_MEMORY:
		return parse_number(text, 65536, UINT32_MAX, &o->table_memory);
	case OPTION_FILTER_PID:
		return parse_number(text, 1, UINT32_MAX, &n) && add_filter(o, FILTER_PROCESS, n);
	case OPTION_FILTER_UID:
		return parse_number(text, 0, UINT32_MAX - 1, &n) && add_filter(o, FILTER_UID, n);
	case OPTION_FILTER_CGROUP:
		return cgroup_id(text, &n) == 0 && add_filter(o, FILTER_CGROUP, n);
	default:
		return false;
	}
}

static bool set_option(struct options *o, int id, const char *text)
{
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
	case OPTION_INCLUDE_AGENT:
		o->include_agent = true;
		return true;
	case OPTION_ALLOW_REMOTE_FILES:
		o->allow_remote_files = true;
		return true;
	case OPTION_NO_HOTPLUG:
		o->hotplug = false;
		return true;
	case OPTION_ACCEPT_FREEZE_BUG:
		o->accept_freeze_bug = true;
		return true;
	case OPTION_VERBOSE:
		o->verbose = true;
		return true;
	default:
		return set_number(o, id, text);
	}
}

int options_parse(int argc, char **argv, struct options *out)
{
	int index = 0;
	int id;

	*out = (struct options){ .run_dir = "/run/belfry",
				 .frequency = 19, /* a prime: does not march in step with timers */
				 .control_fd = -1,
				 .symbolizer_uid = -1,
				 .table_memory = 16u << 20,
				 .hotplug = true };
	while ((id = getopt_long(argc, argv, "", long_options, &index)) != -1) {
		if (id == OPTION_HELP) {
			fputs(help, stdout);
			return 1;
		}
		if (id == '?')
			return -EINVAL; /* getopt has said it */
		if (!set_option(out, id, optarg)) {
			fprintf(stderr, "belfry-collector: --%s %s: not a value that it can have\n",
				long_options[index].name, optarg);
			return -EINVAL;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "belfry-collector: %s: takes no arguments, only options\n",
			argv[optind]);
		return -EINVAL;
	}
	return 0;
}
