/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy: what a role may do, as a table. Written by hand in policy/ROLE.policy (grammar:
 * policy/README.md), compiled into each role by policyc at build time, read back from /proc by
 * `belfry audit`.
 */
#ifndef BELFRY_POLICY_POLICY_H
#define BELFRY_POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* A role's life runs through these once, in this order. */
enum policy_phase {
	POLICY_PHASE_LOAD = 0, /* P0, P1: opening what needs rights */
	POLICY_PHASE_STEADY,   /* P2 and later */
	POLICY_PHASES
};

enum policy_action {
	POLICY_ALLOW = 1,
	POLICY_ERRNO, /* refuse with an errno instead of killing */
};

/* One capability line, for messages and for the auditor: what it is there for. */
struct policy_capability {
	const char *name; /* "BPF" for CAP_BPF */
	uint8_t number;
	const char *phase; /* "load", "load-if-granted" (load phase, never in the unit), "steady",
			      "old-kernel" */
	bool optional;	   /* load: may be absent at start; steady: may be given up */
	const char *reason;
};

/* One condition on a syscall's argument: (arg & mask) == value. */
struct policy_condition {
	uint8_t arg; /* 0..5 */
	uint64_t mask;
	uint64_t value;
};

#define POLICY_CONDITIONS_MAX 4

struct policy_syscall {
	const char *process; /* process of the role it holds for: "main", "zygote", "worker" */
	const char *name;    /* Linux name, e.g. "openat" */
	enum policy_action action;
	int error; /* POLICY_ERRNO: positive errno */
	uint8_t condition_count;
	struct policy_condition conditions[POLICY_CONDITIONS_MAX]; /* all must hold */
	const char *reason;
};

struct policy_limit {
	const char *name; /* "NOFILE", "CORE" ... as in RLIMIT_* */
	uint64_t value;
	const char *reason;
};

struct policy_path {
	const char *access; /* "read", "write" */
	const char *path;   /* may be a @name that the role fills in at run time, e.g. @sink */
	const char *reason;
};

/* Descriptors that a steady role may hold, by kind; checked by `belfry audit`. */
struct policy_descriptor {
	const char *kind; /* "anon:bpf-map", "socket:unix-seqpacket", "file-read:/proc/kallsyms"; a
			     last * matches any rest */
	uint32_t most;	  /* at most this many; UINT32_MAX = only bounded by NOFILE */
	const char *reason;
};

struct policy {
	const char *role;
	const char *user;
	const char *group;
	uint64_t capabilities[POLICY_PHASES]; /* masks, bit = CAP_* */
	uint64_t capabilities_optional;	      /* steady ones that a switched-off feature gives up */
	uint64_t capabilities_old_kernel;     /* kept in steady state on kernels before 5.19 only */
	const struct policy_capability *capability_lines;
	uint32_t capability_count;
	bool landlock; /* confined by Landlock where the kernel has it */
	bool network;  /* may open AF_INET/AF_INET6 sockets */
	const struct policy_syscall *syscalls;
	uint32_t syscall_count;
	const struct policy_limit *limits;
	uint32_t limit_count;
	const struct policy_path *paths;
	uint32_t path_count;
	const struct policy_descriptor *descriptors;
	uint32_t descriptor_count;
};

/* Generated from policy/ROLE.policy. */
extern const struct policy policy_collector;
extern const struct policy policy_symbolizer;
extern const struct policy policy_uploader;

#endif
