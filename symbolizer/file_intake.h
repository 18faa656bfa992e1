/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_intake: the symbolizer's end of the file channel. One collector at a time, known by its uid;
 * each packet is checked against the channel's rules; whoever breaks one is disconnected and
 * counted.
 */
#ifndef BELFRY_SYMBOLIZER_FILE_INTAKE_H
#define BELFRY_SYMBOLIZER_FILE_INTAKE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/log_limit.h"
#include "symbolizer/kernel_symbols.h"
#include "symbolizer/symbols.h"

struct file_intake_counters {
	uint64_t connections;
	uint64_t peers_refused; /* another uid, or a second peer */
	uint64_t rules_broken;
	uint64_t files;
};

struct file_intake {
	struct symbols *symbols;
	struct kernel_symbols *kernel;
	uid_t collector_uid;
	int listener;
	int connection;	    /* -1 = none */
	uint32_t phase;	    /* FILE_PHASE_* of the connection */
	uint64_t stream_id; /* of the collector whose files we hold */
	struct file_intake_counters counters;
	struct log_limit refusal_said;
	struct log_limit broken_said;
};

/* Listens at `path`. Returns 0 or -errno. */
int file_intake_open(struct file_intake *f, const char *path);

/* A peer waits at the listener. */
void file_intake_accept(struct file_intake *f);

/* The connection is readable: takes a bounded number of packets. */
void file_intake_receive(struct file_intake *f);

/* Asks the collector for files whose descriptors are gone and that are wanted. */
void file_intake_want(struct file_intake *f);

#endif
