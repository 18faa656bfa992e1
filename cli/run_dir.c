// SPDX-License-Identifier: Apache-2.0
#include "cli/run_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/inherited_fds.h"
#include "cli/privileges.h"

#define DEPTH_MAX	  3
#define PROFILE_BYTES_MAX (4ull << 30)
#define REMOVE_TRIES	  200	   /* of REMOVE_PAUSE_NS each: 10 s, if the supervisors are slow */
#define REMOVE_PAUSE_NS	  50000000 /* 50 ms */
#define KEEPER_DISCARD	  'D'	   /* message: remove the output file */

/* Returns the descriptor of a new folder, or -errno. */
static int make_folder(const char *path, uid_t uid, gid_t gid, mode_t mode)
{
	int fd;
	int error;

	if (mkdir(path, 0700))
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* chmod last: chown clears the setgid bit. */
	if (fd >= 0 && !fchown(fd, uid, gid) && !fchmod(fd, mode))
		return fd;
	error = errno;
	if (fd >= 0)
		close(fd);
	rmdir(path);
	return -error;
}

/* Half of what is free: /run is memory, and others need it too. */
static uint64_t room_for_profiles(int fd)
{
	struct statvfs v;
	uint64_t half;

	if (fstatvfs(fd, &v))
		return PROFILE_BYTES_MAX;
	half = (uint64_t)v.f_bavail * v.f_frsize / 2;
	return half < PROFILE_BYTES_MAX ? half : PROFILE_BYTES_MAX;
}

static int make_folders(struct run_dir *d, const struct role_users *u)
{
	snprintf(d->path, sizeof(d->path), "/run/belfry-record.XXXXXX");
	if (!mkdtemp(d->path))
		return -errno;
	snprintf(d->ipc, sizeof(d->ipc), "%.40s/ipc", d->path);
	snprintf(d->profiles, sizeof(d->profiles), "%.40s/profiles", d->path);
	d->ipc_fd = make_folder(d->ipc, u->symbolizer, u->ipc, 0750);
	if (d->ipc_fd < 0)
		return d->ipc_fd;
	d->profiles_fd = make_folder(d->profiles, u->uploader, u->reader, 02750);
	if (d->profiles_fd < 0)
		return d->profiles_fd;
	d->profile_bytes = room_for_profiles(d->profiles_fd);
	return chmod(d->path, 0711) ? -errno : 0;
}

bool run_dir_make(struct run_dir *d, const struct role_users *u, char *problem, size_t size)
{
	int error;

	*d = (struct run_dir){ .ipc_fd = -1, .profiles_fd = -1, .keeper_pipe = -1, .keeper = -1 };
	error = make_folders(d, u);
	if (!error)
		return true;
	snprintf(problem, size, "cannot make the private directory %s: %s", d->path,
		 strerror(-error));
	rmdir(d->ipc);
	rmdir(d->profiles);
	rmdir(d->path);
	return false;
}

/* -- the keeper ----------------------------------------------------------------------------------
 */

static int keeper_seccomp(void)
{
	static const char *const calls[] = { "read",	       "unlinkat",   "clock_nanosleep",
					     "nanosleep",      "exit_group", "rt_sigreturn",
					     "restart_syscall" };
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int error = filter ? 0 : -ENOMEM;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && !error; i++)
		error = seccomp_rule_add(filter, SCMP_ACT_ALLOW,
					 seccomp_syscall_resolve_name(calls[i]), 0);
	if (!error)
		error = seccomp_load(filter);
	seccomp_release(filter);
	return error;
}

/* The supervisors may still be emptying a folder. */
static void keeper_remove(int folder, const char *name)
{
	struct timespec pause = { .tv_nsec = REMOVE_PAUSE_NS };

	for (int i = 0; i < REMOVE_TRIES; i++) {
		if (!unlinkat(folder, name, AT_REMOVEDIR) ||
		    (errno != ENOTEMPTY && errno != EEXIST && errno != EBUSY))
			return;
		nanosleep(&pause, NULL);
	}
}

static void __attribute__((noreturn))
keeper_run(const struct run_dir *d, int pipe, const struct output_file *output)
{
	static const struct person root = { .uid = 0, .gid = 0 };
	int run = open("/run", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int own = open(d->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int keep[] = { pipe, run, own, output->folder };
	char message;

	inherited_fds_close(keep, 4);
	inherited_input_close();
	inherited_signals_reset();
	setsid(); /* Ctrl-C at the terminal is not for this process */
	if (privileges_drop(&root) || keeper_seccomp())
		_exit(1);
	while (read(pipe, &message, 1) == 1)
		if (message == KEEPER_DISCARD && output->created)
			unlinkat(output->folder, output->name, 0);
	keeper_remove(own, "ipc");
	keeper_remove(own, "profiles");
	keeper_remove(run, d->path + strlen("/run/"));
	_exit(0);
}

int run_dir_keep(struct run_dir *d, const struct output_file *output)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0) {
		int error = errno;

		close(ends[0]);
		close(ends[1]);
		return -error;
	}
	if (!pid)
		keeper_run(d, ends[0], output);
	close(ends[0]);
	d->keeper_pipe = ends[1];
	d->keeper = pid;
	return 0;
}

void run_dir_discard_output(struct run_dir *d)
{
	char message = KEEPER_DISCARD;

	/* Without a keeper nobody is left who could; the empty file stays. */
	if (d->keeper_pipe >= 0 && write(d->keeper_pipe, &message, 1) != 1)
		return;
}

void run_dir_end(struct run_dir *d)
{
	if (d->keeper_pipe < 0)
		return;
	close(d->keeper_pipe);
	d->keeper_pipe = -1;
	waitpid(d->keeper, NULL, 0);
}

/* -- emptying -------------------------------------------------------------------------------------
 */

static void empty(int fd, int depth);

static void empty_entry(int fd, const char *name, int depth)
{
	int folder;

	if (!strcmp(name, ".") || !strcmp(name, "..") || !unlinkat(fd, name, 0))
		return;
	folder = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		return;
	if (depth < DEPTH_MAX)
		empty(folder, depth + 1);
	else
		close(folder);
	unlinkat(fd, name, AT_REMOVEDIR);
}

/* Closes fd. */
static void empty(int fd, int depth)
{
	DIR *folder = fdopendir(fd);
	struct dirent *entry;

	if (!folder) {
		close(fd);
		return;
	}
	while ((entry = readdir(folder)))
		empty_entry(fd, entry->d_name, depth);
	closedir(folder);
}

void run_dir_empty(int fd)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (own >= 0)
		empty(own, 1);
}
