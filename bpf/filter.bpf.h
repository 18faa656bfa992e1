/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which threads are sampled. Asked before any stack is touched, so that what is left out costs next
 * to nothing. Entries of one kind are alternatives; every kind in force must match.
 */
#ifndef BELFRY_BPF_FILTER_BPF_H
#define BELFRY_BPF_FILTER_BPF_H

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/kernel_types.h"
#include "bpf/shared.h"

/* Deeper cgroups than this are compared in their upper levels and themselves only. */
#define CGROUP_LEVELS_MAX 32

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, AGENT_ENTRIES_MAX);
	__type(key, __u32);
	__type(value, __u32);
} agent_uids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, AGENT_ENTRIES_MAX);
	__type(key, __u32);
	__type(value, __u32);
} agent_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILTER_ENTRIES_MAX);
	__type(key, __u64);
	__type(value, __u32);
} filter_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILTER_ENTRIES_MAX);
	__type(key, __u64);
	__type(value, __u32);
} filter_cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILTER_ENTRIES_MAX);
	__type(key, __u64);
	__type(value, __u32);
} filter_uids SEC(".maps");

/* Bit 1 << enum filter_kind: that kind is in force. User space writes it through its mapping. */
volatile unsigned int filter_mode;

static __always_inline int is_agent(__u32 tgid, __u32 uid)
{
	return bpf_map_lookup_elem(&agent_processes, &tgid) ||
	       bpf_map_lookup_elem(&agent_uids, &uid);
}

/* The process itself, or an ancestor whose entry means its descendants as well. */
static __always_inline int process_matches(struct task_struct *task, __u32 tgid)
{
	__u64 key = tgid;

	if (bpf_map_lookup_elem(&filter_processes, &key))
		return 1;
	for (int level = 0; level < FILTER_PARENTS_MAX; level++) {
		__u32 *entry;

		task = BPF_CORE_READ(task, real_parent);
		key = (__u32)BPF_CORE_READ(task, tgid);
		if (key <=
		    1) /* everything descends from these: an entry for them is a match above only */
			break;
		entry = bpf_map_lookup_elem(&filter_processes, &key);
		if (entry && *entry == 2)
			return 1;
	}
	return 0;
}

static __always_inline int ancestor_matches(void)
{
	for (int level = 0; level < CGROUP_LEVELS_MAX; level++) {
		__u64 id = bpf_get_current_ancestor_cgroup_id(level);

		if (id == 0) /* below the thread's own cgroup */
			break;
		if (bpf_map_lookup_elem(&filter_cgroups, &id))
			return 1;
	}
	return 0;
}

/* The same where the helper is not for perf events yet: a cgroup's id is that of its directory's
 * node. */
static __always_inline int parent_matches(struct task_struct *task)
{
	struct kernfs_node *node = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn);

	for (int level = 0; level < CGROUP_LEVELS_MAX && node; level++) {
		__u64 id = BPF_CORE_READ(node, id);

		if (bpf_map_lookup_elem(&filter_cgroups, &id))
			return 1;
		node = BPF_CORE_READ(node, parent);
	}
	return 0;
}

static __always_inline int cgroup_matches(struct task_struct *task, __u64 id)
{
	if (bpf_map_lookup_elem(&filter_cgroups, &id))
		return 1;
	/* Tracing programs may ask for ancestors since 5.14; this helper came with 5.15. */
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return ancestor_matches();
	return parent_matches(task);
}

static __always_inline int uid_matches(__u32 uid)
{
	__u64 key = uid;

	return bpf_map_lookup_elem(&filter_uids, &key) != 0;
}

static __always_inline int filters_match(struct task_struct *task, __u32 tgid, __u32 uid,
					 __u64 cgroup_id)
{
	unsigned int mode = filter_mode;

	if (mode == 0)
		return 1;
	if ((mode & (1u << FILTER_UID)) && !uid_matches(uid))
		return 0;
	if ((mode & (1u << FILTER_PROCESS)) && !process_matches(task, tgid))
		return 0;
	if ((mode & (1u << FILTER_CGROUP)) && !cgroup_matches(task, cgroup_id))
		return 0;
	return 1;
}

#endif
