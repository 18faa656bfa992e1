/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/broker.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "collector/clock.h"
#include "collector/file_link.h"
#include "collector/file_table.h"
#include "ipc/log_limit.h"
#include "collector/open_mapped.h"
#include "ipc/log.h"

/* How long a file is taken for the one it was without looking again: a burst of processes maps the
 * same few. */
#define TRUST_NS	 NSEC_PER_SEC
#define REFUSAL_TRUST_NS (60 * NSEC_PER_SEC)
#define WANT_NS		 NSEC_PER_SEC /* a file is opened again for the symbolizer at most this often */
#define MESSAGES_A_RUN	 64

/* A file that waits to be passed on. */
struct waiting {
	uint64_t id;
	int fd;
};

struct broker {
	struct file_link link;
	struct file_table *files;
	struct mount_types *mounts;
	struct broker_counters counters;
	bool allow_remote;
	int kallsyms_fd;
	bool kallsyms_due; /* not yet sent on this connection */
	uint32_t in_flight;
	struct log_limit said[OPEN_RESULTS];
	uint32_t queue_size;
	uint32_t queue_first;
	uint32_t queue_count;
	struct waiting queue[];
};

int broker_new(struct broker **out, const struct broker_options *o)
{
	struct broker *b = calloc(1, sizeof(*b) + o->queue * sizeof(b->queue[0]));
	int rc;

	if (!b)
		return -ENOMEM;
	file_link_init(&b->link, o->socket_path, o->peer_uid, o->stream_id);
	b->allow_remote = o->allow_remote_files;
	b->kallsyms_fd = o->kallsyms_fd;
	b->queue_size = o->queue;
	rc = file_table_new(&b->files, o->files_known);
	if (rc == 0)
		rc = mount_types_new(&b->mounts);
	if (rc) {
		if (b->files)
			file_table_free(b->files);
		free(b);
		return rc;
	}
	*out = b;
	return 0;
}

/* Each kind of failure is logged once in a while; what a process causes by ending is no news. */
static void say(struct broker *b, enum open_result result, const char *story)
{
	if (result == OPEN_GONE)
		log_debug("file_gone", "%s", story);
	else if (log_limit_passes(&b->said[result]))
		log_warn(result >= OPEN_NOT_REGULAR ? "file_refused" : "file_failed", "%s", story);
}

/* Counts a file that could not be had. Returns FILE_ID_NONE, or the number of a file known by the
 * same mapping. */
static uint64_t without_file(struct broker *b, enum open_result result, const char *story,
			     const struct mapped_file *m, struct known_file *known,
			     enum broker_retry *retry)
{
	struct known_file *f = known && known->state == FILE_REFUSED_HERE ? known : NULL;

	if ((result == OPEN_GONE || result == OPEN_DENIED) && known)
		return known->id;
	say(b, result, story);
	if (result < OPEN_NOT_REGULAR) {
		b->counters.failed++;
		*retry = result == OPEN_GONE ? BROKER_OTHER_RANGE : BROKER_FINAL;
		return FILE_ID_NONE;
	}
	b->counters.refused++;
	if (result == OPEN_OTHER_FILE) {
		*retry = BROKER_OTHER_RANGE;
		return FILE_ID_NONE;
	}
	/* Refused for what it is: remembered, so that nobody tries again for each process. */
	if (!f)
		f = file_table_add(b->files, m, NULL);
	if (f)
		f->verified_ns = clock_ns();
	return FILE_ID_NONE;
}

static void enqueue(struct broker *b, struct known_file *f, int fd)
{
	b->queue[(b->queue_first + b->queue_count) % b->queue_size] = (struct waiting){ f->id, fd };
	b->queue_count++;
	f->state = FILE_QUEUED;
}

/* Opens for reading what was looked at, and queues it. `f` NULL: a file not known yet. */
static uint64_t open_and_queue(struct broker *b, struct known_file *f, const struct mapped_range *r,
			       const struct mapped_file *m, int path_fd, struct file_identity *id,
			       enum broker_retry *retry)
{
	char story[OPEN_STORY_MAX];
	enum open_result result;
	int fd;

