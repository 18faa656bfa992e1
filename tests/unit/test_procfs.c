/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"
#include "collector/procfs.h"
#include "collector/procfs_read.h"

static const char *mapping(const char *line, struct proc_mapping *m)
{
	return proc_mapping_decode((const uint8_t *)line, (uint32_t)strlen(line), m);
}

static const char *mount(const char *line, struct proc_mount *m)
{
	return proc_mount_decode((const uint8_t *)line, (uint32_t)strlen(line), m);
}

static const char *stat(const char *text, struct proc_stat *s)
{
	return proc_stat_decode((const uint8_t *)text, (uint32_t)strlen(text), s);
}

static void maps_line_of_a_file(void **state)
{
	struct proc_mapping m;

	(void)state;
	assert_null(mapping("00400000-0041f000 r-xp 0001e000 fe:01 262217                  "
			    "/usr/bin/odd name (x)",
			    &m));
	assert_int_equal(m.start, 0x400000);
	assert_int_equal(m.end, 0x41f000);
	assert_true(m.executable);
	assert_int_equal(m.offset, 0x1e000);
	assert_int_equal(m.device_major, 0xfe);
	assert_int_equal(m.device_minor, 1);
	assert_int_equal(m.inode, 262217);
	assert_int_equal(m.path_len, strlen("/usr/bin/odd name (x)"));
	assert_memory_equal(m.path, "/usr/bin/odd name (x)", m.path_len);
}

static void maps_line_without_a_file(void **state)
{
	struct proc_mapping m;

	(void)state;
	assert_null(mapping("7f0000000000-7f0000001000 rwxp 00000000 00:00 0 ", &m));
	assert_true(m.executable);
	assert_int_equal(m.inode, 0);
	assert_int_equal(m.path_len, 0);
	assert_null(mapping("7f0000000000-7f0000001000 rw-p 00000000 00:00 0", &m));
	assert_false(m.executable);
	assert_null(mapping("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0               "
			    "   [vsyscall]",
			    &m));
	assert_int_equal(m.start, 0xffffffffff600000);
	assert_memory_equal(m.path, "[vsyscall]", m.path_len);
}

static void broken_maps_lines_are_refused(void **state)
{
	static const char *const lines[] = {
		"",
		"x",
		"400000-41f000",
		"400000 41f000 r-xp 00000000 fe:01 1 /x",
		"41f000-400000 r-xp 00000000 fe:01 1 /x", /* ends before it starts */
		"400000-41f000 r-xp 00000000 fe01 1 /x",
		"400000-41f000 r-xp 00000000 fe:01 x /x",
		"400000-41f000 r-xp 00000000 1ffffffff:01 1 /x",
		"00000000000400000-41f000 r-xp 00000000 fe:01 1 /x", /* 17 digits */
	};
	struct proc_mapping m;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_non_null(mapping(lines[i], &m));
}

#define TAIL " S 1 4 4 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 4096 0"

static void stat_takes_the_last_parenthesis(void **state)
{
	struct proc_stat s;

	(void)state;
	assert_null(stat("4 (cat)" TAIL, &s));
	assert_int_equal(s.parent, 1);
	assert_int_equal(s.start_ticks, 98765);
	/* A name that looks like the fields behind it. */
	assert_null(stat("4 (a) S 77 1 1 (b)" TAIL, &s));
	assert_int_equal(s.parent, 1);
	assert_int_equal(s.start_ticks, 98765);
	assert_null(stat("4 ())" TAIL, &s));
	assert_int_equal(s.start_ticks, 98765);
}

static void broken_stat_is_refused(void **state)
{
	struct proc_stat s;

	(void)state;
	assert_non_null(stat("", &s));
	assert_non_null(stat("4 cat S 1 2", &s));
	assert_non_null(stat("4 (cat", &s));
	assert_non_null(stat("4 (cat)", &s));
	assert_non_null(
		stat("4 (cat) S 1 4 4 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0", &s)); /* 21 fields */
	assert_non_null(stat("4 (cat) S x" TAIL, &s));
}

static void fdinfo_gives_the_mount_id(void **state)
{
	const char *text = "pos:\t0\nflags:\t012100000\nmnt_id:\t28\nino:\t5\n";
	uint64_t id;

	(void)state;
	assert_null(proc_fdinfo_decode((const uint8_t *)text, (uint32_t)strlen(text), &id));
	assert_int_equal(id, 28);
	text = "pos:\t0\nxmnt_id:\t28\nmnt_i";
	assert_non_null(proc_fdinfo_decode((const uint8_t *)text, (uint32_t)strlen(text), &id));
	text = "mnt_id:\t\n";
	assert_non_null(proc_fdinfo_decode((const uint8_t *)text, (uint32_t)strlen(text), &id));
}

