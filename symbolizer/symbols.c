/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ipc/log.h"
#include "symbolizer/symbol_files.h"
#include "symbolizer/symbol_job.h"
#include "symbolizer/vdso.h"

#define BUSY_WAIT_MS	 100
#define MISSING_AGAIN_MS 30000

struct symbols {
	int zygote; /* not owned */
	struct symbols_limits limits;
	struct symbol_files files;
	struct symbol_job *jobs; /* limits.workers of them */
	struct symbols_counters counters;
	uint64_t now_ms;
	uint64_t retry_ms; /* no new request before this */
	bool broken;
	struct worker_request request;
	uint8_t packet[WORKER_PACKET_MAX];
};

static uint64_t clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Without it the vDSO's frames go unnamed, which is no reason not to run. */
static void add_vdso(struct symbols *s)
{
	struct symbol_file *f;
	uint64_t size;
	int fd = vdso_open(&size);

	if (fd < 0) {
		log_warn("vdso", "copy of the vDSO: %s", strerror(-fd));
		return;
	}
	f = symbol_files_add(&s->files, FILE_ID_VDSO);
	if (!f || !symbol_files_open(&s->files, f, fd)) {
		close(fd);
		return;
	}
	f->size = size;
	f->pinned = true;
}

int symbols_new(struct symbols **out, int zygote_fd, const struct symbols_limits *limits)
{
	struct symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->jobs = calloc(limits->workers, sizeof(*s->jobs));
	if (!s->jobs) {
		free(s);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < limits->workers; i++)
		s->jobs[i].socket = -1;
	s->zygote = zygote_fd;
	s->limits = *limits;
	s->now_ms = clock_ms();
	symbol_files_init(&s->files, limits, &s->counters);
	add_vdso(s);
	*out = s;
	return 0;
}

/* What was queued will get no answer for now; it may be wanted again. */
static void fail_queued(struct symbol_file *f)
{
	for (uint32_t i = 0; i < f->cache.count && f->queued; i++) {
		if (f->cache.entries[i].state == ENTRY_QUEUED) {
			f->cache.entries[i].state = ENTRY_FAILED;
			f->queued--;
		}
	}
}

static bool denied(const struct symbols *s, const struct symbol_file *f)
{
	return f->denied_until_ms > s->now_ms;
}

/* Abandons the worker that reads `f`, if there is one. */
static void drop_job(struct symbols *s, const struct symbol_file *f)
{
	for (uint32_t i = 0; i < s->limits.workers; i++)
		if (s->jobs[i].socket >= 0 && s->jobs[i].file == f)
			symbol_job_end(&s->jobs[i], ENTRY_FAILED);
}

static void forget_files(struct symbols *s, bool pinned_too)
{
	struct symbol_file *f = s->files.oldest;

	while (f) {
		struct symbol_file *next = f->newer;

		if (!f->pinned || pinned_too) {
			drop_job(s, f);
			symbol_files_remove(&s->files, f);
		}
		f = next;
	}
}

void symbols_reset(struct symbols *s)
{
	forget_files(s, false);
}

void symbols_free(struct symbols *s)
{
	forget_files(s, true);
	free(s->jobs);
	free(s);
}

static bool same_identity(const struct symbol_file *f, const struct file_message *m)
{
	return f->device == m->device && f->inode == m->inode && f->size == m->size &&
	       f->change_time == m->change_time;
}

/* The record for a file that arrives: a new one, or one that waits for it. NULL: no room. */
static struct symbol_file *record_for(struct symbols *s, const struct file_message *m)
{
	struct symbol_file *f = symbol_files_find(&s->files, m->file_id);
	bool first = !f || f->size == 0;

	if (f && !first && !same_identity(f, m)) {
		drop_job(s, f);
		symbol_files_remove(&s->files, f);
		f = NULL;
	}
	if (!f)
		f = symbol_files_add(&s->files, m->file_id);
	if (!f)
		return NULL;
	f->device = m->device;
	f->inode = m->inode;
	f->size = m->size;
	f->change_time = m->change_time;
	return f;
}

enum file_result symbols_add_file(struct symbols *s, const struct file_message *m, int fd)
{
	struct symbol_file *f = m->file_id < FILE_ID_FIRST ? NULL : record_for(s, m);
	uint64_t until;

