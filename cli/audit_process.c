/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/audit_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GONE_SUFFIX " (deleted)" /* the program was upgraded under the running role */

const char *audit_process_role(pid_t pid, char *program)
{
	static const char *const roles[] = { "collector", "symbolizer", "uploader" };
	char path[64];
	ssize_t len;
	char *base;
	char *gone;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	len = readlink(path, program, PATH_MAX - 1);
	if (len <= 0)
		return NULL;
	program[len] = '\0';
	gone = strstr(program, GONE_SUFFIX);
	if (gone && gone[strlen(GONE_SUFFIX)] == '\0')
		*gone = '\0';
	base = strrchr(program, '/');
	if (!base || strncmp(base, "/belfry-", strlen("/belfry-")) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strcmp(base + strlen("/belfry-"), roles[i]) == 0)
			return roles[i];
	return NULL;
}

/* Whole text file of a process, cut at `size` - 1 bytes. Returns its length or -errno. */
static ssize_t read_text(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	size_t len = 0;
	ssize_t got = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (len < size - 1 && (got = read(fd, text + len, size - 1 - len)) > 0)
		len += (size_t)got;
	if (got < 0)
		got = -errno;
	close(fd);
	text[len] = '\0';
	return got < 0 ? got : (ssize_t)len;
}

/* pid (comm) state ppid ...: the name may hold anything, so the last ')' counts. */
static int read_parent(pid_t pid, pid_t *parent)
{
	char text[1024];
	ssize_t len = read_text(pid, "stat", text, sizeof(text));
	const char *after = len > 0 ? strrchr(text, ')') : NULL;

	if (len < 0)
		return (int)len;
	return after && sscanf(after + 1, " %*c %d", parent) == 1 ? 0 : -EBADMSG;
}

/* "Max open files            1024                 4096                 files" */
static void read_limit(const char *line, uint64_t *limits)
{
	for (size_t i = 0; i < LIMIT_NAME_COUNT; i++) {
		size_t len = strlen(limit_names[i].proc_row);
		char hard[32];

		if (strncmp(line, limit_names[i].proc_row, len) != 0 ||
		    sscanf(line + len, "%*s %31s", hard) != 1)
			continue;
		limits[i] = strcmp(hard, "unlimited") == 0 ? UINT64_MAX : strtoull(hard, NULL, 10);
	}
}

static int read_limits(pid_t pid, uint64_t *limits)
{
	char text[4096];
	ssize_t len = read_text(pid, "limits", text, sizeof(text));
	char *save = NULL;

	if (len < 0)
		return (int)len;
	for (size_t i = 0; i < LIMIT_NAME_COUNT; i++)
		limits[i] = UINT64_MAX;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		read_limit(line, limits);
	return 0;
}

static int add_thread(struct audit_process *a, pid_t tid)
{
	struct audit_thread *more;
	char path[64];
	int error;

	more = realloc(a->threads, (a->thread_count + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	a->threads = more;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", a->pid, tid);
	error = thread_status_read(path, &more[a->thread_count].status);
	if (error == -ENOENT || error == -ESRCH)
		return 0; /* ended meanwhile */
	more[a->thread_count].tid = tid;
	a->thread_count += !error;
	return error;
}

static int read_threads(struct audit_process *a)
{
	char path[64];
	struct dirent *entry;
	int error = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", a->pid);
	tasks = opendir(path);
	if (!tasks)
		return -errno;
	while (!error && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			error = add_thread(a, (pid_t)atoi(entry->d_name));
	closedir(tasks);
	if (!error && a->thread_count == 0)
		error = -ESRCH;
	return error;
}

/*
 * Which of its role's processes it is. By descent, which the kernel vouches for: the main process
 * forks the zygote, the zygote forks workers, and nothing else in a role may fork.
 */
static const char *process_of(const struct audit_process *a)
{
	char program[PATH_MAX];
	const char *role = audit_process_role(a->parent, program);
	pid_t grandparent;

	if (!role || strcmp(role, a->role) != 0)
		return "main";
	if (read_parent(a->parent, &grandparent) != 0)
		return "worker";
	role = audit_process_role(grandparent, program);
	return role && strcmp(role, a->role) == 0 ? "worker" : "zygote";
}

static int read_facts(struct audit_process *a)
{
	char path[64];
	struct stat st;
	ssize_t len;
	int error;

	snprintf(path, sizeof(path), "/proc/%d/fd", a->pid);
	if (stat(path, &st) != 0)
		return -errno;
	error = read_parent(a->pid, &a->parent);
	if (error)
		return error;
	a->process = process_of(a);
	len = read_text(a->pid, "cmdline", a->command, sizeof(a->command) - 1);
	if (len < 0)
		return (int)len;
	a->command[len] = a->command[len + 1] = '\0';
	error = read_limits(a->pid, a->limits);
	if (!error)
		error = read_threads(a);
	/* What others may not read of a process that cannot be dumped belongs to root. */
	a->dumpable = st.st_uid != 0;
	return error ? error : audit_descriptors_read(a->pid, &a->descriptors);
}

int audit_process_read(pid_t pid, struct audit_process *out)
{
	int error;

	memset(out, 0, sizeof(*out));
	out->pid = pid;
	out->role = audit_process_role(pid, out->program);
	error = out->role ? read_facts(out) : -ESRCH;
	if (error)
		audit_process_free(out);
	return error == -ENOENT ? -ESRCH : error;
}

void audit_process_free(struct audit_process *a)
{
	free(a->threads);
	a->threads = NULL;
	a->thread_count = 0;
	audit_descriptors_free(&a->descriptors);
}

const char *audit_process_option(const struct audit_process *a, const char *name)
{
	size_t len = strlen(name);

	for (const char *word = a->command; *word; word += strlen(word) + 1) {
		if (strncmp(word, "--", 2) != 0 || strncmp(word + 2, name, len) != 0)
			continue;
		if (word[2 + len] == '=')
			return word + 2 + len + 1;
		if (word[2 + len] == '\0')
			return word + strlen(word) + 1;
	}
	return NULL;
}
