// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The sampler: runs on each tick of a CPU's clock event, in the context of whatever the tick
 * interrupted. Decides whether the thread is wanted, takes its identity and its two stacks into a
 * per-CPU record, and puts the record into the ring buffer. Whatever it does is counted.
 */
#include <stddef.h>

#include "bpf/kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/shared.h"

#include "bpf/filter.bpf.h"
#include "bpf/frame_pointer.bpf.h"
#ifdef __TARGET_ARCH_x86
#include "bpf/registers_x86.bpf.h"
#else
#error "no register layout for this architecture yet: add bpf/registers_ARCH.bpf.h"
#endif

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Frames in one call of walk_user_frames(): it is verified once, and called as often as a whole
 * stack needs. */
#define FRAMES_A_CALL 32
#define CALLS_MAX     (BELFRY_USER_FRAMES_MAX / FRAMES_A_CALL)
#define FRAMES_MAX    (BELFRY_KERNEL_FRAMES_MAX + BELFRY_USER_FRAMES_MAX)

/* One sample under construction. Record and frames lie as they are sent; `user` is the walk's
 * state. */
struct scratch {
	struct sample_record record;
	__u64 frames[FRAMES_MAX];
	struct unwind_state user;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024); /* user space sets the real size before load */
} samples SEC(".maps");

/* Read by user space through its mapping of .bss, without a system call. */
struct sampler_counters counters[BELFRY_CPUS_MAX];

/*
 * Atomic, since the CPUs above BELFRY_CPUS_MAX share slots. The empty asm makes the compiler
 * compare the very register that it then indexes with: that is the one whose bound the verifier
 * learns.
 */
static __always_inline void count(__u32 cpu, __u64 counter)
{
	asm volatile("" : "+r"(counter));
	if (counter < SAMPLER_COUNTERS)
		__sync_fetch_and_add(&counters[cpu % BELFRY_CPUS_MAX].value[counter], 1);
}

static __always_inline struct scratch *scratch_of_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

/* Where the next user frame goes, NULL when there is no room. (For the empty asm, see count().) */
static __always_inline __u64 *next_frame(struct scratch *s)
{
	__u64 at = (__u64)s->record.kernel_frames + s->record.user_frames;

	asm volatile("" : "+r"(at));
	if (s->record.user_frames >= BELFRY_USER_FRAMES_MAX || at >= FRAMES_MAX)
		return NULL;
	return &s->frames[at];
}

/* One frame, and in *counter what gave it. Unwind rows come in here, before the frame pointer is
 * trusted. */
static __always_inline int step(struct scratch *s, struct unwind_state *u, unsigned short **counter)
{
	*counter = &s->record.frames_by_frame_pointer;
	return step_by_frame_pointer(u);
}

/*
 * Adds up to FRAMES_A_CALL frames. Returns 1 while there may be more, 0 when the stack has ended
 * and its status stands in the record. A global function takes no pointer before 5.13, so it finds
 * the scratch by itself.
 */
__noinline int walk_user_frames(void)
{
	struct scratch *s = scratch_of_cpu();
	struct unwind_state u;

	if (!s)
		return 0;
	u = s->user;
	for (int i = 0; i < FRAMES_A_CALL; i++) {
		unsigned short *counter;
		int ended = step(s, &u, &counter);
		__u64 *frame = next_frame(s);

		if (ended != STEP_TAKEN) {
			s->record.status = ended;
			return 0;
		}
		if (!frame) {
			s->record.status = SAMPLE_STACK_TRUNCATED;
			return 0;
		}
		*frame = u.pc;
		s->record.user_frames++;
		++*counter;
	}
	s->user = u;
	return 1;
}

/* The leaf from the registers, then frame by frame. */
static __always_inline void take_user_stack(struct bpf_perf_event_data *ctx, struct scratch *s,
					    struct task_struct *task, int in_user_mode)
{
	struct user_registers r;
	__u64 *frame;

