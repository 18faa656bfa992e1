/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The yardstick: the kernel's own walk of the user stack by frame pointers and nothing else. No identity, no filter,
 * no output.
 */
#include "bpf/kernel_types.h"

#include <bpf/bpf_helpers.h>

#define BPF_F_USER_STACK (1ULL << 8)
#define FRAMES 127 /* as many as the kernel gives */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct stack {
	__u64 frames[FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack);
} stacks SEC(".maps");

SEC("perf_event")
int baseline_stack(void *ctx)
{
	__u32 zero = 0;
	struct stack *s = bpf_map_lookup_elem(&stacks, &zero);

	if (s && bpf_get_current_pid_tgid() >> 32)
		bpf_get_stack(ctx, s->frames, sizeof(s->frames), BPF_F_USER_STACK);
	return 0;
}
