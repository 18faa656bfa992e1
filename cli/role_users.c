// SPDX-License-Identifier: Apache-2.0
#include "cli/role_users.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "policy/policy.h"

#define LOCK_PATH     "/run/belfry-record.lock"
#define LOCK_TRIES    100	/* of LOCK_PAUSE each: another recording starts within a second */
#define LOCK_PAUSE_NS 100000000 /* 100 ms */
#define UIDS_NEEDED   3
#define STATUS_MAX    4096

static bool system_users(struct role_users *u)
{
	const struct policy *const policies[] = { &policy_collector, &policy_symbolizer,
						  &policy_uploader };
	uid_t *const uids[] = { &u->collector, &u->symbolizer, &u->uploader };
	struct group *group = getgrnam(policy_symbolizer.group);

	if (!group)
		return false;
	u->ipc = group->gr_gid;
	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		struct passwd *entry = getpwnam(policies[i]->user);

		if (!entry)
			return false;
		*uids[i] = entry->pw_uid;
		u->reader = entry->pw_gid; /* the last one's: the uploader's */
	}
	/* An uploader whose own group is the shared one would let every role read the profiles. */
	return u->reader != u->ipc;
}

static void uid_set_take(struct uid_set *s, unsigned long id)
{
	if (id >= DYNAMIC_UID_FIRST && id <= DYNAMIC_UID_LAST)
		s->taken[id - DYNAMIC_UID_FIRST] = 1;
}

/* All ids of the lines `Uid:` and `Gid:` (real, effective, saved, file system). */
static void take_status_line(struct uid_set *s, const char *status, const char *name)
{
	const char *line = strstr(status, name);
	char *end;

	if (!line)
		return;
	line += strlen(name);
	for (int i = 0; i < 4; i++) {
		uid_set_take(s, strtoul(line, &end, 10));
		line = end;
	}
}

static void take_process(struct uid_set *s, int proc, const char *pid)
{
	char path[300];
	char status[STATUS_MAX];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/status", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) /* it has ended */
		return;
	len = read(fd, status, sizeof(status) - 1);
	close(fd);
	status[len > 0 ? len : 0] = '\0';
	/* The name comes first in the file and is chosen by the process, but a newline in it is
	 * escaped. */
	take_status_line(s, status, "\nUid:");
	take_status_line(s, status, "\nGid:");
}

/* What runs now. */
static bool take_running(struct uid_set *s)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	if (!proc)
		return false;
	while ((entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			take_process(s, dirfd(proc), entry->d_name);
	closedir(proc);
	return true;
}

/* What systemd has given to a unit that may not run a process at the moment. */
static void take_dynamic_units(struct uid_set *s)
{
	DIR *locks = opendir("/run/systemd/dynamic-uid");
	struct dirent *entry;

	if (!locks)
		return;
	while ((entry = readdir(locks)))
		uid_set_take(s, strtoul(entry->d_name, NULL, 10));
	closedir(locks);
}

static bool run_is_free(const struct uid_set *s, uid_t first, unsigned int count)
{
	if (first + count - 1 > DYNAMIC_UID_LAST)
		return false;
	for (unsigned int i = 0; i < count; i++)
		if (s->taken[first + i - DYNAMIC_UID_FIRST])
			return false;
	return true;
}

uid_t uid_set_find(const struct uid_set *s, uid_t from, unsigned int count)
{
	const unsigned int size = DYNAMIC_UID_LAST - DYNAMIC_UID_FIRST + 1;

	for (unsigned int i = 0; i < size; i++) {
		uid_t first = DYNAMIC_UID_FIRST + (from - DYNAMIC_UID_FIRST + i) % size;

		if (run_is_free(s, first, count))
			return first;
	}
	return 0;
}

/* Names without a process: only those that are about to be used are asked for. */
static bool run_has_name(struct uid_set *s, uid_t first)
{
	bool found = false;

	for (unsigned int i = 0; i < UIDS_NEEDED; i++) {
		if (!getpwuid(first + i) && !getgrgid(first + i))
			continue;
		uid_set_take(s, first + i);
		found = true;
	}
	return found;
}

static uid_t start_somewhere(void)
{
	uint32_t random = 0;

	/* Without entropy the first free run is as good. */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = 0;
	return DYNAMIC_UID_FIRST + random % (DYNAMIC_UID_LAST - DYNAMIC_UID_FIRST + 1);
}

static bool free_users(struct role_users *u, char *problem, size_t size)
{
	struct uid_set set = { 0 };
	uid_t first;

	if (!take_running(&set)) {
		snprintf(problem, size, "cannot list /proc to find free user ids: %s",
			 strerror(errno));
		return false;
	}
	take_dynamic_units(&set);
	do {
		first = uid_set_find(&set, start_somewhere(), UIDS_NEEDED);
	} while (first && run_has_name(&set, first));
	if (!first) {
		snprintf(problem, size,
			 "no three free user ids between %u and %u: create the users %s, %s and %s",
			 DYNAMIC_UID_FIRST, DYNAMIC_UID_LAST, policy_collector.user,
			 policy_symbolizer.user, policy_uploader.user);
		return false;
	}
	u->collector = first;
	u->symbolizer = first + 1;
	u->uploader = first + 2;
	u->ipc = first + 1;
	u->reader = first + 2;
	u->dynamic = true;
	return true;
}

/* Root's own file: nobody else can hold it up. Returns the descriptor, or -errno. */
static int lock_take(void)
{
	struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
	int fd = open(LOCK_PATH, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return fd;
		nanosleep(&pause, NULL);
	}
	close(fd);
	return -EWOULDBLOCK;
}

bool role_users_find(struct role_users *u, char *problem, size_t size)
{
	*u = (struct role_users){ .lock = -1 };
	if (system_users(u))
		return true;
	u->lock = lock_take();
	if (u->lock < 0) {
		snprintf(problem, size,
			 "cannot lock %s, which keeps two recordings from using the same user ids: "
			 "%s",
			 LOCK_PATH, strerror(-u->lock));
		return false;
	}
	return free_users(u, problem, size);
}

void role_users_settled(struct role_users *u)
{
	if (u->lock >= 0)
		close(u->lock);
	u->lock = -1;
}
