/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/load.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "collector/preflight.h"
#include "ipc/log.h"
#include "policy/confine.h"

#define QUEUE_BATCHES	     64 /* 4 MiB of samples wait for a symbolizer that is slow or away */
#define FILES_KNOWN	     16384
#define FILES_QUEUED	     256 /* each holds a descriptor */
#define PROCESSES_KNOWN	     8192
#define MAPPINGS_PER_PROCESS 65536
#define EXIT_GRACE_MS	     5000 /* longer than any sample waits in the ring */

/* Our own processes: ourselves, the launcher, and whatever runs under the uids of the other roles.
 */
static int exclude_agent(struct collector *c)
{
	struct sampler *s = c->loop.sampler;
	pid_t launcher = control_peer(&c->loop.control);
	int error = sampler_exclude_process(s, (uint32_t)getpid());

	if (!error && launcher > 0)
		error = sampler_exclude_process(s, (uint32_t)launcher);
	if (!error)
		error = sampler_exclude_uid(s, c->symbolizer_uid);
	for (uint32_t i = 0; i < c->options.agent_uid_count && !error; i++)
		error = sampler_exclude_uid(s, c->options.agent_uids[i]);
	return error;
}

static int set_filters(struct collector *c)
{
	const struct options *o = &c->options;
	int error = o->include_agent ? 0 : exclude_agent(c);

	for (uint32_t i = 0; i < o->filter_count && !error; i++)
		error = sampler_filter_add(c->loop.sampler, o->filters[i].kind, o->filters[i].key,
					   false);
	if (error)
		log_error("filter", "writing the sampler's filters: %s", strerror(-error));
	return error;
}

/* The permission to see addresses is checked at open: the descriptor keeps it after CAP_SYSLOG has
 * gone. */
static int open_kallsyms(void)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		log_warn("kallsyms", "/proc/kallsyms: %s: kernel frames will have no names",
			 strerror(errno));
	return fd;
}

/* What follows processes and carries what is learnt; needs no right by itself. */
static int make_modules(struct collector *c, uint32_t frequency)
{
	struct loop *l = &c->loop;
	struct broker_options files = { .socket_path = c->files_path,
					.peer_uid = c->symbolizer_uid,
					.stream_id = c->stream_id,
					.kallsyms_fd = open_kallsyms(),
					.files_known = FILES_KNOWN,
					.queue = FILES_QUEUED,
					.allow_remote_files = c->options.allow_remote_files };
	struct stream_options samples = { c->stream_id, frequency, QUEUE_BATCHES };
	struct processes_limits limits = { PROCESSES_KNOWN, MAPPINGS_PER_PROCESS, EXIT_GRACE_MS };

	if (broker_new(&l->broker, &files) != 0 || stream_new(&l->stream, &samples) != 0 ||
	    processes_new(&l->processes, l->broker, l->stream, &limits) != 0 ||
	    sideband_new(&l->sideband, l->cpu_count, l->processes) != 0 ||
	    perf_events_new(&l->events, l->cpu_count, frequency, sampler_program_fd(l->sampler)) !=
		    0) {
		log_error("memory", "no memory to start with");
		return -ENOMEM;
	}
	return drain_new(&l->drain, sampler_ring_fd(l->sampler), l->processes, l->stream);
}

int load(struct collector *c)
{
	struct loop *l = &c->loop;
	uint32_t frequency = perf_events_frequency(c->options.frequency);
	struct sampler_options sampler = { .frequency = frequency,
					   .table_memory = c->options.table_memory };
	struct cpus_parts cpus;
	int error = preflight(c->options.accept_freeze_bug, &c->kernel);

	if (error)
		return error;
	sampler.cpus = l->cpu_count = cpus_possible();
	if (l->cpu_count == 0)
		return -ENODEV;
	error = sampler_load(&l->sampler, &sampler);
	if (!error)
		error = set_filters(c);
	if (!error)
		error = make_modules(c, frequency);
	if (error)
		return error;
	cpus = (struct cpus_parts){ l->sampler,	  l->events,	l->sideband,
				    l->processes, l->cpu_count, frequency };
	l->follow_cpus = c->options.hotplug;
	error = cpus_open(&l->cpus, &cpus);
	return error ? error : notify_open();
}
