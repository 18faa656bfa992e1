/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording: everything that one `belfry record` has started, and the one place where it waits.
 * launcher.c starts it, recording.c waits and stops it, record_result.c turns it into a file.
 */
#ifndef BELFRY_CLI_RECORDING_H
#define BELFRY_CLI_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/collector_child.h"
#include "cli/command_child.h"
#include "cli/invoking_user.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/record_options.h"
#include "cli/role_users.h"
#include "cli/run_dir.h"
#include "cli/supervisor.h"

struct recording {
	const struct record_options *options;
	struct invoking_user user;
	struct role_users users;
	struct output_file output;
	struct run_dir dir;
	struct supervisor symbolizer;
	struct supervisor uploader;
	struct collector_child collector;
	struct command_child command;
	struct progress progress;
	int signal_fd;
	uint32_t interrupts; /* SIGINT, SIGTERM, SIGHUP so far */
	int64_t started_ms;  /* CLOCK_MONOTONIC, when sampling began */
	uint64_t elapsed_ms; /* how long it went on */
};

/* SIGINT, SIGTERM and SIGHUP are blocked and read from signal_fd from here on. Returns 0 or -errno.
 */
int recording_signals(struct recording *r);

/*
 * Waits until condition(r) holds, for at most `ms` (-1: for ever); every event of signals, roles
 * and command is taken meanwhile. False when time is over.
 */
bool recording_wait(struct recording *r, bool (*condition)(const struct recording *), int64_t ms);

/* Why there is nothing to wait for any more. */
bool recording_role_failed(const struct recording *r);

/* Waits for the end: duration, COMMAND, Ctrl-C or a role's failure. Shows progress. */
void recording_run(struct recording *r);

/* Stops sampling and lets everything that is underway arrive. A second Ctrl-C cuts it short. */
void recording_stop(struct recording *r);

/* Ends everything that runs and removes the run directory. */
void recording_close(struct recording *r);

int64_t recording_now_ms(void);

#endif