static void mountinfo_gives_id_device_and_type(void **state)
{
	struct proc_mount m;

	(void)state;
	assert_null(mount("36 35 98:7 /mnt1 /mnt\\0402 rw,noatime master:1 shared:2 - ext3 "
			  "/dev/root rw,errors=continue",
			  &m));
	assert_int_equal(m.id, 36);
	assert_int_equal(m.device_major, 98);
	assert_int_equal(m.device_minor, 7);
	assert_string_equal(m.type, "ext3");
	assert_null(mount("36 35 0:52 / /a rw - fuse.sshfs host: rw", &m)); /* no optional field */
	assert_string_equal(m.type, "fuse.sshfs");
	assert_null(mount("36 35 0:52 / /a rw - a-type-name-that-is-longer-than-any-real-one x rw",
			  &m));
	assert_int_equal(strlen(m.type), PROC_MOUNT_TYPE_LEN - 1);
	assert_non_null(mount("36 35 0:52 / /a rw", &m));
	assert_non_null(mount("36 35 0:52 / /a rw - ", &m));
	assert_non_null(mount("36 35 0 / /a rw - ext4 x rw", &m));
	assert_non_null(mount("", &m));
}

static void remote_file_systems_are_known(void **state)
{
	static const char *const remote[] = { "fuse", "fuseblk", "fuse.sshfs", "nfs",
					      "nfs4", "cifs",	 "smb3",       "9p",
					      "ceph", "afs",	 "virtiofs" };
	static const char *const local[] = { "ext4",	 "xfs",	  "btrfs",  "overlay", "tmpfs",
					     "squashfs", "cephx", "virtio", "" };
	struct proc_mount m;

	(void)state;
	for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++) {
		snprintf(m.type, sizeof(m.type), "%s", remote[i]);
		assert_true(proc_mount_is_remote(&m));
	}
	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++) {
		snprintf(m.type, sizeof(m.type), "%s", local[i]);
		assert_false(proc_mount_is_remote(&m));
	}
}

static void own_maps_are_read_to_the_end(void **state)
{
	struct proc_lines *lines = malloc(sizeof(*lines));
	struct proc_mapping m;
	const uint8_t *line;
	uint64_t here = (uint64_t)(uintptr_t)&own_maps_are_read_to_the_end;
	bool found = false;
	uint32_t len;
	int rc;

	(void)state;
	assert_int_equal(proc_lines_open(lines, getpid(), "maps", 1 << 20), 0);
	while ((rc = proc_lines_next(lines, &line, &len)) == 1) {
		assert_null(proc_mapping_decode(line, len, &m));
		found |= m.executable && m.start <= here && here < m.end;
	}
	assert_int_equal(rc, 0);
	assert_true(found);
	proc_lines_close(lines);
	/* The bound of bytes is told, not silently taken for the end. */
	assert_int_equal(proc_lines_open(lines, getpid(), "maps", 200), 0);
	while ((rc = proc_lines_next(lines, &line, &len)) == 1)
		;
	assert_int_equal(rc, -27 /* EFBIG */);
	proc_lines_close(lines);
	assert_int_equal(proc_lines_open(lines, 1 << 30, "maps", 200), -2 /* ENOENT */);
	free(lines);
}

static void own_stat_tells_the_parent(void **state)
{
	struct proc_stat s;

	(void)state;
	assert_int_equal(proc_read_stat(getpid(), &s), 0);
	assert_int_equal(s.parent, getppid());
	assert_true(s.start_ticks > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_line_of_a_file),
		cmocka_unit_test(maps_line_without_a_file),
		cmocka_unit_test(broken_maps_lines_are_refused),
		cmocka_unit_test(stat_takes_the_last_parenthesis),
		cmocka_unit_test(broken_stat_is_refused),
		cmocka_unit_test(fdinfo_gives_the_mount_id),
		cmocka_unit_test(mountinfo_gives_id_device_and_type),
		cmocka_unit_test(remote_file_systems_are_known),
		cmocka_unit_test(own_maps_are_read_to_the_end),
		cmocka_unit_test(own_stat_tells_the_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
