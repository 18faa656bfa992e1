/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc/PID/cgroup says, as the common container engines and service managers write it, and as a hostile one might. */
#include "tests/unit/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/cgroup_labels.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "kubepods-burstable-pod11111111_2222_3333_4444_555555555555.slice"

/* From a block of exact size: the text has no NUL behind it. */
static struct cgroup_labels read_bytes(const void *text, size_t len)
{
	struct cgroup_labels l;
	char *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, text, len);
	memset(&l, 0xa5, sizeof(l)); /* what was there before must not show */
	cgroup_labels_read(copy, len, &l);
	free(copy);
	return l;
}

static void expect(const char *text, const char *path, const char *container, const char *unit)
{
	struct cgroup_labels l = read_bytes(text, strlen(text));

	assert_string_equal(l.path, path);
	assert_string_equal(l.container_id, container);
	assert_string_equal(l.systemd_unit, unit);
}

/* One line of cgroup v2, whose path is the label. */
static void expect_v2(const char *path, const char *container, const char *unit)
{
	char text[1024];

	snprintf(text, sizeof(text), "0::%s\n", path);
	expect(text, path, container, unit);
}

static void docker(void **state)
{
	(void)state;
	expect_v2("/system.slice/docker-" ID ".scope", ID, "docker-" ID ".scope");
	expect_v2("/docker/" ID, ID, "");
	expect_v2("/docker/" ID "/init", ID, ""); /* a cgroup that the container made */
	expect("12:pids:/docker/" ID "\n1:name=systemd:/docker/" ID "\n", "/docker/" ID, ID, "");
}

static void containerd(void **state)
{
	(void)state;
	expect_v2("/default/" ID, ID, "");
	expect_v2("/kubepods.slice/kubepods-burstable.slice/" POD "/cri-containerd-" ID ".scope", ID,
		  "cri-containerd-" ID ".scope");
	/* systemd's notation of a path, taken literally by the cgroupfs driver */
	expect_v2("/system.slice/" POD ":cri-containerd:" ID, ID, "");
}

static void crio(void **state)
{
	(void)state;
	expect_v2("/kubepods.slice/" POD "/crio-" ID ".scope", ID, "crio-" ID ".scope");
	expect_v2("/kubepods/besteffort/pod11111111-2222-3333-4444-555555555555/" ID, ID, "");
}

static void podman(void **state)
{
	(void)state;
	expect_v2("/machine.slice/libpod-" ID ".scope", ID, "libpod-" ID ".scope");
	expect_v2("/machine.slice/libpod-" ID ".scope/container", ID, "libpod-" ID ".scope");
	expect_v2("/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container", ID,
		  "libpod-" ID ".scope");
	expect_v2("/libpod_parent/libpod-" ID, ID, "");
}

static void monitor_of_a_container_is_outside_of_it(void **state)
{
	(void)state;
	expect_v2("/machine.slice/libpod-conmon-" ID ".scope", "", "libpod-conmon-" ID ".scope");
	expect_v2("/system.slice/crio-conmon-" ID ".scope", "", "crio-conmon-" ID ".scope");
}

static void lxc(void **state)
{
	(void)state;
	expect_v2("/lxc/web1", "web1", "");
	expect_v2("/lxc.payload.web1", "web1", "");
	/* systemd inside the container: the unit is the container's own */
	expect_v2("/lxc.payload.web1/system.slice/nginx.service", "web1", "nginx.service");
	expect_v2("/lxc.monitor.web1", "", "");
	expect_v2("/lxc.payload.", "", "");
}

static void innermost_container_counts(void **state)
{
	(void)state;
	expect_v2("/lxc/outer/docker/" ID, ID, "");
}

static void user_session_and_nested_units(void **state)
{
	(void)state;
	expect_v2("/user.slice/user-1000.slice/session-3.scope", "", "session-3.scope");
	expect_v2("/user.slice/user-1000.slice/user@1000.service/app.slice/app-term.scope", "", "app-term.scope");
	expect_v2("/system.slice/ssh.service", "", "ssh.service");
	expect_v2("/system.slice/system-getty.slice/getty@tty1.service", "", "getty@tty1.service");
	expect_v2("/init.scope", "", "init.scope");
	expect_v2("/system.slice/dbus.socket", "", "dbus.socket");
	/* A slice holds units, it is none that a process belongs to; a suffix alone is no name. */
	expect_v2("/user.slice", "", "");
	expect_v2("/a/.service", "", "");
}

