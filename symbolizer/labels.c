/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolizer/labels.h"

#include <stdio.h>
#include <string.h>

static void add(struct labels *l, const char *name, const char *value)
{
	if (!*value || l->count == PROFILE_LABELS_MAX)
		return;
	l->items[l->count++] = (struct profile_label){ name, value, (uint32_t)strlen(name),
						       (uint32_t)strlen(value) };
}

void labels_of(struct labels *l, const struct target *t, const struct host_labels *h)
{
	l->count = 0;
	snprintf(l->pid, sizeof(l->pid), "%u", t->tgid);
	add(l, "__name__", LABELS_PROFILE_NAME);
	add(l, "pid", l->pid);
	add(l, "comm", t->comm);
	add(l, "exe", target_exe(t));
	add(l, "cgroup", t->cgroup.path);
	add(l, "container_id", t->cgroup.container_id);
	add(l, "systemd_unit", t->cgroup.systemd_unit);
	add(l, "node", h->node);
	add(l, "kernel_release", h->kernel_release);
}
