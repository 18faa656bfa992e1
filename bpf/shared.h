/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * Layouts that the BPF sampler and user space share. Layouts only: this is
 * the one header that both sides of the kernel boundary include.
 *
 * BPF globals that reach the skeleton use plain C types (unsigned int, unsigned
 * long long), since the skeleton's C side knows no u32/u64.
 */
#ifndef BELFRY_BPF_SHARED_H
#define BELFRY_BPF_SHARED_H

/* Frames kept of one stack. A longer one is cut at the root side and marked. */
#define BELFRY_USER_FRAMES_MAX 1024
#define BELFRY_KERNEL_FRAMES_MAX 127

#define BELFRY_COMM_LEN 16

/* CPUs for which counters are kept apart; a CPU above shares slot (cpu % max). */
#define BELFRY_CPUS_MAX 512

/* How the walk of the user stack ended. Every sample carries exactly one. */
enum sample_status {
	SAMPLE_STACK_COMPLETE = 0, /* reached the end that the ABI defines: frame pointer or return address 0 */
	SAMPLE_STACK_NO_USER,      /* kernel thread, or a task without user memory: no user stack to walk */
	SAMPLE_STACK_TRUNCATED,    /* more than BELFRY_USER_FRAMES_MAX frames: leaf side kept */
	SAMPLE_STACK_READ_FAILED,  /* user memory not readable (paged out, unmapped, exiting) */
	SAMPLE_STACK_IMPLAUSIBLE,  /* the next frame pointer is unaligned or does not grow: probably no frame pointers */
	SAMPLE_STACK_NO_REGISTERS, /* user registers of a task in the kernel could not be found */
	SAMPLE_STATUS_COUNT
};

/*
 * One sample, as it leaves the kernel and as it travels in a batch: this header,
 * then kernel_frames + user_frames addresses (8 bytes each), kernel first, leaf first.
 * The first user frame is the interrupted instruction; each further one is a
 * return address. All integers little-endian, no padding.
 */
struct sample_record {
	unsigned long long time;       /* CLOCK_MONOTONIC, ns */
	unsigned long long start_time; /* of the process (thread group leader), CLOCK_BOOTTIME ns */
	unsigned long long cgroup_id;  /* cgroup v2 id; 0 where there is none */
	unsigned int tgid;             /* process id in the initial pid namespace */
	unsigned int tid;              /* thread id in the initial pid namespace */
	unsigned int cpu;
	unsigned int uid;              /* real uid in the initial user namespace */
	unsigned short kernel_frames;
	unsigned short user_frames;
	unsigned short frames_by_table;         /* user frames found through unwind rows */
	unsigned short frames_by_frame_pointer; /* user frames found through frame pointers */
	unsigned short frames_by_interpreter;   /* user frames that an interpreter's own stack gave */
	unsigned char status;                   /* enum sample_status */
	unsigned char flags;                    /* SAMPLE_FLAG_* */
	unsigned int reserved;                  /* 0 */
	char comm[BELFRY_COMM_LEN];             /* thread name, NUL padded */
	char process_comm[BELFRY_COMM_LEN];     /* name of the thread group leader, NUL padded */
};

#define SAMPLE_FLAG_KERNEL_THREAD 1   /* PF_KTHREAD */
#define SAMPLE_FLAG_KERNEL_TRUNCATED 2 /* kernel stack had more than BELFRY_KERNEL_FRAMES_MAX frames */
#define SAMPLE_FLAG_IN_KERNEL 4       /* interrupted in kernel mode */
#define SAMPLE_FLAGS_ALL 7

#define BELFRY_SAMPLE_MAX                                                                         \
	(sizeof(struct sample_record) + 8 * (BELFRY_KERNEL_FRAMES_MAX + BELFRY_USER_FRAMES_MAX))

/*
 * What the sampler counts, per CPU, since it was loaded. The law:
 *   EVENTS = IDLE + AGENT + FILTERED + TAKEN
 *   TAKEN  = RING_FULL + records in the ring buffer
 *   TAKEN  = sum of STATUS + i over all statuses
 */
enum sampler_counter {
	SAMPLER_EVENTS = 0,  /* times the program ran */
	SAMPLER_IDLE,        /* the CPU was idle (pid 0) */
	SAMPLER_AGENT,       /* one of our own processes, which are left out by default */
	SAMPLER_FILTERED,    /* the operator's filters left it out */
	SAMPLER_TAKEN,       /* samples taken */
	SAMPLER_RING_FULL,   /* taken, but the ring buffer had no room: lost */
	SAMPLER_STATUS,      /* + enum sample_status */
	SAMPLER_COUNTERS = SAMPLER_STATUS + SAMPLE_STATUS_COUNT
};

/* Counters of one CPU, on cache lines of its own. */
struct sampler_counters {
	unsigned long long value[SAMPLER_COUNTERS];
} __attribute__((aligned(64)));

/* Which filters are in force; written by user space at any time. */
enum filter_kind {
	FILTER_PROCESS = 0, /* key: tgid; value 1, or 2 where descendants are meant as well */
	FILTER_CGROUP,      /* key: cgroup v2 id, descendants included */
	FILTER_UID,         /* key: uid */
	FILTER_KINDS
};

#define FILTER_ENTRIES_MAX 1024 /* of each kind */
#define AGENT_ENTRIES_MAX 64   /* uids, respectively processes, that count as our own */
#define FILTER_PARENTS_MAX 16   /* levels that FILTER_PROCESS with descendants looks up */

#endif
