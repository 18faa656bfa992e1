/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "collector/clock.h"
#include "collector/process_state.h"

#define RESOLVE_AGAIN_NS NSEC_PER_SEC

static void tell_process(struct processes *p, const struct process *proc,
			 const struct sample_record *s, enum process_reason reason)
{
	struct process_record r = {
		.time = proc->image_time,
		.start_time = s->start_time,
		.cgroup_id = s->cgroup_id,
		.tgid = s->tgid,
		.parent_tgid = proc->parent_tgid,
		.uid = s->uid,
		.reason = reason,
	};

	memcpy(r.comm, reason == PROCESS_EXEC ? proc->exec_comm : s->process_comm, sizeof(r.comm));
	r.cgroup = cgroup_names_get(p->cgroups, (pid_t)s->tgid, !proc->gone, s->cgroup_id,
				    &r.cgroup_len);
	stream_add_process(p->stream, &r);
}

static void tell_mapping(struct processes *p, const struct process *proc, const struct mapping *m)
{
	struct mapping_record r = {
		.time = m->time,
		.start_time = proc->start_time,
		.start = m->start,
		.end = m->end,
		.offset = m->offset,
		.file_id = m->name->file_id,
		.tgid = proc->tgid,
		.kind = m->name->kind,
		.path_len = m->name->path_len,
		.path = m->name->path_len ? m->name->path : NULL,
	};

	stream_add_mapping(p->stream, &r);
}

/*
 * The number under which /proc shows the memory: a leader that has ended before its threads has none any more, whoever was
 * just sampled has.
 */
static uint32_t living_task(const struct process *proc, const struct sample_record *s)
{
	return proc->leaderless ? s->tid : proc->tgid;
}

/* Asks the broker again for what it could not open before, and for what a new symbolizer has not
 * got yet. */
static void resolve(struct processes *p, uint32_t living, const struct mapping *m)
{
	bool unsent = m->name->kind == MAPPING_FILE && m->name->sent_epoch != p->symbolizer;

	if (m->name->retry || unsent)
		process_ask_again(p, living, m);
}

/* Files that another process or a later try has opened meanwhile: tells their mappings once more.
 */
static void tell_resolved(struct processes *p, struct process *proc, uint32_t living)
{
	uint32_t unresolved = 0;

	for (uint32_t i = 0; i < proc->set->count; i++) {
		const struct mapping *m = &proc->set->at[i];

		resolve(p, living, m);
		unresolved += m->name->retry;
	}
	if (unresolved < proc->unresolved)
		proc->told_serial = 0;
	proc->unresolved = unresolved;
	proc->read_again_ns = clock_ns() + RESOLVE_AGAIN_NS;
}

static void tell_mappings(struct processes *p, struct process *proc, uint32_t living)
{
	for (uint32_t i = 0; i < proc->set->count; i++) {
		const struct mapping *m = &proc->set->at[i];

		if (m->serial <= proc->told_serial)
			continue;
		resolve(p, living, m);
		proc->unresolved += m->name->retry;
		tell_mapping(p, proc, m);
	}
	proc->told_serial = proc->set->newest;
}

void process_tell(struct processes *p, struct process *proc, const struct sample_record *s)
{
	if (proc->told_epoch != p->symbolizer) {
		if (proc->gone || proc->exit_time)
			p->counters.gone++;
		tell_process(p, proc, s, PROCESS_SEEN);
		proc->told_epoch = p->symbolizer;
		proc->told_serial = 0;
		proc->unresolved = 0;
		proc->exec_untold = false;
	} else if (proc->exec_untold) {
		tell_process(p, proc, s, PROCESS_EXEC);
		proc->exec_untold = false;
		proc->unresolved = 0;
	}
	if (!proc->set)
		return;
	if (proc->unresolved && !proc->gone && clock_ns() >= proc->read_again_ns)
		tell_resolved(p, proc, living_task(proc, s));
	if (proc->set->newest > proc->told_serial)
		tell_mappings(p, proc, living_task(proc, s));
}

void process_tell_exit(struct processes *p, const struct process *proc)
{
	struct exit_record r = { .time = proc->exit_time,
				 .start_time = proc->start_time,
				 .tgid = proc->tgid };

	if (proc->told_epoch == p->symbolizer)
		stream_add_exit(p->stream, &r);
}
