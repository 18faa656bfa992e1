/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/symbol_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/seqpacket.h"
#include "symbolizer/zygote.h"

static void collect_queued(const struct symbol_file *f, struct worker_request *r, uint32_t *entries,
			   uint32_t most)
{
	for (uint32_t i = 0; i < f->cache.count && r->count < most; i++) {
		if (f->cache.entries[i].state != ENTRY_QUEUED)
			continue;
		entries[r->count] = i;
		r->offsets[r->count++] = f->cache.entries[i].offset;
	}
}

/*
 * The request waits in the worker's socket before the worker exists, so the zygote never sees it.
 */
static int send_request(int mine, int theirs, int zygote, const struct symbol_file *f,
			const struct worker_request *r)
{
	uint8_t *data = malloc(WORKER_REQUEST_MAX);
	struct builder b = builder_over(data, WORKER_REQUEST_MAX);
	int error;

	if (!data)
		return -ENOMEM;
	worker_request_encode(&b, r);
	error = b.bad ? -EMSGSIZE : seqpacket_send(mine, b.data, b.len, f->fd);
	if (error == 0)
		error = zygote_request(zygote, theirs);
	free(data);
	return error;
}

int symbol_job_start(struct symbol_job *j, struct symbol_file *file, int zygote,
		     struct worker_request *request, uint64_t now_ms)
{
	uint32_t most = file->queued < WORKER_OFFSETS_MAX ? file->queued : WORKER_OFFSETS_MAX;
	uint32_t *entries = calloc(most ? most : 1, sizeof(*entries));
	int pair[2];
	int error;

	if (!entries)
		return -ENOMEM;
	request->file_size = file->size;
	request->identify = !file->identified;
	request->count = 0;
	collect_queued(file, request, entries, most);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
		error = -errno;
		free(entries);
		return error;
	}
	error = send_request(pair[0], pair[1], zygote, file, request);
	close(pair[1]);
	if (error) {
		close(pair[0]);
		free(entries);
		return error;
	}
	*j = (struct symbol_job){
		.socket = pair[0],
		.file = file,
		.entries = entries,
		.count = request->count,
		.started_ms = now_ms,
	};
	for (uint32_t i = 0; i < j->count; i++)
		file->cache.entries[entries[i]].state = ENTRY_ASKED;
	file->queued -= j->count;
	file->in_flight = true;
	return 0;
}

static void take_file(struct symbol_job *j, const struct worker_file *f,
		      struct symbols_counters *counters)
{
	struct file_info *info = &j->file->info;

	if (f->status == WORKER_FILE_MALFORMED && info->status != FILE_STATUS_MALFORMED)
		counters->files_malformed++;
	info->status = f->status == WORKER_FILE_OK	  ? FILE_STATUS_OK
		       : f->status == WORKER_FILE_NOT_ELF ? FILE_STATUS_NOT_ELF
							  : FILE_STATUS_MALFORMED;
	info->has_symbols = f->parts & (WORKER_HAS_SYMTAB | WORKER_HAS_DYNSYM);
	info->source = f->parts & WORKER_HAS_SYMTAB   ? SYMBOL_SOURCE_SYMTAB
		       : f->parts & WORKER_HAS_DYNSYM ? SYMBOL_SOURCE_DYNSYM
						      : SYMBOL_SOURCE_NONE;
	if (!j->file->identified)
		snprintf(info->build_id, sizeof(info->build_id), "%s", f->build_id);
	snprintf(info->detail, sizeof(info->detail), "%s", f->detail);
	j->file->identified = true;
	j->file->hopeless = !(f->parts & WORKER_HAS_SEGMENTS);
	j->got_file = true;
}

static void take_name(struct symbol_job *j, const struct worker_name *n,
		      struct symbols_counters *counters)
{
	struct symbol_cache *cache = &j->file->cache;
	struct symbol_entry_known *e = &cache->entries[j->entries[j->answered++]];

	e->state = ENTRY_KNOWN;
	e->has_address = n->has_address;
	e->address = n->address;
	e->function_start = n->function_start;
	if (!n->has_symbol) {
		counters->addresses_unnamed++;
		return;
	}
	e->system_name = symbol_cache_keep(cache, n->system_name, n->system_name_len);
	e->name = symbol_cache_keep(cache, n->name, n->name_len);
	if (e->name == SYMBOL_CACHE_NONE || e->system_name == SYMBOL_CACHE_NONE) {
		e->name = SYMBOL_CACHE_NONE;
		counters->names_refused++;
		counters->addresses_unnamed++;
		return;
	}
	counters->addresses_named++;
}

static const char *take_names(struct symbol_job *j, struct worker_packet *p,
			      struct symbols_counters *counters)
{
	if (p->count == 0 || p->count > j->count - j->answered)
		return "answer has another number of names than was asked for";
	for (uint32_t i = 0; i < p->count; i++) {
		struct worker_name n;
		const char *why = worker_name_decode(&p->body, &n);

		if (why)
			return why;
		take_name(j, &n, counters);
	}
	return cursor_finished(&p->body) ? NULL : "answer has bytes behind its names";
}

/* FILE once and first, NAMES until each offset has its answer, then END; or BUSY alone. */
static enum job_state take_packet(struct symbol_job *j, struct worker_packet *p,
				  struct symbols_counters *counters, const char **why)
{
	if (p->type == WORKER_BUSY && !j->got_file)
		return JOB_BUSY;
	if (p->type == WORKER_FILE && !j->got_file) {
		take_file(j, &p->file, counters);
		return JOB_RUNNING;
	}
	if (p->type == WORKER_NAMES && j->got_file) {
		*why = take_names(j, p, counters);
		return *why ? JOB_LIED : JOB_RUNNING;
	}
	if (p->type == WORKER_END && j->got_file && j->answered == j->count)
		return JOB_DONE;
	*why = "answer comes out of order";
	return JOB_LIED;
}

enum job_state symbol_job_receive(struct symbol_job *j, uint8_t *packet,
				  struct symbols_counters *counters, const char **why)
{
	for (;;) {
		struct worker_packet p;
		enum job_state state;
		ssize_t len = seqpacket_receive(j->socket, packet, WORKER_PACKET_MAX, NULL);

		if (len == -EAGAIN)
			return JOB_RUNNING;
		if (len == -EMSGSIZE) {
			*why = "answer is too long or carries a descriptor";
			return JOB_LIED;
		}
		if (len <= 0)
			return JOB_DIED;
		*why = worker_packet_decode(packet, (uint32_t)len, &p);
		if (*why)
			return JOB_LIED;
		state = take_packet(j, &p, counters, why);
		if (state != JOB_RUNNING)
			return state;
	}
}

void symbol_job_end(struct symbol_job *j, enum entry_state state)
{
	for (uint32_t i = j->answered; i < j->count; i++)
		j->file->cache.entries[j->entries[i]].state = (uint8_t)state;
	if (state == ENTRY_QUEUED)
		j->file->queued += j->count - j->answered;
	j->file->in_flight = false;
	close(j->socket);
	free(j->entries);
	*j = (struct symbol_job){ .socket = -1 };
}
