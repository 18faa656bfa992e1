/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sampler.h"

#include <errno.h>
#include <stdarg.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "ipc/log.h"
#include "sampler.skel.h"

#define RING_FLOOR (64u << 10)
#define RING_LEAST (256u << 10)
#define RING_MOST  (8u << 20)
#define RING_SECONDS_INVERSE                                                                       \
	8 /* an eighth of a second of deepest stacks: the slow drain's 100 ms, and some */

struct sampler {
	struct sampler_bpf *object;
	uint32_t ring_size;
	uint32_t slots; /* of the counters, in use */
	uint32_t entries[FILTER_KINDS];
	int filters[FILTER_KINDS]; /* map descriptors */
};

uint32_t sampler_ring_size_for(const struct sampler_options *o)
{
	uint64_t wanted =
		(uint64_t)o->frequency * o->cpus * BELFRY_SAMPLE_MAX / RING_SECONDS_INVERSE;
	uint32_t size = RING_LEAST;

	while (size < wanted && size < RING_MOST)
		size *= 2;
	while (size > RING_FLOOR && size > o->table_memory)
		size /= 2;
	return size;
}

/* libbpf's own words, one line each, for --verbose: a verifier's complaint has hundreds and ends
 * with the point. */
static int print_libbpf(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char *text, *rest, *line;
	int len = vasprintf(&text, format, arguments);

	if (len < 0)
		return 0;
	rest = text;
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (*line && level == LIBBPF_DEBUG)
			log_debug("libbpf", "%s", line);
		else if (*line)
			log_info("libbpf", "%s", line);
	}
	free(text);
	return len;
}

static int load_with_ring(struct sampler *s, uint32_t ring_size)
{
	int error;

	s->object = sampler_bpf__open();
	if (!s->object)
		return -errno;
	error = bpf_map__set_max_entries(s->object->maps.samples, ring_size);
	if (!error)
		error = sampler_bpf__load(s->object);
	if (error) {
		sampler_bpf__destroy(s->object);
		s->object = NULL;
		return error;
	}
	s->ring_size = ring_size;
	return 0;
}

/* Before 5.11 a limit on locked memory that is too small shows as EPERM, not as ENOMEM. */
static bool is_memory_error(int error)
{
	return error == -ENOMEM || error == -EPERM;
}

static int load_within_memory(struct sampler *s, const struct sampler_options *o)
{
	uint32_t size = sampler_ring_size_for(o);
	int error = load_with_ring(s, size);

	while (is_memory_error(error) && size > RING_FLOOR) {
		log_warn("table_memory_halved", "BPF maps with a ring of %u KiB: %s: trying %u KiB",
			 size >> 10, strerror(-error), size >> 11);
		size /= 2;
		error = load_with_ring(s, size);
	}
	return error;
}

static void explain(int error)
{
	switch (error) {
	case -EPERM:
		log_error("bpf_load",
			  "loading the sampler: %s: needs CAP_BPF and CAP_PERFMON, before Linux "
			  "5.11 a "
			  "larger RLIMIT_MEMLOCK, and a container must allow bpf()",
			  strerror(-error));
		break;
	case -ENOMEM:
		log_error(
			"bpf_load",
			"loading the sampler: no memory for its maps even at the floor: raise the "
			"memory limit of its cgroup");
		break;
	default:
		log_error("bpf_load",
			  "loading the sampler: %s: run with --verbose for the kernel's own words",
			  strerror(-error));
		break;
	}
}

int sampler_load(struct sampler **out, const struct sampler_options *o)
{
	struct sampler *s = calloc(1, sizeof(*s));
	sigset_t all, before;
	int error;

	if (!s)
		return -ENOMEM;
	s->slots = o->cpus < BELFRY_CPUS_MAX ? o->cpus : BELFRY_CPUS_MAX;
	libbpf_set_print(print_libbpf);
	/* A signal during verification makes the kernel give up with EAGAIN. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	error = load_within_memory(s, o);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (error) {
		explain(error);
		free(s);
		return error;
	}
	s->filters[FILTER_PROCESS] = bpf_map__fd(s->object->maps.filter_processes);
	s->filters[FILTER_CGROUP] = bpf_map__fd(s->object->maps.filter_cgroups);
	s->filters[FILTER_UID] = bpf_map__fd(s->object->maps.filter_uids);
	*out = s;
	return 0;
}

int sampler_program_fd(const struct sampler *s)
{
	return bpf_program__fd(s->object->progs.take_sample);
}

int sampler_ring_fd(const struct sampler *s)
{
	return bpf_map__fd(s->object->maps.samples);
}

uint32_t sampler_ring_size(const struct sampler *s)
{
	return s->ring_size;
}

static int exclude(const struct bpf_map *map, uint32_t key)
{
	uint32_t value = 1;

	return bpf_map_update_elem(bpf_map__fd(map), &key, &value, BPF_ANY);
}

int sampler_exclude_uid(struct sampler *s, uint32_t uid)
{
	return exclude(s->object->maps.agent_uids, uid);
}

int sampler_exclude_process(struct sampler *s, uint32_t tgid)
{
	return exclude(s->object->maps.agent_processes, tgid);
}

static void set_mode(struct sampler *s, enum filter_kind kind)
{
	if (s->entries[kind])
		s->object->bss->filter_mode |= 1u << kind;
	else
		s->object->bss->filter_mode &= ~(1u << kind);
}

int sampler_filter_add(struct sampler *s, enum filter_kind kind, uint64_t key, bool descendants)
{
	uint32_t value = descendants ? 2 : 1;
	int error = bpf_map_update_elem(s->filters[kind], &key, &value, BPF_NOEXIST);

	if (error == -EEXIST)
		return bpf_map_update_elem(s->filters[kind], &key, &value, BPF_EXIST);
	if (error)
		return error;
	s->entries[kind]++;
	set_mode(s, kind);
	return 0;
}

int sampler_filter_remove(struct sampler *s, enum filter_kind kind, uint64_t key)
{
	int error = bpf_map_delete_elem(s->filters[kind], &key);

	if (error == -ENOENT)
		return 0;
	if (error)
		return error;
	s->entries[kind]--;
	set_mode(s, kind);
	return 0;
}

static uint64_t counter(const struct sampler *s, uint32_t slot, uint32_t which)
{
	return __atomic_load_n(&s->object->bss->counters[slot].value[which], __ATOMIC_ACQUIRE);
}

/*
 * From the last counter to the first: what follows from an event is read before the event itself,
 * so that no part is ever larger than its whole while samples go on.
 */
void sampler_totals(const struct sampler *s, struct sampler_totals *out)
{
	*out = (struct sampler_totals){ 0 };
	for (uint32_t which = SAMPLER_COUNTERS; which-- > 0;) {
		for (uint32_t slot = 0; slot < s->slots; slot++)
			out->value[which] += counter(s, slot, which);
	}
}

uint64_t sampler_cpu_events(const struct sampler *s, uint32_t cpu)
{
	return counter(s, cpu % BELFRY_CPUS_MAX, SAMPLER_EVENTS);
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	sampler_bpf__destroy(s->object);
	free(s);
}