	if ((s->record.flags & SAMPLE_FLAG_KERNEL_THREAD) || !BPF_CORE_READ(task, mm)) {
		s->record.status = SAMPLE_STACK_NO_USER;
		return;
	}
	if (in_user_mode) {
		user_registers_of_context(ctx, &r);
	} else if (user_registers_of_task(task, &r)) {
		s->record.status = SAMPLE_STACK_NO_REGISTERS;
		return;
	}
	if (r.pc == 0) { /* a kernel worker that borrows a process's memory (io_uring) has empty
			    registers */
		s->record.status = SAMPLE_STACK_NO_USER;
		return;
	}
	frame = next_frame(s);
	if (!frame)
		return;
	*frame = r.pc;
	s->record.user_frames = 1;
	s->record.status = SAMPLE_STACK_TRUNCATED;
	s->user = (struct unwind_state){ .pc = r.pc, .sp = r.sp, .fp = r.fp };
	/* The leaf stands already, so the last step of the last call only finds out whether the
	 * stack was longer. */
	for (int i = 0; i < CALLS_MAX; i++) {
		if (!walk_user_frames())
			break;
	}
}

static __always_inline void take_kernel_stack(struct bpf_perf_event_data *ctx, struct scratch *s)
{
	long bytes = bpf_get_stack(ctx, s->frames, sizeof(__u64) * BELFRY_KERNEL_FRAMES_MAX, 0);

	if (bytes <= 0)
		return;
	s->record.kernel_frames = (__u32)bytes / sizeof(__u64);
	/* The kernel gives no more than fit: a full array is taken as one that was cut. */
	if (s->record.kernel_frames >= BELFRY_KERNEL_FRAMES_MAX)
		s->record.flags |= SAMPLE_FLAG_KERNEL_TRUNCATED;
}

static __always_inline void take_identity(struct sample_record *r, struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	r->start_time = BPF_CORE_READ(leader, start_boottime);
	if (BPF_CORE_READ(task, flags) & PF_KTHREAD)
		r->flags |= SAMPLE_FLAG_KERNEL_THREAD;
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	bpf_core_read_str(r->process_comm, sizeof(r->process_comm), &leader->comm);
}

static __always_inline void send(struct scratch *s, __u32 cpu)
{
	__u64 size = sizeof(s->record) +
		     sizeof(__u64) * ((__u64)s->record.kernel_frames + s->record.user_frames);

	asm volatile("" : "+r"(size));
	if (size > BELFRY_SAMPLE_MAX)
		return;
	if (bpf_ringbuf_output(&samples, s, size, BPF_RB_NO_WAKEUP))
		count(cpu, SAMPLER_RING_FULL);
}

SEC("perf_event")
int take_sample(struct bpf_perf_event_data *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tgid = id >> 32;
	__u32 uid = bpf_get_current_uid_gid();
	__u32 cpu = bpf_get_smp_processor_id();
	int in_user_mode = interrupted_in_user_mode(ctx);
	struct task_struct *task;
	struct scratch *s;
	__u64 cgroup_id;

	count(cpu, SAMPLER_EVENTS);
	if (tgid == 0) {
		count(cpu, SAMPLER_IDLE);
		return 0;
	}
	if (is_agent(tgid, uid)) {
		count(cpu, SAMPLER_AGENT);
		return 0;
	}
	task = (struct task_struct *)bpf_get_current_task();
	cgroup_id = bpf_get_current_cgroup_id();
	s = scratch_of_cpu();
	if (!s || !filters_match(task, tgid, uid, cgroup_id)) {
		count(cpu, SAMPLER_FILTERED);
		return 0;
	}

	s->record = (struct sample_record){
		.time = bpf_ktime_get_ns(),
		.cgroup_id = cgroup_id,
		.tgid = tgid,
		.tid = (__u32)id,
		.cpu = cpu,
		.uid = uid,
		.flags = in_user_mode ? 0 : SAMPLE_FLAG_IN_KERNEL,
	};
	take_identity(&s->record, task);
	if (!in_user_mode)
		take_kernel_stack(ctx, s);
	take_user_stack(ctx, s, task, in_user_mode);

	count(cpu, SAMPLER_TAKEN);
	count(cpu, SAMPLER_STATUS + (__u64)s->record.status);
	send(s, cpu);
	return 0;
}
