/* SPDX-License-Identifier: Apache-2.0 */
/*
 * targets: the profiled processes as the collector tells of them, and what each has mapped when. A process is (tgid, start time).
 * Bounded in number and bytes: when there are too many, those that have exited go first, then the least recently sampled; a target
 * that a window still needs lives on until it is released.
 */
#ifndef BELFRY_SYMBOLIZER_TARGETS_H
#define BELFRY_SYMBOLIZER_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/sample_channel.h"
#include "symbolizer/cgroup_labels.h"

#define TARGET_PATH_MAX 1024 /* bytes of a path that are kept */
#define TARGET_IMAGES_MAX 16 /* programs that a process becomes one after the other and that are told apart */

struct target;

/* What the mappings of all targets take together, those included that a window still holds. */
struct target_memory {
	uint64_t used; /* bytes */
	uint64_t limit;
	uint64_t limit_each; /* of one target, so that one cannot take what all need */
};

/* A file's path or the name of a special mapping, shared by mappings of one target. */
struct target_path {
	struct target *owner; /* not held: whoever uses the path holds the target */
	uint32_t users;
	uint32_t len;
	char text[]; /* valid UTF-8 */
};

struct target_mapping {
	uint64_t start; /* [start, end) */
	uint64_t end;
	uint64_t offset;
	uint64_t file_id; /* FILE_ID_* */
	uint64_t from;    /* CLOCK_MONOTONIC ns: valid in [from, until) */
	uint64_t until;
	uint32_t kind; /* enum mapping_kind */
	struct target_path *path;
};

struct target {
	uint32_t tgid;
	uint32_t uid;
	uint64_t start_time;
	bool announced; /* a PROCESS record came; else only samples have been seen */
	char comm[3 * BELFRY_COMM_LEN + 1]; /* valid UTF-8: a byte may become three */
	struct cgroup_labels cgroup;
	struct target_memory *memory;
	uint64_t memory_used; /* bytes of its share */
	/* A permutation of the slots of `live`: first those in use, sorted by start, no overlaps; then the free ones. */
	uint32_t *order;
	struct target_mapping *live;
	uint32_t live_count;
	uint32_t live_room;
	struct target_mapping *past; /* a ring of replaced ones */
	uint32_t past_first;         /* the oldest */
	uint32_t past_count;
	uint32_t past_room;
	uint32_t images;       /* programs that it was before, as far as they are targets of their own */
	uint32_t users;        /* windows that hold it, and the table */
	uint64_t exit_time;    /* 0 = lives */
	uint64_t last_sample;
};

struct targets;

struct targets_limits {
	uint32_t targets;
	uint32_t mappings; /* of one target */
	uint64_t memory;   /* bytes of the mappings and paths of all; one may take an eighth of it */
};

struct targets_counters {
	uint64_t known;
	uint64_t evicted;
	uint64_t mappings_refused; /* beyond a limit, or of a target that is not known */
	uint64_t memory;           /* bytes of mappings and paths */
};

int targets_new(struct targets **out, const struct targets_limits *l);

/* No window may hold a target any more. */
void targets_free(struct targets *t);

/* The target of a sample; made when it is not known yet. NULL when out of memory. Not held. */
struct target *targets_of_sample(struct targets *t, const struct sample_record *s);

void targets_process(struct targets *t, const struct process_record *r);
void targets_mapping(struct targets *t, const struct mapping_record *r);
void targets_exit(struct targets *t, const struct exit_record *r);

/* Forgets all: a new collector numbers files anew. */
void targets_reset(struct targets *t);

/* Removes what exited before `before` (CLOCK_MONOTONIC ns). */
void targets_expire(struct targets *t, uint64_t before);

struct targets_counters targets_counters(const struct targets *t);

/* Gives up one use of a path; NULL is fine. */
void target_path_release(struct target_path *p);

void target_hold(struct target *t);
void target_release(struct target *t);

/* The mapping that held `address` at `time`, or NULL. Valid until the next change of the target. */
const struct target_mapping *target_find(const struct target *t, uint64_t address, uint64_t time);

/* Path of the main program: the lowest file mapping; "" where none is known. */
const char *target_exe(const struct target *t);

#endif
