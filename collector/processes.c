/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/clock.h"
#include "collector/process_state.h"

/* Samples are older than this only when the host has stood still: what happened before can be
 * applied without them. */
#define SAMPLES_LATE_NS NSEC_PER_SEC

/* A process leaves the table: the stream hears of it once. */
static void forget_process(void *context, struct process *proc)
{
	struct processes *p = context;

	process_tell_exit(p, proc);
	mapping_set_release(proc->set, p->names);
}

int processes_new(struct processes **out, struct broker *broker, struct stream *stream,
		  const struct processes_limits *limits)
{
	struct processes *p = calloc(1, sizeof(*p));
	long ticks = sysconf(_SC_CLK_TCK);

	if (!p)
		return -ENOMEM;
	p->broker = broker;
	p->stream = stream;
	p->limits = *limits;
	p->symbolizer = 1;
	p->tick_ns = NSEC_PER_SEC / (ticks > 0 ? (uint64_t)ticks : 100);
	if (mapped_names_new(&p->names, MAPPED_NAMES_BYTES, MAPPED_NAMES_USERS) ||
	    cgroup_names_new(&p->cgroups) || event_queue_new(&p->queue) ||
	    process_table_new(&p->table, limits->processes, forget_process, p)) {
		processes_free(p);
		return -ENOMEM;
	}
	*out = p;
	return 0;
}

/* The process of an event; one that was there before us enters the table here. */
static struct process *process_of(struct processes *p, uint32_t tgid)
{
	struct process *proc = process_table_newest(p->table, tgid);

	return proc ? proc : process_table_add(p->table, tgid, &p->counters.evicted);
}

/* True when the mappings of `proc` are known, and no event that could have changed them was lost
 * since. */
static bool is_whole(const struct processes *p, const struct process *proc)
{
	return proc->whole && proc->read_epoch == p->losses;
}

static void apply_fork(struct processes *p, const struct queued_event *e)
{
	struct process *parent = process_of(p, e->parent_tgid);
	struct process *old = process_table_newest(p->table, e->tgid);
	struct process *child;
	bool guessed = false;

	/*
	 * The child may end before its own maps could be read: better its parent's of today than
	 * nothing. They could be those of a later program of the parent, so the child's own are
	 * read if it is still there at its first sample.
	 */
	if (parent && !parent->read && !is_whole(p, parent)) {
		process_read_mappings(p, parent, parent->tgid, parent->start_time, 0);
		guessed = true;
	}
	if (old && !old->exit_time)
		process_table_set_exit(p->table, old, e->time); /* its end was not told to us */
	child = process_table_add(p->table, e->tgid, &p->counters.evicted);
	parent = process_table_newest(p->table,
				      e->parent_tgid); /* may have had to leave for the child */
	if (!child)
		return;
	child->parent_tgid = e->parent_tgid;
	child->fork_time = e->time;
	if (!parent || !parent->set)
		return;
	child->set = mapping_set_share(parent->set);
	child->whole = parent->whole && !guessed;
	child->read_epoch = parent->read_epoch;
}

static void apply_exec(struct processes *p, const struct queued_event *e)
{
	struct process *proc = process_of(p, e->tgid);

	if (!proc)
		return;
	process_table_set_exit(p->table, proc,
			       0); /* the thread that called it takes the leader's place */
	proc->leaderless = false;
	mapping_set_release(proc->set, p->names);
	proc->set = mapping_set_new();
	proc->image_time = e->time;
	proc->whole = proc->set != NULL;
	proc->read = false;
	proc->gone = false;
	proc->read_epoch = e->loss_epoch;
	proc->read_again_ns = 0;
	proc->exec_untold = proc->told_epoch == p->symbolizer;
	proc->told_serial = 0;
	memcpy(proc->exec_comm, e->comm, sizeof(proc->exec_comm));
}

static void apply_mapping(struct processes *p, const struct queued_event *e)
{
	struct process *proc = process_of(p, e->tgid);

	if (proc && !proc->set)
		proc->set = mapping_set_new();
	if (!proc || !proc->set)
		mapped_names_release(p->names, e->mapping.name);
	else if (mapping_set_add(&proc->set, &e->mapping, p->limits.mappings_per_process,
				 p->names) == MAPPING_NO_ROOM)
		p->counters.mappings_refused++;
}

/*
 * The leader's end begins the grace period, and each later thread's end begins it again: whoever
 * goes on running after the leader is found alive by its samples.
 */
static void apply_exit(struct processes *p, const struct queued_event *e)
{
	struct process *proc = process_table_newest(p->table, e->tgid);

	if (!proc)
		return;
	proc->leaderless |= e->tid == e->tgid;
	if (proc->leaderless)
		process_table_set_exit(p->table, proc, e->time);
}

static void apply(struct processes *p, const struct queued_event *e)
{
	switch (e->type) {
	case SIDEBAND_FORK:
		apply_fork(p, e);
		break;
	case SIDEBAND_EXEC:
		apply_exec(p, e);
		break;
	case SIDEBAND_MMAP:
		apply_mapping(p, e);
		break;
	case SIDEBAND_EXIT:
		apply_exit(p, e);
		break;
	default:
		break;
	}
}