	if (b->queue_count == b->queue_size) {
		b->counters.deferred++;
		*retry = BROKER_LATER;
		return f ? f->id : FILE_ID_NONE;
	}
	result = mapped_open(r, m, path_fd, b->mounts, b->allow_remote, &fd, id, story);
	if (result != OPEN_OK)
		return without_file(b, result, story, m, f, retry);
	if (!f)
		f = file_table_add(b->files, m, id);
	if (!f) {
		b->counters.deferred++;
		*retry = BROKER_LATER;
		close(fd);
		return FILE_ID_NONE;
	}
	f->verified_ns = clock_ns();
	f->origin = *r;
	enqueue(b, f, fd);
	return f->id;
}

/* True when what is known of a mapped file holds without another look at it. */
static bool is_settled(const struct known_file *f, const struct mapped_file *m, uint64_t now)
{
	if (f->state == FILE_REFUSED_HERE)
		return now - f->verified_ns < REFUSAL_TRUST_NS;
	if (f->state == FILE_UNSENT || now - f->verified_ns >= TRUST_NS)
		return false;
	if (f->mapped.generation != m->generation)
		return false; /* an inode number that was used again */
	/* On overlayfs, what a mapping shows can be the same for files of two layers, if not their
	 * generation as well. */
	return m->generation || (major(f->identity.device) == m->device_major &&
				 minor(f->identity.device) == m->device_minor);
}

uint64_t broker_file(struct broker *b, pid_t pid, uint64_t start, uint64_t end,
		     const struct mapped_file *m, enum broker_retry *retry)
{
	struct mapped_range r = { pid, start, end };
	struct known_file *known = file_table_by_mapping(b->files, m);
	uint64_t now = clock_ns();
	char story[OPEN_STORY_MAX];
	struct file_identity id;
	enum open_result result;
	struct known_file *f;
	uint64_t file_id;
	int path_fd;

	*retry = BROKER_FINAL;
	if (known && is_settled(known, m, now)) {
		file_table_touch(b->files, known);
		return known->id;
	}
	result = mapped_look(&r, m, &path_fd, &id, story);
	if (result != OPEN_OK)
		return without_file(b, result, story, m, known, retry);
	f = file_table_by_identity(b->files, &id);
	if (f && !mapped_is_expected(&f->identity, m)) {
		close(path_fd);
		return without_file(b, OPEN_OTHER_FILE,
				    "a range maps another known file than was told", m, known,
				    retry);
	}
	if (f) {
		file_table_touch(b->files, f);
		/* /proc/PID/maps shows no generation: what an event told is kept. */
		if (known != f || (m->generation && f->mapped.generation != m->generation))
			file_table_remap(b->files, f, m);
		f->verified_ns = now;
		f->origin = r;
	}
	file_id = f ? f->id : FILE_ID_NONE;
	if (!f || f->state == FILE_UNSENT)
		file_id = open_and_queue(b, f, &r, m, path_fd, &id, retry);
	close(path_fd);
	return file_id;
}

static void take_done(struct broker *b, uint64_t now_ms, const struct file_message *m)
{
	struct known_file *f = file_table_by_id(b->files, m->file_id);

	if (!f || f->state != FILE_IN_FLIGHT) {
		file_link_refuse(&b->link, now_ms, "DONE for a file that is not on its way");
		return;
	}
	b->in_flight--;
	f->state = m->result == FILE_REFUSED ? FILE_REJECTED : FILE_SENT;
}

