/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/worker.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "ipc/log.h"
#include "ipc/seqpacket.h"
#include "policy/confine.h"
#include "symbolizer/demangle.h"
#include "symbolizer/elf/build_id.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/elf/segments.h"
#include "symbolizer/elf/symbol_search.h"

/* An offset of the request on its way to a name. */
struct place {
	bool has_address;
	uint64_t address;
	uint32_t rank; /* index of the address among the sorted ones */
};

/*
 * What an answer needs while it is made. Freed by the process's end in a worker, by answer_free()
 * in tests.
 */
struct answer {
	struct elf_file file;
	bool open;
	struct symbol_search *search;
	struct place places[WORKER_OFFSETS_MAX];
	uint64_t addresses[WORKER_OFFSETS_MAX];
	uint32_t address_count;
	struct symbol_match matches[WORKER_OFFSETS_MAX];
	uint8_t packet[WORKER_PACKET_MAX];
	char raw[DEMANGLE_INPUT_MAX];
	char readable[WORKER_NAME_MAX + 1];
	uint32_t readable_len;
	const struct symbol_match *named; /* match that raw and readable belong to */
};

static void answer_free(struct answer *a)
{
	symbol_search_free(a->search);
	if (a->open)
		elf_file_close(&a->file);
	free(a);
}

static int order_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint32_t rank_of(const struct answer *a, uint64_t address)
{
	const uint64_t *at =
		bsearch(&address, a->addresses, a->address_count, sizeof(address), order_addresses);

	return (uint32_t)(at - a->addresses);
}

static void find_addresses(struct answer *a, const struct worker_request *r)
{
	uint32_t unique = 0;

	for (uint32_t i = 0; i < r->count; i++) {
		struct place *p = &a->places[i];

		p->has_address = segments_address(&a->file, r->offsets[i], &p->address);
		if (p->has_address)
			a->addresses[a->address_count++] = p->address;
	}
	qsort(a->addresses, a->address_count, sizeof(a->addresses[0]), order_addresses);
	for (uint32_t i = 0; i < a->address_count; i++)
		if (unique == 0 || a->addresses[unique - 1] != a->addresses[i])
			a->addresses[unique++] = a->addresses[i];
	a->address_count = unique;
	for (uint32_t i = 0; i < r->count; i++)
		if (a->places[i].has_address)
			a->places[i].rank = rank_of(a, a->places[i].address);
}

static void set_detail(struct worker_file *f, const char *what)
{
	snprintf(f->detail, sizeof(f->detail), "%s", what);
}

/*
 * Everything that is parsed of the file, except the names themselves. Returns false without memory.
 */
static bool examine(struct answer *a, const struct elf_source *source,
		    const struct worker_request *r, struct worker_file *f)
{
	const char *why;
	enum elf_status status = elf_file_open(&a->file, source, &why);

	if (status != ELF_OK) {
		f->status = status == ELF_NOT_ELF ? WORKER_FILE_NOT_ELF : WORKER_FILE_MALFORMED;
		set_detail(f, why);
		return true;
	}
	a->open = true;
	f->status = WORKER_FILE_OK;
	if (r->identify)
		build_id_find(&a->file, f->build_id);
	find_addresses(a, r);
	a->search = symbol_search_new(&a->file);
	if (!a->search)
		return false;
	f->parts = (symbol_search_has(a->search, SYMBOL_TABLE_FULL) ? WORKER_HAS_SYMTAB : 0) |
		   (symbol_search_has(a->search, SYMBOL_TABLE_DYNAMIC) ? WORKER_HAS_DYNSYM : 0) |
		   (a->file.segment_count ? WORKER_HAS_SEGMENTS : 0);
	why = symbol_search_run(a->search, a->addresses, a->address_count, a->matches);
	if (why)
		elf_file_warn(&a->file, why);
	if (a->file.warning) {
		f->status = WORKER_FILE_MALFORMED;
		set_detail(f, a->file.warning);
	}
	return true;
}

/* Fetches and demangles a match's name, unless it is the one of the address before. */
static void name_match(struct answer *a, const struct symbol_match *m)
{
	if (a->named && a->named->table == m->table && a->named->name == m->name)
		return;
	a->named = m;
	symbol_search_name(a->search, m, a->raw, sizeof(a->raw));
	a->readable_len = (uint32_t)demangle(a->raw, a->readable, sizeof(a->readable));
}