	s->now_ms = clock_ms();
	if (!f || f->fd >= 0) {
		close(fd);
		return m->file_id < FILE_ID_FIRST ? FILE_REFUSED : f ? FILE_ACCEPTED : FILE_NO_ROOM;
	}
	until = symbol_files_denied(&s->files, f, s->now_ms);
	if (until) {
		f->denied_until_ms = until;
		f->info.status = FILE_STATUS_WORKER_DIED;
		fail_queued(f);
		close(fd);
		return FILE_REFUSED;
	}
	if (!symbol_files_open(&s->files, f, fd)) {
		f->info.status = FILE_STATUS_NO_ROOM;
		close(fd);
		return FILE_NO_ROOM;
	}
	if (f->info.status == FILE_STATUS_NO_ROOM)
		f->info.status = FILE_STATUS_UNKNOWN;
	symbol_files_touch(&s->files, f);
	return FILE_ACCEPTED;
}

void symbols_want(struct symbols *s, uint64_t file_id, uint64_t offset)
{
	struct symbol_file *f;
	uint32_t index;

	if (file_id == FILE_ID_NONE || s->broken)
		return;
	f = symbol_files_find(&s->files, file_id);
	if (!f)
		f = symbol_files_add(&s->files, file_id);
	if (!f) {
		s->counters.wants_refused++;
		return;
	}
	symbol_files_touch(&s->files, f);
	if (f->hopeless || denied(s, f))
		return;
	index = symbol_cache_find(&f->cache, offset);
	if (index != SYMBOL_CACHE_NONE) {
		if (f->cache.entries[index].state == ENTRY_FAILED) {
			f->cache.entries[index].state = ENTRY_QUEUED;
			f->queued++;
		}
		return;
	}
	if (!symbol_files_make_room(&s->files, f) ||
	    symbol_cache_add(&f->cache, offset) == SYMBOL_CACHE_NONE) {
		s->counters.wants_refused++;
		return;
	}
	s->files.addresses++;
	f->queued++;
}

static struct symbol_job *free_job(struct symbols *s)
{
	for (uint32_t i = 0; i < s->limits.workers; i++)
		if (s->jobs[i].socket < 0)
			return &s->jobs[i];
	return NULL;
}

static bool can_start(const struct symbols *s, const struct symbol_file *f)
{
	return f->queued && f->fd >= 0 && !f->in_flight && !denied(s, f);
}

static void break_down(struct symbols *s, int error)
{
	log_error("zygote", "request for a worker: %s", strerror(-error));
	s->broken = true;
	for (struct symbol_file *f = s->files.oldest; f; f = f->newer)
		fail_queued(f);
}

void symbols_start(struct symbols *s)
{
	s->now_ms = clock_ms();
	if (s->now_ms < s->retry_ms)
		return;
	for (struct symbol_file *f = s->files.oldest; f && !s->broken; f = f->newer) {
		struct symbol_job *j;
		int error;

		if (!can_start(s, f))
			continue;
		j = free_job(s);
		if (!j)
			return;
		error = symbol_job_start(j, f, s->zygote, &s->request, s->now_ms);
		if (error == 0) {
			s->counters.workers_started++;
		} else if (error == -EPIPE || error == -ECONNRESET || error == -ENOTCONN) {
			break_down(s, error);
		} else { /* no descriptor, no memory, or a full queue: all pass */
			s->retry_ms = s->now_ms + BUSY_WAIT_MS;
			return;
		}
	}
}

bool symbols_idle(const struct symbols *s)
{
	for (uint32_t i = 0; i < s->limits.workers; i++)
		if (s->jobs[i].socket >= 0)
			return false;
	for (const struct symbol_file *f = s->files.oldest; f; f = f->newer)
		if (can_start(s, f))
			return false;
	return true;
}

size_t symbols_poll(struct symbols *s, struct pollfd *fds, size_t max)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->limits.workers && n < max; i++)
		if (s->jobs[i].socket >= 0)
			fds[n++] = (struct pollfd){ .fd = s->jobs[i].socket, .events = POLLIN };
	return n;
}

