/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "ipc/log.h"

struct drain {
	struct ring_buffer *ring;
	struct processes *processes;
	struct stream *stream;
	struct drain_counters counters;
	uint64_t until;
	uint64_t bytes;
	size_t held_size; /* 0 = none */
	uint64_t held[(BELFRY_SAMPLE_MAX + 7) / 8];
};

const char *drain_check_layout(const void *record, size_t size)
{
	struct sample_record r;

	if (size < sizeof(r))
		return "sample is shorter than its header";
	memcpy(&r, record, sizeof(r));
	if (r.kernel_frames > BELFRY_KERNEL_FRAMES_MAX || r.user_frames > BELFRY_USER_FRAMES_MAX)
		return "sample has too many frames";
	if (size != sizeof(r) + 8 * ((size_t)r.kernel_frames + r.user_frames))
		return "sample does not end where its frames end";
	if (r.status >= SAMPLE_STATUS_COUNT || (r.flags & ~SAMPLE_FLAGS_ALL) || r.reserved)
		return "sample has an unknown status or flag";
	return NULL;
}

/* Records of a process can be lost while they are told: then all is told once more, and only once.
 */
static void announce(struct drain *d, const struct sample_record *r)
{
	for (int attempt = 0; attempt < 2; attempt++) {
		if (stream_take_announcements_lost(d->stream))
			processes_forget_announcements(d->processes);
		else if (attempt)
			return;
		processes_before_sample(d->processes, r);
	}
}

static void deliver(struct drain *d, const uint64_t *record)
{
	struct sample_record r;

	memcpy(&r, record, sizeof(r));
	announce(d, &r);
	stream_add_sample(d->stream, &r, record + sizeof(r) / sizeof(*record));
}

/* Called by libbpf for each record of the ring. A record that is refused by a negative return is
 * consumed all the same. */
static int on_record(void *context, void *data, size_t size)
{
	struct drain *d = context;
	const char *wrong = drain_check_layout(data, size);
	uint64_t time;

	d->counters.taken++;
	d->bytes += size;
	if (wrong) {
		if (d->counters.invalid++ == 0)
			log_warn("sample_invalid", "record of %zu bytes in the sampler's ring: %s",
				 size, wrong);
		return 0;
	}
	memcpy(&time, data, sizeof(time));
	if (time <= d->until) {
		deliver(d, data);
		return 0;
	}
	memcpy(d->held, data, size);
	d->held_size = size;
	d->counters.held = 1;
	return -EAGAIN;
}

int drain_new(struct drain **out, int ring_fd, struct processes *processes, struct stream *stream)
{
	struct drain *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->processes = processes;
	d->stream = stream;
	d->ring = ring_buffer__new(ring_fd, on_record, d, NULL);
	if (!d->ring) {
		int error = -errno;

		log_error("ring", "mapping the sampler's ring: %s", strerror(errno));
		free(d);
		return error;
	}
	*out = d;
	return 0;
}

uint64_t drain_run(struct drain *d, uint64_t until)
{
	d->until = until;
	d->bytes = 0;
	if (d->held_size) {
		if (d->held[0] > until) /* the first field is the time */
			return 0;
		deliver(d, d->held);
		d->held_size = 0;
		d->counters.held = 0;
	}
	ring_buffer__consume(d->ring);
	return d->bytes;
}

const struct drain_counters *drain_counters(const struct drain *d)
{
	return &d->counters;
}

void drain_free(struct drain *d)
{
	if (!d)
		return;
	ring_buffer__free(d->ring);
	free(d);
}
