/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker on file systems that lie about numbers (overlayfs) or may never answer (FUSE), each
 * mounted in a mount namespace of its own. The FUSE server is forty lines here, and is stopped
 * before the broker looks: a broker that asks it anything would hang, and the test with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"
#include "collector/broker.h"
#include "collector/procfs_read.h"
#include "ipc/file_channel.h"

static char folder[64];
static struct broker *broker;
static pid_t child, server;

static int set_up(void **state)
{
	(void)state;
	child = server = 0;
	snprintf(folder, sizeof(folder), "/tmp/belfry-mounts-XXXXXX");
	assert_non_null(mkdtemp(folder));
	/* Everything that is mounted from here on goes away with this process. */
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	return 0;
}

static void end(pid_t pid)
{
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

static int tear_down(void **state)
{
	char command[192];

	(void)state;
	end(server); /* first: whoever waits for it is let go */
	end(child);
	if (broker)
		broker_free(broker);
	broker = NULL;
	umount2(folder, MNT_DETACH);
	snprintf(command, sizeof(command), "umount -l %s/* 2>/dev/null; rm -r %s", folder, folder);
	return system(command);
}

static void new_broker(bool allow_remote)
{
	struct broker_options o = { .socket_path = "/nowhere",
				    .kallsyms_fd = -1,
				    .files_known = 8,
				    .queue = 4,
				    .allow_remote_files = allow_remote };

	assert_int_equal(broker_new(&broker, &o), 0);
}

/* Starts a child that maps the file executable. Returns what /proc says of the mapping. */
static struct proc_mapping child_maps(const char *path)
{
	struct proc_lines *lines = malloc(sizeof(*lines));
	struct proc_mapping m = { 0 };
	const uint8_t *line;
	int ready[2];
	uint32_t len;
	void *at = NULL;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		int fd = open(path, O_RDONLY);

		at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		if (write(ready[1], &at, sizeof(at)) == sizeof(at))
			pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &at, sizeof(at)), sizeof(at));
	assert_ptr_not_equal(at, MAP_FAILED);
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(proc_lines_open(lines, child, "maps", 1 << 20), 0);
	while (proc_lines_next(lines, &line, &len) == 1) {
		if (!proc_mapping_decode(line, len, &m) && m.start == (uint64_t)(uintptr_t)at)
			break;
	}
	proc_lines_close(lines);
	free(lines);
	assert_int_equal(m.start, (uint64_t)(uintptr_t)at);
	m.path = NULL;
	return m;
}

static uint64_t ask(const struct proc_mapping *m, enum broker_retry *retry)
{
	struct mapped_file file = { m->device_major, m->device_minor, m->inode, 0 };

	return broker_file(broker, child, m->start, m->end, &file, retry);
}

static void write_page(const char *path)
{
	char page[4096] = "page";
	int fd = open(path, O_WRONLY | O_CREAT, 0700);

	assert_int_equal(write(fd, page, sizeof(page)), sizeof(page));
	close(fd);
}

/* -- overlayfs --------------------------------------------------------------------------------- */
static void overlayfs_is_a_local_file_system(void **state)
{
	static const char *const parts[] = { "low1", "low2", "up", "work", "all" };
	char path[128], options[512];
	struct proc_mapping m, below;
	enum broker_retry retry;

	(void)state;
	assert_int_equal(mount("belfry", folder, "tmpfs", 0, NULL),
			 0); /* overlayfs wants no overlayfs below */
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, parts[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	/* The second layer is another file system: its inodes are shown under made-up numbers. */
	snprintf(path, sizeof(path), "%s/low2", folder);
	assert_int_equal(mount("belfry", path, "tmpfs", 0, NULL), 0);
	snprintf(path, sizeof(path), "%s/low1/a", folder);
	write_page(path);
	snprintf(path, sizeof(path), "%s/low2/b", folder);
	write_page(path);
	snprintf(options, sizeof(options),
		 "lowerdir=%s/low1:%s/low2,upperdir=%s/up,workdir=%s/work", folder, folder, folder,
		 folder);
	snprintf(path, sizeof(path), "%s/all", folder);
	if (mount("belfry", path, "overlay", 0, options) != 0) {
		printf("no overlayfs here: skipped\n");
		return;
	}
	new_broker(false);
	snprintf(path, sizeof(path), "%s/all/a", folder);
	m = child_maps(path);
	assert_int_equal(ask(&m, &retry), FILE_ID_FIRST);
	end(child);
	snprintf(path, sizeof(path), "%s/all/b", folder);
	m = child_maps(path);
	/* Kernels before 6.8 show the numbers of the layer below: the same file as far as stat is
	 * concerned. */
	below = m;
	below.device_minor += 1000;
	below.inode += 1000;
	assert_int_equal(ask(&below, &retry), FILE_ID_FIRST + 1);
	assert_int_equal(ask(&m, &retry), FILE_ID_FIRST + 1);
	assert_int_equal(ask(&below, &retry), FILE_ID_FIRST + 1);
	assert_int_equal(broker_counters(broker)->refused, 0);
}

/* -- FUSE -------------------------------------------------------------------------------------- */
static void answer(int fuse, uint64_t unique, int error, const void *data, size_t len)
{
	char out[256];
	struct fuse_out_header h = { (uint32_t)(sizeof(h) + len), error, unique };

	memcpy(out, &h, sizeof(h));
	if (len)
		memcpy(out + sizeof(h), data, len);
	if (write(fuse, out, sizeof(h) + len) < 0)
		_exit(1);
}

/* Serves a root directory (inode 1) in which every name is one file (inode 2) of a page. */
static void serve(int fuse)
{
	static char request[1 << 17];
	const struct fuse_in_header *in = (const void *)request;
	struct fuse_attr attr = { .ino = 2, .size = 4096, .mode = S_IFREG | 0755, .nlink = 1 };
	struct fuse_attr root = { .ino = 1, .mode = S_IFDIR | 0755, .nlink = 2 };

	while (read(fuse, request, sizeof(request)) > 0) {
		struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = 4096 };
		/* Attributes are never valid: whoever wants to know asks the server. */
		struct fuse_entry_out entry = { .nodeid = 2, .attr = attr };
		struct fuse_attr_out attributes = { .attr = in->nodeid == 1 ? root : attr };
		struct fuse_open_out opened = { .fh = 1 };

		if (in->opcode == FUSE_INIT)
			answer(fuse, in->unique, 0, &init, sizeof(init));
		else if (in->opcode == FUSE_LOOKUP)
			answer(fuse, in->unique, 0, &entry, sizeof(entry));
		else if (in->opcode == FUSE_GETATTR)
			answer(fuse, in->unique, 0, &attributes, sizeof(attributes));
		else if (in->opcode == FUSE_OPEN)
			answer(fuse, in->unique, 0, &opened, sizeof(opened));
		else if (in->opcode != FUSE_FORGET)
			answer(fuse, in->unique, -ENOSYS, NULL, 0);
	}
}

