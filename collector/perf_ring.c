/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ipc/cursor.h"
#include "ipc/log.h"

#define RING_PAGES_MOST	 64
#define RING_PAGES_LEAST 2
#define RECORD_HEADER	 8u

struct perf_ring {
	int fd;
	struct perf_event_mmap_page *page;
	size_t mapped;			     /* bytes, control page included */
	const uint8_t *data;		     /* the ring */
	uint64_t size;			     /* of the ring, a power of two */
	uint64_t tail;			     /* read up to here */
	uint64_t head;			     /* limit of this drain */
	uint8_t record[SIDEBAND_RECORD_MAX]; /* one that runs across the ring's end */
};

static int open_event(uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		/* wakeup_events counts samples only: side-band records wake by bytes. */
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* Halves the ring until the limit on locked memory (perf_event_mlock_kb, RLIMIT_MEMLOCK) lets it
 * pass. */
static int map_ring(struct perf_ring *r, size_t page_size)
{
	void *at = MAP_FAILED;

	for (size_t pages = RING_PAGES_MOST; pages >= RING_PAGES_LEAST; pages /= 2) {
		r->size = pages * page_size;
		r->mapped = r->size + page_size;
		at = mmap(NULL, r->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
		if (at != MAP_FAILED || (errno != EPERM && errno != ENOMEM))
			break;
	}
	if (at == MAP_FAILED)
		return -errno;
	r->page = at;
	r->data = (const uint8_t *)at + page_size;
	return 0;
}

int perf_ring_open(struct perf_ring **out, uint32_t cpu)
{
	struct perf_ring *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return -ENOMEM;
	r->fd = open_event(cpu);
	if (r->fd < 0) {
		rc = r->fd;
		log_error("sideband_open", "perf_event_open of the process events of cpu %u: %s%s",
			  cpu, strerror(-rc),
			  rc == -EACCES || rc == -EPERM ? " (needs CAP_PERFMON)" : "");
		free(r);
		return rc;
	}
	rc = map_ring(r, (size_t)sysconf(_SC_PAGESIZE));
	if (rc) {
		log_error("sideband_map", "mmap of the process event ring of cpu %u: %s", cpu,
			  strerror(-rc));
		close(r->fd);
		free(r);
		return rc;
	}
	*out = r;
	return 0;
}

int perf_ring_fd(const struct perf_ring *r)
{
	return r->fd;
}

void perf_ring_begin(struct perf_ring *r)
{
	r->head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

int perf_ring_next(struct perf_ring *r, const uint8_t **record)
{
	uint64_t at = r->tail & (r->size - 1);
	uint64_t whole = r->size - at;
	struct cursor header;
	uint32_t len;

	if (r->head == r->tail)
		return 0;
	/* Records are multiples of 8 bytes, so a header never runs across the end. */
	header = cursor_over(r->data + at, RECORD_HEADER);
	cursor_skip(&header, 6);
	len = cursor_u16(&header);
	if (len < RECORD_HEADER || len % 8 || len > SIDEBAND_RECORD_MAX ||
	    len > r->head - r->tail) {
		r->tail = r->head;
		return -EBADMSG;
	}
	r->tail += len;
	*record = r->data + at;
	if (len > whole) {
		memcpy(r->record, r->data + at, whole);
		memcpy(r->record + whole, r->data, len - whole);
		*record = r->record;
	}
	return (int)len;
}

void perf_ring_end(struct perf_ring *r)
{
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}

void perf_ring_close(struct perf_ring *r)
{
	munmap(r->page, r->mapped);
	close(r->fd);
	free(r);
}
