/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_state: what the parts of `processes` share. processes.c follows events and samples,
 * process_read.c reads /proc/PID, process_tell.c tells the stream.
 */
#ifndef BELFRY_COLLECTOR_PROCESS_STATE_H
#define BELFRY_COLLECTOR_PROCESS_STATE_H

#include "collector/cgroup_names.h"
#include "collector/event_queue.h"
#include "ipc/log_limit.h"
#include "collector/mapped_names.h"
#include "collector/mapping_set.h"
#include "collector/process_table.h"
#include "collector/processes.h"
#include "collector/procfs_read.h"

struct processes {
	struct broker *broker;
	struct stream *stream;
	struct processes_limits limits;
	struct processes_counters counters;
	struct process_table *table;
	struct event_queue *queue;
	struct mapped_names *names;
	struct cgroup_names *cgroups;
	uint64_t serial;     /* of the mapping added last */
	uint32_t symbolizer; /* how many there have been: what was told to an earlier one counts for
				nothing */
	uint32_t losses;     /* how often side-band events were lost */
	uint64_t tick_ns;    /* of /proc/PID/stat's start time */
	int64_t read_budget_ns; /* time that reading /proc/PID/maps may still take; refilled by and
				   by */
	uint64_t refilled_ns;	/* when */
	struct log_limit maps_said;
	struct proc_lines lines;
};

/* process_read.c */

/* Makes the mapping of an event or a maps line: asks the broker for its file at once, since its
 * process may end soon. */
bool process_sight_mapping(struct processes *p, uint32_t tgid, const struct mapping *range,
			   const struct mapped_file *file, const uint8_t *path, uint32_t path_len,
			   struct mapping *out);

/* Asks the broker again for a mapping's file, which every mapping of that name then has. */
void process_ask_again(struct processes *p, uint32_t tgid, const struct mapping *m);

/*
 * Reads all executable mappings from /proc/PID/maps; `tid`: a thread that lives. `start_time`
 * (CLOCK_BOOTTIME ns, 0 = any) must be that of the process before and after. Mappings that are new
 * are valid from `from`. Returns 0, -ESRCH when it is another process or gone, or another -errno.
 */
int process_read_mappings(struct processes *p, struct process *proc, uint32_t tid,
			  uint64_t start_time, uint64_t from);

/* process_tell.c */

/* Tells the stream what it does not know yet of a process, before its sample `s`. */
void process_tell(struct processes *p, struct process *proc, const struct sample_record *s);

void process_tell_exit(struct processes *p, const struct process *proc);

#endif