/* Mounts it on the folder, maps a file of it in a child, and stops the server. */
static bool map_from_fuse(struct proc_mapping *m)
{
	int fuse = open("/dev/fuse", O_RDWR);
	char options[96], path[128];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	if (fuse < 0 || mount("belfry", folder, "fuse", 0, options) != 0) {
		printf("no FUSE here: skipped\n");
		return false;
	}
	server = fork();
	if (server == 0) {
		serve(fuse);
		_exit(0);
	}
	close(fuse);
	snprintf(path, sizeof(path), "%s/hostile", folder);
	*m = child_maps(path);
	kill(server, SIGSTOP);
	return true;
}

static void fuse_is_refused_without_asking_its_server(void **state)
{
	struct proc_mapping m;
	enum broker_retry retry;

	(void)state;
	if (!map_from_fuse(&m))
		return;
	new_broker(false);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ask(&m, &retry), FILE_ID_NONE);
		assert_int_equal(retry, BROKER_FINAL);
	}
	assert_int_equal(broker_counters(broker)->refused, 1);
}

static void detached_fuse_is_refused_as_well(void **state)
{
	struct proc_mapping m;
	enum broker_retry retry;

	(void)state;
	if (!map_from_fuse(&m))
		return;
	assert_int_equal(umount2(folder, MNT_DETACH), 0); /* in no mount list any more */
	new_broker(false);
	assert_int_equal(ask(&m, &retry), FILE_ID_NONE);
	assert_int_equal(broker_counters(broker)->refused, 1);
}

static void fuse_is_opened_where_the_operator_says_so(void **state)
{
	struct proc_mapping m;
	enum broker_retry retry;

	(void)state;
	if (!map_from_fuse(&m))
		return;
	kill(server, SIGCONT);
	new_broker(true);
	assert_int_equal(ask(&m, &retry), FILE_ID_FIRST);
}

static void a_detached_local_file_system_is_no_reason_to_refuse(void **state)
{
	char image[96], command[512], path[128];
	struct proc_mapping m;
	enum broker_retry retry;

	(void)state;
	snprintf(image, sizeof(image), "%s.img", folder);
	snprintf(command, sizeof(command),
		 "truncate -s 8M %s && mkfs.ext4 -q %s && mount -o loop %s %s 2>/dev/null", image,
		 image, image, folder);
	if (system(command) != 0) {
		printf("no loop device here: skipped\n");
		unlink(image);
		return;
	}
	unlink(image);
	snprintf(path, sizeof(path), "%s/file", folder);
	write_page(path);
	m = child_maps(path);
	assert_int_equal(umount2(folder, MNT_DETACH), 0);
	new_broker(false);
	assert_int_equal(ask(&m, &retry), FILE_ID_FIRST);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(overlayfs_is_a_local_file_system),
		TEST(fuse_is_refused_without_asking_its_server),
		TEST(detached_fuse_is_refused_as_well),
		TEST(fuse_is_opened_where_the_operator_says_so),
		TEST(a_detached_local_file_system_is_no_reason_to_refuse),
	};

	if (geteuid() != 0) {
		printf("mounting needs root: skipped\n");
		return 0;
	}
	alarm(60); /* a broker that waits for the stopped server ends here */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
