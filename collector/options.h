/* SPDX-License-Identifier: Apache-2.0 */
/* options: the collector's command line. */
#ifndef BELFRY_COLLECTOR_OPTIONS_H
#define BELFRY_COLLECTOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/shared.h"

#define OPTIONS_FILTERS_MAX    64
#define OPTIONS_AGENT_UIDS_MAX 16

struct filter_option {
	enum filter_kind kind;
	uint64_t key;
};

struct options {
	const char *run_dir;
	const char *user;  /* NULL: the policy's */
	const char *group; /* NULL: the policy's */
	uint32_t frequency;
	int control_fd;		/* -1: sampling starts at once */
	int64_t symbolizer_uid; /* -1: the uid of the symbolizer policy's user */
	uint32_t agent_uids[OPTIONS_AGENT_UIDS_MAX];
	uint32_t agent_uid_count;
	struct filter_option filters[OPTIONS_FILTERS_MAX];
	uint32_t filter_count;
	uint64_t table_memory; /* bytes */
	bool include_agent;
	bool allow_remote_files;
	bool hotplug;
	bool accept_freeze_bug;
	bool verbose;
};

/* Returns 0, 1 when all is said (--help), or -EINVAL (said on standard error). */
int options_parse(int argc, char **argv, struct options *out);

#endif