/* Opens a file again, if whoever had it mapped last still has. */
static void take_want(struct broker *b, const struct file_message *m)
{
	struct known_file *f = file_table_by_id(b->files, m->file_id);
	uint64_t now = clock_ns();
	char story[OPEN_STORY_MAX];
	struct file_identity id;
	enum broker_retry retry;
	int path_fd;

	if (!f || (f->state != FILE_SENT && f->state != FILE_UNSENT) ||
	    (f->wanted_ns && now - f->wanted_ns < WANT_NS)) {
		b->counters.wants_ignored++;
		return;
	}
	f->wanted_ns = now;
	if (mapped_look(&f->origin, &f->mapped, &path_fd, &id, story) != OPEN_OK) {
		b->counters.wants_ignored++;
		return;
	}
	if (file_table_by_identity(b->files, &id) == f)
		open_and_queue(b, f, &f->origin, &f->mapped, path_fd, &id, &retry);
	else
		b->counters.wants_ignored++;
	close(path_fd);
}

/* A new connection: the symbolizer on it has nothing. */
static void take_hello(struct broker *b)
{
	file_table_unsend(b->files);
	b->in_flight = 0;
	b->kallsyms_due = b->kallsyms_fd >= 0;
	log_info("file_connected", "%s: the symbolizer has connected", b->link.path);
}

static void send_waiting(struct broker *b, uint64_t now_ms)
{
	struct file_message m = { .type = FILE_KALLSYMS };

	if (b->kallsyms_due && file_link_send(&b->link, now_ms, &m, b->kallsyms_fd) == 0)
		b->kallsyms_due = false;
	while (!b->kallsyms_due && b->queue_count && b->in_flight < FILES_IN_FLIGHT_MAX) {
		struct waiting *w = &b->queue[b->queue_first];
		struct known_file *f = file_table_by_id(b->files, w->id);

		/* Files that wait are never removed from the table. */
		m = (struct file_message){ .type = FILE_OPENED,
					   .file_id = f->id,
					   .device = f->identity.device,
					   .inode = f->identity.inode,
					   .size = f->identity.size,
					   .change_time = f->identity.change_time };
		if (file_link_send(&b->link, now_ms, &m, w->fd))
			return;
		close(w->fd);
		f->state = FILE_IN_FLIGHT;
		b->in_flight++;
		b->counters.sent++;
		b->queue_first = (b->queue_first + 1) % b->queue_size;
		b->queue_count--;
	}
}

bool broker_run(struct broker *b, uint64_t now_ms)
{
	struct file_message m;
	bool fresh = false;

	file_link_run(&b->link, now_ms);
	for (int i = 0; i < MESSAGES_A_RUN && file_link_receive(&b->link, now_ms, &m); i++) {
		if (m.type == FILE_HELLO) {
			take_hello(b);
			fresh = true;
		} else if (m.type == FILE_DONE) {
			take_done(b, now_ms, &m);
		} else if (m.type == FILE_WANT) {
			take_want(b, &m);
		}
	}
	if (file_link_is_open(&b->link))
		send_waiting(b, now_ms);
	b->counters.connections = b->link.connections;
	b->counters.peer_refused = b->link.refused;
	return fresh;
}

/* Something could be sent if the socket took it. */
static bool has_work(const struct broker *b)
{
	return file_link_is_open(&b->link) &&
	       (b->kallsyms_due || (b->queue_count && b->in_flight < FILES_IN_FLIGHT_MAX));
}

struct pollfd broker_poll(const struct broker *b)
{
	short out = has_work(b) && b->link.blocked ? POLLOUT : 0;

	return (struct pollfd){ .fd = b->link.fd, .events = (short)(POLLIN | out) };
}

int broker_timeout(const struct broker *b, uint64_t now_ms)
{
	if (has_work(b) && !b->link.blocked)
		return 0;
	return file_link_timeout(&b->link, now_ms);
}

const struct broker_counters *broker_counters(const struct broker *b)
{
	return &b->counters;
}

void broker_free(struct broker *b)
{
	while (b->queue_count) {
		close(b->queue[b->queue_first].fd);
		b->queue_first = (b->queue_first + 1) % b->queue_size;
		b->queue_count--;
	}
	if (b->link.fd >= 0)
		close(b->link.fd);
	file_table_free(b->files);
	mount_types_free(b->mounts);
	free(b);
}
