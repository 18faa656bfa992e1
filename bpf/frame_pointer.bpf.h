/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One frame by its frame pointer: at the address in the frame-pointer register lie the caller's
 * frame pointer and, above it, the return address (x86-64 psABI §3.2.2). The register may hold
 * anything in a program built without frame pointers, so each value must be one that a real chain
 * could have.
 */
#ifndef BELFRY_BPF_FRAME_POINTER_BPF_H
#define BELFRY_BPF_FRAME_POINTER_BPF_H

#include <bpf/bpf_helpers.h>

#include "bpf/kernel_types.h"
#include "bpf/shared.h"

/* What a frame is known by. `sp` is the lowest address that a caller's frame can have. */
struct unwind_state {
	__u64 pc;
	__u64 sp;
	__u64 fp;
};

#define STEP_TAKEN (-1) /* otherwise an enum sample_status: how the stack ended */

/* The first page is never mapped; 56 bits is the largest user address space there is (5-level
 * paging). */
#define USER_TEXT_LOWEST 4096ULL
#define USER_TEXT_LIMIT	 (1ULL << 56)

struct frame_record {
	__u64 caller_fp;
	__u64 return_address;
};

/* Turns the state of one frame into its caller's. Returns STEP_TAKEN, or how the stack ended (state
 * unchanged). */
static __always_inline int step_by_frame_pointer(struct unwind_state *u)
{
	struct frame_record frame;

	if (u->fp == 0)
		return SAMPLE_STACK_COMPLETE;
	if ((u->fp & 7) || u->fp < u->sp)
		return SAMPLE_STACK_IMPLAUSIBLE;
	if (bpf_probe_read_user(&frame, sizeof(frame), (const void *)u->fp))
		return SAMPLE_STACK_READ_FAILED;
	if (frame.return_address == 0)
		return SAMPLE_STACK_COMPLETE;
	if (frame.return_address - USER_TEXT_LOWEST >= USER_TEXT_LIMIT - USER_TEXT_LOWEST)
		return SAMPLE_STACK_IMPLAUSIBLE;
	u->pc = frame.return_address;
	u->sp = u->fp + sizeof(frame); /* so a chain cannot go in circles */
	u->fp = frame.caller_fp;
	return STEP_TAKEN;
}

#endif