static void describe(struct answer *a, uint32_t index, struct worker_name *n)
{
	const struct place *p = &a->places[index];
	const struct symbol_match *m = &a->matches[p->rank];

	*n = (struct worker_name){ .has_address = p->has_address, .address = p->address };
	if (!p->has_address || !m->found)
		return;
	name_match(a, m);
	n->system_name = a->raw;
	n->system_name_len = (uint32_t)strnlen(a->raw, WORKER_NAME_MAX);
	n->name = a->readable;
	n->name_len = a->readable_len;
	n->function_start = m->start;
	n->has_symbol = n->name_len > 0 && n->system_name_len > 0;
}

static bool send_names(struct answer *a, const struct worker_request *r,
		       const struct worker_output *output)
{
	struct builder b = builder_over(a->packet, sizeof(a->packet));

	worker_names_begin(&b);
	for (uint32_t i = 0; i < r->count; i++) {
		struct worker_name n;

		describe(a, i, &n);
		if (worker_names_add(&b, &n))
			continue;
		/* Full: two names of the greatest length fit into an empty packet, so this ends. */
		if (!output->send(output->context, b.data, b.len))
			return false;
		b.len = 0;
		worker_names_begin(&b);
		i--;
	}
	return worker_names_count(&b) == 0 || output->send(output->context, b.data, b.len);
}

bool worker_answer(const struct elf_source *source, const struct worker_request *r,
		   const struct worker_output *output)
{
	struct answer *a = calloc(1, sizeof(*a));
	struct worker_file f = { 0 };
	struct builder b;
	bool sent = false;

	if (!a)
		return false;
	b = builder_over(a->packet, sizeof(a->packet));
	if (!examine(a, source, r, &f))
		goto out;
	worker_file_encode(&b, &f);
	if (!output->send(output->context, b.data, b.len) || !send_names(a, r, output))
		goto out;
	b.len = 0;
	worker_bare_encode(&b, WORKER_END);
	sent = output->send(output->context, b.data, b.len);
out:
	answer_free(a);
	return sent;
}

static bool send_packet(void *context, const void *packet, uint32_t len)
{
	const int *socket = context;

	for (;;) {
		struct pollfd writable = { .fd = *socket, .events = POLLOUT };
		int error = seqpacket_send(*socket, packet, len, -1);

		if (error != -EAGAIN)
			return error == 0;
		/* The main process reads when it can; the alarm ends a wait that is too long. */
		if (poll(&writable, 1, -1) < 0 && errno != EINTR)
			return false;
	}
}

/* CPU time and real time start now; the rest was set in the zygote and came by fork. */
static void limit_time(const struct worker_limits *l)
{
	struct rlimit cpu = { .rlim_cur = l->cpu_seconds, .rlim_max = l->cpu_seconds };
	struct itimerval wall = {
		.it_value = { .tv_sec = l->wall_ms / 1000, .tv_usec = l->wall_ms % 1000 * 1000 },
	};

	if (setrlimit(RLIMIT_CPU, &cpu) != 0 || setitimer(ITIMER_REAL, &wall, NULL) != 0) {
		log_error("worker_limits", "time limits of a worker: %s", strerror(errno));
		_exit(1);
	}
}

void worker_main(int socket, const struct policy *policy, const struct worker_limits *limits)
{
	uint8_t *data = malloc(WORKER_REQUEST_MAX);
	struct worker_request *request = malloc(sizeof(*request));
	struct worker_output output = { .send = send_packet, .context = &socket };
	struct elf_source source;
	const char *why;
	ssize_t len;
	int fd = -1;

	limit_time(limits);
	if (!data || !request || confine_seccomp(policy, "worker") != 0)
		_exit(1);
	len = seqpacket_receive(socket, data, WORKER_REQUEST_MAX, &fd);
	if (len <= 0 || fd < 0)
		_exit(1);
	why = worker_request_decode(data, (uint32_t)len, request);
	if (why) {
		log_error("worker_request", "%s", why);
		_exit(1);
	}
	source = elf_source_from_fd(fd, request->file_size);
	_exit(worker_answer(&source, request, &output) ? 0 : 1);
}