static void deny_file(struct symbols *s, struct symbol_file *f)
{
	f->denied_until_ms = s->now_ms + (uint64_t)s->limits.deny_seconds * 1000;
	f->info.status = FILE_STATUS_WORKER_DIED;
	fail_queued(f);
	/* The vDSO is ours, and has no identity that another file could not have. */
	if (!f->pinned)
		symbol_files_deny(&s->files, f, f->denied_until_ms);
	s->counters.files_denied++;
	log_warn("worker_died",
		 "a worker died over a file, which is denied for %u s: inode=%llu size=%llu",
		 s->limits.deny_seconds, (unsigned long long)f->inode, (unsigned long long)f->size);
}

static void handle_job(struct symbols *s, struct symbol_job *j)
{
	struct symbol_file *f = j->file;
	const char *why = NULL;
	enum job_state state = symbol_job_receive(j, s->packet, &s->counters, &why);

	symbol_files_count_strings(&s->files, f);
	if (state == JOB_DONE) {
		symbol_job_end(j, ENTRY_FAILED);
		return;
	}
	if (state == JOB_BUSY) {
		s->counters.workers_busy++;
		s->retry_ms = s->now_ms + BUSY_WAIT_MS;
		symbol_job_end(j, ENTRY_QUEUED);
		return;
	}
	if (state == JOB_RUNNING) {
		if (s->now_ms - j->started_ms < s->limits.worker_wall_ms)
			return;
		s->counters.workers_late++;
	}
	if (state == JOB_LIED) {
		s->counters.answers_bad++;
		log_warn("worker_answer", "%s", why);
	}
	s->counters.workers_died++;
	symbol_job_end(j, ENTRY_FAILED);
	deny_file(s, f);
}

void symbols_handle(struct symbols *s, uint64_t now_ms)
{
	s->now_ms = now_ms;
	for (uint32_t i = 0; i < s->limits.workers; i++)
		if (s->jobs[i].socket >= 0)
			handle_job(s, &s->jobs[i]);
	symbols_start(s);
}

static bool anything_to_start(const struct symbols *s)
{
	for (const struct symbol_file *f = s->files.oldest; f; f = f->newer)
		if (can_start(s, f))
			return true;
	return false;
}

int symbols_timeout(const struct symbols *s, uint64_t now_ms)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < s->limits.workers; i++) {
		uint64_t end = s->jobs[i].started_ms + s->limits.worker_wall_ms;

		if (s->jobs[i].socket >= 0 && end < next)
			next = end;
	}
	if (s->retry_ms > now_ms && s->retry_ms < next && anything_to_start(s))
		next = s->retry_ms;
	if (next == UINT64_MAX)
		return -1;
	return next <= now_ms ? 0 : (int)(next - now_ms);
}

bool symbols_lookup(struct symbols *s, uint64_t file_id, uint64_t offset, struct symbol *out)
{
	struct symbol_file *f = symbol_files_find(&s->files, file_id);
	const struct symbol_entry_known *e;
	uint32_t index;

	*out = (struct symbol){ 0 };
	if (!f)
		return false;
	symbol_files_touch(&s->files, f);
	if (f->hopeless)
		return true;
	index = symbol_cache_find(&f->cache, offset);
	if (index == SYMBOL_CACHE_NONE || f->cache.entries[index].state != ENTRY_KNOWN)
		return false;
	e = &f->cache.entries[index];
	out->has_address = e->has_address;
	out->address = e->address;
	if (e->name != SYMBOL_CACHE_NONE) {
		out->name = f->cache.strings + e->name;
		out->system_name = f->cache.strings + e->system_name;
		out->function_start = e->function_start;
	}
	return true;
}

const struct file_info *symbols_file(struct symbols *s, uint64_t file_id)
{
	static const struct file_info unknown = { .status = FILE_STATUS_UNKNOWN };
	const struct symbol_file *f = symbol_files_find(&s->files, file_id);

	return f ? &f->info : &unknown;
}

uint64_t symbols_next_missing(struct symbols *s)
{
	for (struct symbol_file *f = s->files.oldest; f; f = f->newer) {
		if (f->queued == 0 || f->fd >= 0 || denied(s, f) || f->file_id < FILE_ID_FIRST)
			continue;
		if (f->told_missing_ms && s->now_ms - f->told_missing_ms < MISSING_AGAIN_MS)
			continue;
		f->told_missing_ms = s->now_ms;
		return f->file_id;
	}
	return FILE_ID_NONE;
}

bool symbols_broken(const struct symbols *s)
{
	return s->broken;
}

const struct symbols_counters *symbols_counters(const struct symbols *s)
{
	return &s->counters;
}
