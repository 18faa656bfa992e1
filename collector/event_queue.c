/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/event_queue.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CAPACITY 256u
#define MOST	       32768u /* 2.7 MiB */

struct event_queue {
	struct queued_event *at; /* a ring */
	uint32_t capacity;	 /* a power of two */
	uint32_t first;
	uint32_t count;
};

int event_queue_new(struct event_queue **out)
{
	struct event_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	q->capacity = FIRST_CAPACITY;
	q->at = malloc(q->capacity * sizeof(q->at[0]));
	if (!q->at) {
		free(q);
		return -ENOMEM;
	}
	*out = q;
	return 0;
}

static struct queued_event *nth(struct event_queue *q, uint32_t n)
{
	return &q->at[(q->first + n) & (q->capacity - 1)];
}

static bool grow(struct event_queue *q)
{
	struct queued_event *wider;

	if (q->capacity * 2 > MOST)
		return false;
	wider = malloc(q->capacity * 2 * sizeof(wider[0]));
	if (!wider)
		return false;
	for (uint32_t i = 0; i < q->count; i++)
		wider[i] = *nth(q, i);
	free(q->at);
	q->at = wider;
	q->capacity *= 2;
	q->first = 0;
	return true;
}

bool event_queue_put(struct event_queue *q, const struct queued_event *e)
{
	uint32_t i;

	if (q->count == q->capacity && !grow(q))
		return false;
	/* Drains are in order by themselves; only neighbours of two drains can be a little out of
	 * it. */
	for (i = q->count; i > 0 && nth(q, i - 1)->time > e->time; i--)
		*nth(q, i) = *nth(q, i - 1);
	*nth(q, i) = *e;
	q->count++;
	return true;
}

bool event_queue_take(struct event_queue *q, uint64_t until, struct queued_event *e)
{
	if (q->count == 0 || nth(q, 0)->time > until)
		return false;
	*e = *nth(q, 0);
	q->first = (q->first + 1) & (q->capacity - 1);
	q->count--;
	return true;
}

void event_queue_free(struct event_queue *q)
{
	free(q->at);
	free(q);
}
