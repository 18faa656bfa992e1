/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the user registers of the interrupted thread are, on x86-64: in the program's context when
 * the CPU was in user mode, else at the top of the thread's kernel stack, where the entry code has
 * saved them.
 */
#ifndef BELFRY_BPF_REGISTERS_X86_BPF_H
#define BELFRY_BPF_REGISTERS_X86_BPF_H

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/kernel_types.h"

/* The context's registers in the order of the kernel's ABI (struct pt_regs of asm/ptrace.h). */
enum {
	CONTEXT_BP = 4,
	CONTEXT_IP = 16,
	CONTEXT_CS = 17,
	CONTEXT_SP = 19,
	CONTEXT_REGISTERS = 21,
};

struct bpf_perf_event_data {
	unsigned long registers[CONTEXT_REGISTERS];
	__u64 sample_period;
	__u64 address;
};

struct user_registers {
	__u64 pc;
	__u64 sp;
	__u64 fp;
};

/* Size of a kernel stack; used only where the kernel has no helper that finds the registers
 * (before 5.15). */
const volatile unsigned int thread_size = 16384;

/* The privilege level is in the low bits of CS: 3 is user mode. */
static __always_inline int interrupted_in_user_mode(const struct bpf_perf_event_data *ctx)
{
	return (ctx->registers[CONTEXT_CS] & 3) == 3;
}

static __always_inline void user_registers_of_context(const struct bpf_perf_event_data *ctx,
						      struct user_registers *r)
{
	r->pc = ctx->registers[CONTEXT_IP];
	r->sp = ctx->registers[CONTEXT_SP];
	r->fp = ctx->registers[CONTEXT_BP];
}

/* Returns 0, or -1 when they could not be read. */
static __always_inline int user_registers_of_task(struct task_struct *task,
						  struct user_registers *r)
{
	struct pt_regs *saved;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs)) {
		saved = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	} else {
		void *stack = BPF_CORE_READ(task, stack);

		if (!stack)
			return -1;
		saved = stack + thread_size - bpf_core_type_size(struct pt_regs);
	}
	if (bpf_core_read(&r->pc, sizeof(r->pc), &saved->ip) ||
	    bpf_core_read(&r->sp, sizeof(r->sp), &saved->sp) ||
	    bpf_core_read(&r->fp, sizeof(r->fp), &saved->bp))
		return -1;
	return 0;
}

#endif
