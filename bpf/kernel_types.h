/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's types, as far as the sampler reads them. Written by hand: only the fields that are
 * used, in any order, since each access is relocated against the running kernel's BTF
 * (preserve_access_index). What has a fixed layout (the program's context, helper and map numbers)
 * is kernel ABI and stands as it is.
 */
#ifndef BELFRY_BPF_KERNEL_TYPES_H
#define BELFRY_BPF_KERNEL_TYPES_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;

/* Big-endian and checksum types: named by the helpers' declarations, used by none of ours. */
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_RINGBUF = 27,
};

#define BPF_RB_NO_WAKEUP 1

/* Asked for by name at load time: a kernel without the helper has no such enumerator. */
enum bpf_func_id {
	BPF_FUNC_task_pt_regs = 175,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct mm_struct;

struct kernfs_node {
	struct kernfs_node *parent; /* has another name from 6.15 on; used before 5.15 only */
	__u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp; /* in the cgroup v2 hierarchy */
};

struct pt_regs {
	unsigned long bp;
	unsigned long ip;
	unsigned long sp;
};

struct task_struct {
	void *stack;
	unsigned int flags;
	struct mm_struct *mm;
	struct css_set *cgroups;
	int pid;
	int tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	__u64 start_boottime;
	char comm[16];
};

#pragma clang attribute pop

#define PF_KTHREAD 0x00200000

#endif
