// SPDX-License-Identifier: Apache-2.0
#include "cli/record_preflight.h"

#include <limits.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/privileges.h"
#include "cli/role_limits.h"
#include "policy/policy.h"

/* include/linux/proc_ns.h: the first pid namespace has this inode number on every kernel. */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCu

#define BIT(capability) (1ull << (capability))

uint64_t preflight_needed(void)
{
	const struct policy *p = &policy_collector;
	uint64_t needed = p->capabilities[POLICY_PHASE_LOAD];

	for (uint32_t i = 0; i < p->capability_count; i++)
		if (p->capability_lines[i].optional &&
		    !strncmp(p->capability_lines[i].phase, "load", 4)) /* also load-if-granted */
			needed &= ~BIT(p->capability_lines[i].number);
	/* The launcher's own: to become other users, to give its directory to them, to empty
	 * bounding sets. */
	return needed | BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_SETPCAP) | BIT(CAP_CHOWN);
}

void preflight_capability_names(uint64_t mask, char *out, size_t size)
{
	size_t len = 0;

	*out = '\0';
	for (int i = 0; i < 64 && len < size; i++) {
		char *name = mask & BIT(i) ? cap_to_name(i) : NULL;
		int written;

		if (!name)
			continue;
		written = snprintf(out + len, size - len, "%s%s", len ? " " : "", name);
		cap_free(name);
		len += written > 0 ? (size_t)written : 0;
	}
	/* libcap's names are lower case, the kernel's and everybody's pages upper. */
	for (; *out; out++)
		if (*out >= 'a' && *out <= 'z')
			*out = (char)(*out - 'a' + 'A');
}

static bool check_capabilities(char *problem, size_t size)
{
	uint64_t missing = preflight_needed() & ~privileges_permitted();
	char names[512];

	if (!missing && geteuid() == 0)
		return true;
	preflight_capability_names(missing, names, sizeof(names));
	if (geteuid() && missing)
		snprintf(problem, size,
			 "missing capabilities: %s\n"
			 "Start it as root: sudo belfry record ... (the roles give up what they do "
			 "not need, "
			 "COMMAND runs as you).",
			 names);
	else if (geteuid())
		snprintf(problem, size,
			 "every capability is there, but not uid 0, which owns the run directory: "
			 "start it with sudo, or run the three roles as services");
	else
		snprintf(problem, size,
			 "root, but without the capabilities: %s\n"
			 "A container or service manager took them away: give them back (docker "
			 "run --cap-add, "
			 "CapabilityBoundingSet=), or record on the host.",
			 names);
	return false;
}

/* Whether ids mean here what they mean to the kernel: one range, 0 to 0, of all 32 bits. */
static bool ids_are_the_kernels(void)
{
	char text[64] = "";
	FILE *map = fopen("/proc/self/uid_map", "re");
	unsigned long fields[3];
	char *at = text;

	if (!map)
		return true; /* a kernel without user namespaces */
	if (!fgets(text, sizeof(text), map))
		*text = '\0';
	fclose(map);
	for (int i = 0; i < 3; i++)
		fields[i] = strtoul(at, &at, 10);
	return fields[0] == 0 && fields[1] == 0 && fields[2] == UINT_MAX;
}

static bool check_namespaces(char *problem, size_t size)
{
	struct stat st;

	if (!stat("/proc/self/ns/pid", &st) && st.st_ino != FIRST_PID_NAMESPACE) {
		snprintf(problem, size,
			 "this is a pid namespace (a container): processes have other numbers in "
			 "the "
			 "kernel, and the host's are not visible; record on the host, or with "
			 "docker "
			 "run --pid=host");
		return false;
	}
	if (!ids_are_the_kernels()) {
		snprintf(problem, size,
			 "this is a user namespace: its root has no rights over the kernel; "
			 "record on the host");
		return false;
	}
	return true;
}

bool preflight_check(char *problem, size_t size)
{
	bool may_raise = privileges_permitted() & BIT(CAP_SYS_RESOURCE);

	return check_capabilities(problem, size) && check_namespaces(problem, size) &&
	       role_limits_check(may_raise, problem, size);
}

static bool is_cgroup2(const char *path, struct stat *st)
{
	struct statfs fs;

	return !stat(path, st) && S_ISDIR(st->st_mode) && !statfs(path, &fs) &&
	       fs.f_type == CGROUP2_SUPER_MAGIC;
}

bool preflight_cgroup_id(const char *path, uint64_t *id, char *problem, size_t size)
{
	/* The second is where version 2 is mounted on a host that still uses version 1. */
	static const char *const roots[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	bool absolute = !strncmp(path, roots[0], strlen(roots[0]));
	char full[PATH_MAX];
	struct stat st;

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		snprintf(full, sizeof(full), "%s%s%s", absolute ? "" : roots[i],
			 absolute || *path == '/' ? "" : "/", path);
		if (!is_cgroup2(full, &st))
			continue;
		*id = st.st_ino; /* kernfs: on 64-bit kernels the inode number is the cgroup id */
		return true;
	}
	snprintf(problem, size, "--cgroup %s: no such cgroup of version 2 below %s", path,
		 roots[0]);
	return false;
}
