/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "collector/clock.h"
#include "collector/process_state.h"
#include "ipc/file_channel.h"
#include "ipc/log.h"

/* Some 300,000 mappings. What stands behind is left out. */
#define MAPS_BYTES (32u << 20)

/* Reading maps takes at most 5 % of a CPU in the long run, and half a second at once. */
#define BUDGET_MOST_NS ((int64_t)(NSEC_PER_SEC / 2))
#define BUDGET_SHARE   20
#define READ_AGAIN_NS                                                                              \
	NSEC_PER_SEC /* when the budget is used up, or a process is too large for it */
#define DENIED_AGAIN_NS (10 * NSEC_PER_SEC) /* rights do not come back quickly */

static bool budget_is_left(struct processes *p, uint64_t now)
{
	p->read_budget_ns += (int64_t)((now - p->refilled_ns) / BUDGET_SHARE);
	p->refilled_ns = now;
	if (p->read_budget_ns > BUDGET_MOST_NS)
		p->read_budget_ns = BUDGET_MOST_NS;
	return p->read_budget_ns > 0;
}

/*
 * A mapping may have another range by now than its event said: the loader maps a library as a whole
 * and then lays its other segments over that. Looks up the range that starts there today. True when
 * it was found.
 */
static bool find_range(struct processes *p, uint32_t tgid, const struct mapped_file *file,
		       uint64_t start, struct proc_mapping *found)
{
	uint64_t now = clock_ns();
	const uint8_t *line;
	uint32_t len;
	bool is_found = false;

	if (!budget_is_left(p, now) || proc_lines_open(&p->lines, (pid_t)tgid, "maps", MAPS_BYTES))
		return false;
	while (!is_found && proc_lines_next(&p->lines, &line, &len) == 1)
		is_found = !proc_mapping_decode(line, len, found) && found->executable &&
			   found->inode == file->inode && found->start <= start &&
			   start < found->end;
	proc_lines_close(&p->lines);
	p->read_budget_ns -= (int64_t)(clock_ns() - now);
	return is_found;
}

/* File id of a mapping; *retry says whether asking again some time could help. */
static uint64_t ask_broker(struct processes *p, uint32_t tgid, const struct mapping *m,
			   const struct mapped_file *file, bool *retry)
{
	struct proc_mapping today;
	enum broker_retry why;
	uint64_t file_id = broker_file(p->broker, (pid_t)tgid, m->start, m->end, file, &why);

	if (file_id == FILE_ID_NONE && why == BROKER_OTHER_RANGE &&
	    find_range(p, tgid, file, m->start, &today))
		file_id = broker_file(p->broker, (pid_t)tgid, today.start, today.end, file, &why);
	*retry = why != BROKER_FINAL;
	return file_id;
}

bool process_sight_mapping(struct processes *p, uint32_t tgid, const struct mapping *range,
			   const struct mapped_file *file, const uint8_t *path, uint32_t path_len,
			   struct mapping *out)
{
	uint64_t file_id = FILE_ID_NONE;
	bool retry = false;

	if (file->inode)
		file_id = ask_broker(p, tgid, range, file, &retry);
	*out = *range;
	out->serial = ++p->serial;
	out->name = mapped_names_take(p->names, file, file_id, path, path_len);
	if (!out->name)
		return false;
	out->name->sent_epoch = p->symbolizer;
	/* What was once refused for good stays so; what could not be opened in time may be by
	 * another process. */
	if (file->inode && out->name->kind != MAPPING_FILE)
		out->name->retry = retry;
	return true;
}

void process_ask_again(struct processes *p, uint32_t tgid, const struct mapping *m)
{
	struct mapped_name *name = m->name;
	bool retry;
	uint64_t file_id = ask_broker(p, tgid, m, &name->file, &retry);

	name->sent_epoch = p->symbolizer;
	if (file_id != FILE_ID_NONE)
		mapped_name_set_file(name, file_id);
	else if (name->kind != MAPPING_FILE)
		name->retry = retry;
}

/* Checks that /proc/PID is the process that is meant, at the granularity at which it tells. */
static int check_identity(struct processes *p, struct process *proc, uint64_t start_time)
{
	struct proc_stat stat;
	int rc = proc_read_stat((pid_t)proc->tgid, &stat);

	if (rc)
		return rc;
	if (start_time && start_time / p->tick_ns != stat.start_ticks)
		return -ESRCH;
	if (proc->start_ticks && proc->start_ticks != stat.start_ticks)
		return -ESRCH;
	proc->start_ticks = stat.start_ticks;
	if (!proc->parent_tgid)
		proc->parent_tgid = stat.parent;
	return 0;
}