static void apply_until(struct processes *p, uint64_t time)
{
	struct queued_event e;

	while (event_queue_take(p->queue, time, &e))
		apply(p, &e);
}

void processes_event(struct processes *p, const struct sideband_event *e)
{
	struct queued_event queued = {
		.time = e->time,
		.type = e->type,
		.tgid = e->tgid,
		.tid = e->tid,
		.parent_tgid = e->parent_tgid,
		.loss_epoch = p->losses,
	};
	struct queued_event oldest;

	/* Outside of our pid namespace, or dead already: cannot be told from others. */
	if (e->tgid == 0 || e->tgid > INT32_MAX)
		return;
	if (e->type == SIDEBAND_MMAP) {
		struct mapping range = { .start = e->start,
					 .end = e->start + e->length,
					 .offset = e->offset,
					 .time = e->time };
		struct mapped_file file = { e->device_major, e->device_minor, e->inode,
					    e->generation };

		if (!(e->protection & PROT_EXEC) ||
		    !process_sight_mapping(p, e->tgid, &range, &file, e->path, e->path_len,
					   &queued.mapping))
			return;
	} else if (e->type == SIDEBAND_EXEC) {
		memcpy(queued.comm, e->comm, sizeof(queued.comm));
	} else if (e->type == SIDEBAND_FORK) {
		if (e->tgid == e->parent_tgid || e->parent_tgid == 0)
			return; /* a thread */
	} else if (e->type != SIDEBAND_EXIT) {
		return; /* a new name: samples carry theirs */
	}
	while (!event_queue_put(p->queue, &queued)) {
		if (!event_queue_take(p->queue, UINT64_MAX, &oldest)) {
			apply(p, &queued);
			return;
		}
		apply(p, &oldest);
	}
}

void processes_events_lost(struct processes *p, uint64_t count)
{
	(void)count; /* one is enough to make everything doubtful */
	p->losses++;
}

/* True when this entry can be the process of the sample, whose start it may not have been told yet.
 */
static bool could_be(const struct processes *p, const struct process *proc,
		     const struct sample_record *s)
{
	if (proc->start_time)
		return proc->start_time == s->start_time;
	/* Threads can outlive their leader; but after a loss, what goes on with its number may be
	 * another process. */
	if (proc->exit_time && proc->exit_time < s->time && proc->read_epoch != p->losses)
		return false;
	return proc->fork_time <= s->time &&
	       (!proc->start_ticks || proc->start_ticks == s->start_time / p->tick_ns);
}

static struct process *process_of_sample(struct processes *p, const struct sample_record *s)
{
	struct process *newest = process_table_newest(p->table, s->tgid);
	struct process *proc = newest;

	while (proc && !could_be(p, proc, s))
		proc = process_table_older(proc);
	if (proc) {
		proc->start_time = s->start_time;
		return proc;
	}
	if (newest) {
		p->counters.reused++;
		if (!newest->exit_time)
			process_table_set_exit(p->table, newest, s->time);
	}
	proc = process_table_add(p->table, s->tgid, &p->counters.evicted);
	if (proc)
		proc->start_time = s->start_time;
	return proc;
}

void processes_before_sample(struct processes *p, const struct sample_record *s)
{
	struct process *proc;
	int rc;

	apply_until(p, s->time);
	proc = process_of_sample(p, s);
	if (!proc)
		return;
	process_table_touch(p->table, proc);
	if (proc->exit_time && proc->exit_time < s->time)
		process_table_set_exit(p->table, proc, 0);
	if (!(s->flags & SAMPLE_FLAG_KERNEL_THREAD) && !is_whole(p, proc) && !proc->gone) {
		uint64_t from = proc->told_epoch == p->symbolizer ? s->time : proc->image_time;

		rc = process_read_mappings(p, proc, s->tid, s->start_time, from);
		proc->gone = rc == -ESRCH;
	}
	process_tell(p, proc, s);
	p->counters.known = process_table_count(p->table);
}

void processes_forget_announcements(struct processes *p)
{
	p->symbolizer++;
}

void processes_expire(struct processes *p, uint64_t now_ns)
{
	uint64_t grace = p->limits.exit_grace_ms * NSEC_PER_MSEC;

	if (now_ns > SAMPLES_LATE_NS)
		apply_until(p, now_ns - SAMPLES_LATE_NS);
	if (now_ns > grace)
		process_table_expire(p->table, now_ns - grace);
	p->counters.known = process_table_count(p->table);
}

const struct processes_counters *processes_counters(const struct processes *p)
{
	return &p->counters;
}

void processes_free(struct processes *p)
{
	struct queued_event e;

	p->symbolizer++; /* nobody is told of the ends that follow */
	while (p->queue && event_queue_take(p->queue, UINT64_MAX, &e)) {
		if (e.type == SIDEBAND_MMAP)
			mapped_names_release(p->names, e.mapping.name);
	}
	if (p->queue)
		event_queue_free(p->queue);
	if (p->table)
		process_table_free(p->table);
	if (p->cgroups)
		cgroup_names_free(p->cgroups);
	if (p->names)
		mapped_names_free(p->names);
	free(p);
}
