/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process_table.h"

#include <errno.h>
#include <stdlib.h>

TAILQ_HEAD(process_list, process);

struct process_table {
	uint32_t most;
	uint32_t count;
	uint32_t mask;
	void (*forget)(void *context, struct process *proc);
	void *context;
	struct process_list lru;    /* first: sampled least recently */
	struct process_list exited; /* first: exited first */
	struct process **slots;
};

int process_table_new(struct process_table **out, uint32_t most,
		      void (*forget)(void *context, struct process *proc), void *context)
{
	struct process_table *t = calloc(1, sizeof(*t));
	uint32_t slots = 256;

	if (!t)
		return -ENOMEM;
	while (slots < most && slots < 1u << 16)
		slots *= 2;
	t->slots = calloc(slots, sizeof(struct process *));
	if (!t->slots) {
		free(t);
		return -ENOMEM;
	}
	t->most = most ? most : 1;
	t->mask = slots - 1;
	t->forget = forget;
	t->context = context;
	TAILQ_INIT(&t->lru);
	TAILQ_INIT(&t->exited);
	*out = t;
	return 0;
}

struct process *process_table_newest(struct process_table *t, uint32_t tgid)
{
	struct process *p = t->slots[tgid & t->mask];

	while (p && p->tgid != tgid)
		p = p->next;
	return p;
}

struct process *process_table_older(const struct process *proc)
{
	struct process *p = proc->next;

	while (p && p->tgid != proc->tgid)
		p = p->next;
	return p;
}

static void remove_process(struct process_table *t, struct process *proc)
{
	struct process **at = &t->slots[proc->tgid & t->mask];

	while (*at != proc)
		at = &(*at)->next;
	*at = proc->next;
	TAILQ_REMOVE(&t->lru, proc, lru);
	if (proc->exit_time)
		TAILQ_REMOVE(&t->exited, proc, exited);
	t->count--;
	t->forget(t->context, proc);
	free(proc);
}

struct process *process_table_add(struct process_table *t, uint32_t tgid, uint64_t *evicted)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	if (t->count >= t->most) {
		remove_process(t, TAILQ_FIRST(&t->lru));
		(*evicted)++;
	}
	p->tgid = tgid;
	p->next = t->slots[tgid & t->mask];
	t->slots[tgid & t->mask] = p;
	TAILQ_INSERT_TAIL(&t->lru, p, lru);
	t->count++;
	return p;
}

void process_table_touch(struct process_table *t, struct process *proc)
{
	TAILQ_REMOVE(&t->lru, proc, lru);
	TAILQ_INSERT_TAIL(&t->lru, proc, lru);
}

void process_table_set_exit(struct process_table *t, struct process *proc, uint64_t time)
{
	if (proc->exit_time)
		TAILQ_REMOVE(&t->exited, proc, exited);
	proc->exit_time = time;
	if (time)
		TAILQ_INSERT_TAIL(&t->exited, proc, exited);
}

void process_table_expire(struct process_table *t, uint64_t until)
{
	struct process *p;

	while ((p = TAILQ_FIRST(&t->exited)) != NULL && p->exit_time <= until)
		remove_process(t, p);
}

uint64_t process_table_count(const struct process_table *t)
{
	return t->count;
}

void process_table_free(struct process_table *t)
{
	struct process *p;

	/* Each is unlinked before it is freed, which the analyzer does not follow through the list's macros. */
	while ((p = TAILQ_FIRST(&t->lru)) != NULL) /* NOLINT(clang-analyzer-unix.Malloc) */
		remove_process(t, p); /* NOLINT(clang-analyzer-unix.Malloc) */
	free(t->slots);
	free(t);
}