static void take_line(struct processes *p, uint32_t tid, struct mapping_set **set, uint64_t from,
		      const uint8_t *line, uint32_t len)
{
	struct proc_mapping m;
	struct mapping range;
	struct mapping sighted;
	struct mapped_file file;

	if (proc_mapping_decode(line, len, &m) || !m.executable)
		return;
	if ((*set)->count >= p->limits.mappings_per_process) {
		p->counters.mappings_refused++;
		return;
	}
	range = (struct mapping){
		.start = m.start, .end = m.end, .offset = m.offset, .time = from
	};
	file = (struct mapped_file){ .device_major = m.device_major,
				     .device_minor = m.device_minor,
				     .inode = m.inode };
	if (!process_sight_mapping(p, tid, &range, &file, m.path, m.path_len, &sighted) ||
	    mapping_set_add(set, &sighted, p->limits.mappings_per_process, p->names) ==
		    MAPPING_NO_ROOM)
		p->counters.mappings_refused++;
}

static int read_maps(struct processes *p, uint32_t tid, struct mapping_set **set, uint64_t from)
{
	const uint8_t *line;
	uint32_t len;
	int rc = proc_lines_open(&p->lines, (pid_t)tid, "maps", MAPS_BYTES);

	if (rc)
		return rc;
	while ((rc = proc_lines_next(&p->lines, &line, &len)) == 1)
		take_line(p, tid, set, from, line, len);
	proc_lines_close(&p->lines);
	if (rc == -EFBIG) {
		p->counters.mappings_refused++;
		rc = 0;
	}
	return rc;
}

/* Puts a set that was just read into the place of what was known before. */
static void replace_set(struct processes *p, struct process *proc, struct mapping_set *set,
			uint64_t from)
{
	bool told = proc->told_epoch == p->symbolizer && proc->told_serial;

	if (proc->set && mapping_set_is_within(proc->set, set)) {
		mapping_set_keep_told(set, proc->set);
	} else if (proc->set && told) {
		/* Something that was announced is there no more: it is all told anew. */
		proc->exec_untold = true;
		proc->image_time = from;
		proc->told_serial = 0;
	}
	mapping_set_release(proc->set, p->names);
	proc->set = set;
}

static int read_all(struct processes *p, struct process *proc, uint32_t tid, uint64_t start_time,
		    uint64_t from)
{
	struct mapping_set *set = mapping_set_new();
	int rc;

	if (!set)
		return -ENOMEM;
	rc = check_identity(p, proc, start_time);
	if (rc == 0)
		rc = read_maps(p, proc->tgid, &set, from);
	/* A leader that has ended before its threads has no memory any more; /proc knows each
	 * thread by its number too. */
	if (rc == 0 && set->count == 0 && tid != proc->tgid)
		rc = read_maps(p, tid, &set, from);
	if (rc == 0)
		rc = check_identity(p, proc, start_time);
	if (rc) {
		mapping_set_release(set, p->names);
		return rc;
	}
	replace_set(p, proc, set, from);
	return 0;
}

int process_read_mappings(struct processes *p, struct process *proc, uint32_t tid,
			  uint64_t start_time, uint64_t from)
{
	uint64_t began = clock_ns();
	uint32_t losses = p->losses;
	uint64_t took;
	int rc;

	if (began < proc->read_again_ns || !budget_is_left(p, began)) {
		if (began >= proc->read_again_ns)
			proc->read_again_ns = began + READ_AGAIN_NS;
		return -EAGAIN;
	}
	rc = read_all(p, proc, tid, start_time, from);
	took = clock_ns() - began;
	p->read_budget_ns -= (int64_t)took;
	/* One that costs a lot (200,000 mappings take 0.2 s) is not read again before that has been
	 * forgotten. */
	proc->read_again_ns = began + took * BUDGET_SHARE;
	if (rc == 0) {
		proc->read = true;
		proc->whole = true;
		proc->read_epoch = losses;
	} else if (rc != -ENOENT && rc != -ESRCH) {
		proc->read_again_ns = began + DENIED_AGAIN_NS;
		if (log_limit_passes(&p->maps_said))
			log_warn("maps_failed", "maps %u: %s%s", proc->tgid, strerror(-rc),
				 rc == -EACCES || rc == -EPERM ? " (needs CAP_SYS_PTRACE)" : "");
	} else {
		rc = -ESRCH;
	}
	return rc;
}
