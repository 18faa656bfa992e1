/* SPDX-License-Identifier: Apache-2.0 */
/* process_table: the processes that are known, bounded, by tgid; the least recently sampled go
 * first, the exited after a grace period. */
#ifndef BELFRY_COLLECTOR_PROCESS_TABLE_H
#define BELFRY_COLLECTOR_PROCESS_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "bpf/shared.h"
#include "collector/mapping_set.h"

struct process {
	uint32_t tgid;
	uint32_t parent_tgid; /* 0 where unknown */
	uint64_t start_time;  /* CLOCK_BOOTTIME ns; 0 until a sample tells */
	uint64_t start_ticks; /* as /proc tells it, 0 until read */
	uint64_t fork_time;   /* CLOCK_MONOTONIC ns; 0: was there before us */
	uint64_t image_time;  /* of its last exec, 0 where none was seen */
	uint64_t exit_time;   /* 0 while it lives, as far as we know */
	struct mapping_set *set;

	bool whole;	 /* `set` is all there is, unless events were lost since `read_epoch` */
	bool read;	 /* /proc/PID/maps was read since its last exec */
	bool gone;	 /* cannot be read any more */
	bool leaderless; /* its first thread has ended: each other one's end may be the process's */
	bool exec_untold;	/* announced, then replaced its program */
	uint32_t read_epoch;	/* losses counted when `set` was right */
	uint64_t read_again_ns; /* not before; CLOCK_MONOTONIC */

	uint32_t told_epoch;  /* symbolizer to which it was announced */
	uint64_t told_serial; /* mappings up to here were announced */
	uint32_t unresolved;  /* announced mappings whose file may still be opened */
	char exec_comm[BELFRY_COMM_LEN];

	struct process *next; /* same slot, newest first */
	TAILQ_ENTRY(process) lru;
	TAILQ_ENTRY(process) exited; /* only while exit_time is set */
};

struct process_table;

/* `forget` is called with each process that leaves the table, and the pointer given here. */
int process_table_new(struct process_table **out, uint32_t most,
		      void (*forget)(void *context, struct process *proc), void *context);

/* The newest process with this tgid, or NULL. */
struct process *process_table_newest(struct process_table *t, uint32_t tgid);

/* The one before it with the same tgid, or NULL. */
struct process *process_table_older(const struct process *proc);

/* Adds one; the least recently sampled leaves when the table is full (*evicted is counted up).
 * NULL: no memory. */
struct process *process_table_add(struct process_table *t, uint32_t tgid, uint64_t *evicted);

void process_table_touch(struct process_table *t, struct process *proc);

/* Sets or renews its exit time; 0 = it lives after all. */
void process_table_set_exit(struct process_table *t, struct process *proc, uint64_t time);

/* Removes all that exited at or before `until`. */
void process_table_expire(struct process_table *t, uint64_t until);

uint64_t process_table_count(const struct process_table *t);

void process_table_free(struct process_table *t);

#endif