static void the_line_that_tells_most_counts(void **state)
{
	(void)state;
	/* v1: systemd's own hierarchy before a controller's */
	expect("4:memory:/mem\n1:name=systemd:/system.slice/a.service\n", "/system.slice/a.service", "", "a.service");
	expect("1:name=systemd:/system.slice/a.service\n4:memory:/mem\n", "/system.slice/a.service", "", "a.service");
	/* hybrid: v2's hierarchy is there, but nothing is in it */
	expect("1:name=systemd:/system.slice/a.service\n0::/\n", "/system.slice/a.service", "", "a.service");
	/* hybrid: v2's hierarchy is used */
	expect("1:name=systemd:/a\n0::/system.slice/b.service\n", "/system.slice/b.service", "", "b.service");
	/* equal worth: the first */
	expect("3:cpu:/a\n2:memory:/b\n", "/a", "", "");
	expect("0::/\n", "/", "", "");
}

static void removed_cgroup_keeps_its_name(void **state)
{
	(void)state;
	expect("0::/docker/" ID " (deleted)\n", "/docker/" ID, ID, "");
	expect("0::/system.slice/a.service (deleted)\n", "/system.slice/a.service", "", "a.service");
}

static void almost_a_container_is_none(void **state)
{
	(void)state;
	expect_v2("/docker/0123456789abcdef", "", "");           /* too short */
	expect_v2("/docker/" ID "0", "", "");                    /* too long, no dash before the last 64 */
	expect_v2("/docker/0123456789ABCDEF" "0123456789abcdef0123456789abcdef0123456789abcdef", "", "");
	expect_v2("/docker/g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "", "");
}

static void odd_lines_are_passed_over(void **state)
{
	(void)state;
	expect("", "", "", "");
	expect("\n\n\n", "", "", "");
	expect("no colon at all\n", "", "", "");
	expect("0:one colon\n", "", "", "");
	expect("::\n", "", "", "");
	expect("0::relative\n", "", "", "");
	expect("0::", "", "", "");
	expect("garbage\n0::/a.service", "/a.service", "", "a.service"); /* and the last needs no newline */
	expect("0::///a.service///\n", "///a.service///", "", "a.service");
	expect("0::/a:b:c\n", "/a:b:c", "", "");
}

static void control_bytes_do_not_reach_the_labels(void **state)
{
	const char nul[] = "0::/a\0b.service\n";
	struct cgroup_labels l = read_bytes(nul, sizeof(nul) - 1);

	(void)state;
	assert_string_equal(l.path, "/a");
	expect("0::/a\x1b[0m\xff.service\n", "/a?[0m\xef\xbf\xbd.service", "", "a?[0m\xef\xbf\xbd.service");
}

static void long_names_are_cut(void **state)
{
	static char text[65536];
	struct cgroup_labels l;
	size_t len = 0;

	(void)state;
	/* 0::/aaa...aaa.service: longer than any label */
	memcpy(text, "0::/", 4);
	memset(text + 4, 'a', 4000);
	memcpy(text + 4004, ".service", 8);
	l = read_bytes(text, 4012);
	assert_int_equal(strlen(l.path), CGROUP_PATH_MAX - 1);
	assert_int_equal(strlen(l.systemd_unit), SYSTEMD_UNIT_MAX - 1);
	/* an LXC name may be as long as a file's name */
	memcpy(text, "0::/lxc/", 8);
	memset(text + 8, 'b', 255);
	l = read_bytes(text, 263);
	assert_int_equal(strlen(l.container_id), CONTAINER_ID_MAX - 1);
	/* nothing but slashes, nothing but components */
	memset(text, '/', sizeof(text));
	memcpy(text, "0::", 3);
	l = read_bytes(text, sizeof(text));
	assert_string_equal(l.systemd_unit, "");
	for (memcpy(text, "0::", len = 3); len + 2 <= sizeof(text); len += 2)
		memcpy(text + len, "/x", 2);
	l = read_bytes(text, len);
	assert_string_equal(l.container_id, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(docker),
		cmocka_unit_test(containerd),
		cmocka_unit_test(crio),
		cmocka_unit_test(podman),
		cmocka_unit_test(monitor_of_a_container_is_outside_of_it),
		cmocka_unit_test(lxc),
		cmocka_unit_test(innermost_container_counts),
		cmocka_unit_test(user_session_and_nested_units),
		cmocka_unit_test(the_line_that_tells_most_counts),
		cmocka_unit_test(removed_cgroup_keeps_its_name),
		cmocka_unit_test(almost_a_container_is_none),
		cmocka_unit_test(odd_lines_are_passed_over),
		cmocka_unit_test(control_bytes_do_not_reach_the_labels),
		cmocka_unit_test(long_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
