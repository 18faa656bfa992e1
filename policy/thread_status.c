/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/thread_status.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Start of the values of the line that begins with `key`, or NULL. */
static const char *find_line(const char *text, const char *key)
{
	size_t len = strlen(key);

	while (text) {
		if (strncmp(text, key, len) == 0)
			return text + len;
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return NULL;
}

/* Next number of the line, or false at its end. */
static bool next_number(const char **at, int base, uint64_t *value)
{
	char *end;

	*at += strspn(*at, " \t");
	if (**at == '\n' || **at == '\0')
		return false;
	*value = strtoull(*at, &end, base);
	if (end == *at)
		return false;
	*at = end;
	return true;
}

static bool read_ids(const char *text, const char *key, uint32_t *ids)
{
	const char *at = find_line(text, key);

	for (int i = 0; i < 4; i++) {
		uint64_t value;

		if (!at || !next_number(&at, 10, &value))
			return false;
		ids[i] = (uint32_t)value;
	}
	return true;
}

static bool read_one(const char *text, const char *key, int base, uint64_t *value)
{
	const char *at = find_line(text, key);

	return at && next_number(&at, base, value);
}

static bool read_groups(const char *text, struct thread_status *out)
{
	const char *at = find_line(text, "Groups:");
	uint64_t value;

	if (!at)
		return false;
	for (out->group_count = 0; next_number(&at, 10, &value); out->group_count++)
		if (out->group_count < THREAD_STATUS_GROUPS)
			out->groups[out->group_count] = (gid_t)value;
	return true;
}

/* The last number of the line: the innermost namespace's. */
static bool read_inner_pid(const char *text, pid_t *pid)
{
	const char *at = find_line(text, "NStgid:");
	uint64_t value;
	bool any = false;

	while (at && next_number(&at, 10, &value)) {
		*pid = (pid_t)value;
		any = true;
	}
	return any;
}

const char *thread_status_parse(const char *text, struct thread_status *out)
{
	uint64_t no_new_privileges, seccomp;

	memset(out, 0, sizeof(*out));
	if (!read_ids(text, "Uid:", out->uid) || !read_ids(text, "Gid:", out->gid))
		return "no four uids and gids";
	if (!read_groups(text, out))
		return "no groups";
	if (!read_inner_pid(text, &out->inner_pid))
		return "no NStgid";
	if (!read_one(text, "CapInh:", 16, &out->inheritable) ||
	    !read_one(text, "CapPrm:", 16, &out->permitted) ||
	    !read_one(text, "CapEff:", 16, &out->effective) ||
	    !read_one(text, "CapBnd:", 16, &out->bounding) ||
	    !read_one(text, "CapAmb:", 16, &out->ambient))
		return "no five capability sets";
	if (!read_one(text, "NoNewPrivs:", 10, &no_new_privileges) ||
	    !read_one(text, "Seccomp:", 10, &seccomp))
		return "no NoNewPrivs or Seccomp";
	out->no_new_privileges = (uint32_t)no_new_privileges;
	out->seccomp = (uint32_t)seccomp;
	return NULL;
}

int thread_status_read(const char *path, struct thread_status *out)
{
	char text[THREAD_STATUS_TEXT_MAX];
	size_t len = 0;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	while ((got = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)got;
	close(fd);
	if (got < 0)
		return -EIO;
	text[len] = '\0';
	return thread_status_parse(text, out) ? -EBADMSG : 0;
}

static uint64_t read_bits(int option, int argument)
{
	uint64_t set = 0;

	for (int bit = 0; bit < 64; bit++) {
		int held = option == PR_CAPBSET_READ ? prctl(option, bit, 0, 0, 0)
						     : prctl(option, argument, bit, 0, 0);

		if (held < 0)
			break;
		if (held)
			set |= 1ULL << bit;
	}
	return set;
}

int thread_status_self(struct thread_status *out)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	gid_t groups[THREAD_STATUS_GROUPS];
	int count;

	memset(out, 0, sizeof(*out));
	if (syscall(SYS_capget, &header, data) != 0 ||
	    getresuid(&out->uid[0], &out->uid[1], &out->uid[2]) != 0 ||
	    getresgid(&out->gid[0], &out->gid[1], &out->gid[2]) != 0)
		return -errno;
	/* An id that nobody has changes nothing and answers with the one in force. */
	out->uid[3] = (uid_t)setfsuid((uid_t)-1);
	out->gid[3] = (gid_t)setfsgid((gid_t)-1);
	count = getgroups(0, NULL);
	out->group_count = count > 0 ? (uint32_t)count : 0;
	if (count > 0 && count <= THREAD_STATUS_GROUPS) {
		count = getgroups(THREAD_STATUS_GROUPS, groups);
		if (count > 0)
			memcpy(out->groups, groups, (size_t)count * sizeof(gid_t));
	}
	out->inner_pid = getpid();
	out->inheritable = data[0].inheritable | (uint64_t)data[1].inheritable << 32;
	out->permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
	out->effective = data[0].effective | (uint64_t)data[1].effective << 32;
	out->bounding = read_bits(PR_CAPBSET_READ, 0);
	out->ambient = read_bits(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET);
	out->no_new_privileges = (uint32_t)prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	return 0;
}
