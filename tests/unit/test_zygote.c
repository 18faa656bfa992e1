/* SPDX-License-Identifier: Apache-2.0 */
/* Zygote, workers and main side together, under their real filters. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/unit/built_file.h"
#include "tests/unit/elf_image.h"
#include "symbolizer/symbols.h"
#include "symbolizer/zygote.h"

static struct zygote_limits zygote_limits(void)
{
	return (struct zygote_limits){
		.children = 2,
		.worker = { .cpu_seconds = 1, .wall_ms = 20000, .memory = 1ull << 30 },
	};
}

struct fixture {
	int zygote;
	struct symbols *symbols;
};

static struct fixture begin(uint32_t children)
{
	struct zygote_limits z = zygote_limits();
	struct symbols_limits limits = { .open_files = 16,
					 .cached_addresses = 20000,
					 .workers = 2,
					 .worker_wall_ms = 30000,
					 .deny_seconds = 60 };
	struct fixture f;

	z.children = children;
	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	f.zygote = zygote_start(&policy_symbolizer, &z);
	assert_true(f.zygote >= 0);
	assert_int_equal(symbols_new(&f.symbols, f.zygote, &limits), 0);
	return f;
}

static void end(struct fixture *f)
{
	symbols_free(f->symbols);
	close(f->zygote);
	wait(NULL);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void run_until_idle(struct symbols *s)
{
	symbols_start(s);
	while (!symbols_idle(s)) {
		struct pollfd fds[8];
		size_t n = symbols_poll(s, fds, 8);

		poll(fds, n, symbols_timeout(s, now_ms()));
		symbols_handle(s, now_ms());
	}
}

static enum file_result add(struct symbols *s, uint64_t id, int fd, uint64_t size)
{
	struct file_message m = { .type = FILE_OPENED, .file_id = id, .inode = id, .size = size };

	return symbols_add_file(s, &m, dup(fd));
}

/* File offset of a function: by readelf's section address and offset of .text. */
static uint64_t offset_of(const struct built_file *f, const char *name)
{
	unsigned long long address, section, offset;
	char command[512];
	FILE *p;

	snprintf(command, sizeof(command),
		 "nm %s | sed -n 's/ T %s$//p'; readelf -SW %s | sed -n 's/.* \\.text *PROGBITS "
		 "*//p'",
		 f->path, name, f->path);
	p = popen(command, "r");
	assert_int_equal(fscanf(p, "%llx %llx %llx", &address, &section, &offset), 3);
	pclose(p);
	return address - section + offset;
}

/* Symbols that all cover the whole text, asked for at thousands of addresses: seconds of work. */
static int time_waster(uint64_t *size)
{
	enum { SYMBOLS = 400000 };
	struct image_symbol *symbols = calloc(SYMBOLS, sizeof(*symbols));
	struct elf_image m;
	int fd = memfd_create("waster", MFD_CLOEXEC);

	for (int i = 0; i < SYMBOLS; i++)
		symbols[i] = (struct image_symbol){ "x", TEXT_ADDRESS, 0x1000 + (uint64_t)i,
						    ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1 };
	m = elf_image_make(symbols, SYMBOLS);
	assert_int_equal(write(fd, m.bytes, m.size), (ssize_t)m.size);
	*size = m.size;
	free(m.bytes);
	free(symbols);
	return fd;
}

static void names_come_through_the_whole_way(void **state)
{
	struct built_file f =
		built_file_from("int hot_function(int n) { return n * 3; }\n"
				"int main(int c, char **v) { return hot_function(c); }",
				"c", "-O0 -pie -fPIE -Wl,--build-id=0x1234567890");
	uint64_t offset = offset_of(&f, "hot_function");
	struct fixture x = begin(2);
	struct symbol s;

	(void)state;
	assert_int_equal(add(x.symbols, 20, f.fd, f.size), FILE_ACCEPTED);
	symbols_want(x.symbols, 20, offset + 4);
	symbols_want(x.symbols, 20, 0xffffffff);
	symbols_want(x.symbols, FILE_ID_VDSO, 0x100);
	run_until_idle(x.symbols);
	assert_true(symbols_lookup(x.symbols, 20, offset + 4, &s));
	assert_string_equal(s.name, "hot_function");
	assert_int_equal(s.address - s.function_start, 4);
	assert_true(symbols_lookup(x.symbols, 20, 0xffffffff, &s));
	assert_false(s.has_address);
	assert_string_equal(symbols_file(x.symbols, 20)->build_id, "1234567890");
	assert_int_equal(symbols_file(x.symbols, FILE_ID_VDSO)->status, FILE_STATUS_OK);
	assert_int_equal(symbols_counters(x.symbols)->workers_died, 0);
	end(&x);
	built_file_remove(&f);
}

static void a_file_that_takes_too_long_is_denied_and_others_go_on(void **state)
{
	struct built_file f = built_file_from("int main(void) { return 0; }", "c", "");
	uint64_t offset = offset_of(&f, "main");
	struct fixture x = begin(2);
	uint64_t size;
	int waster = time_waster(&size);
	struct symbol s;

	(void)state;
	add(x.symbols, 20, waster, size);
	add(x.symbols, 21, f.fd, f.size);
	for (uint64_t i = 0; i < 4096; i++)
		symbols_want(x.symbols, 20, TEXT_OFFSET + i);
	symbols_want(x.symbols, 21, offset);
	run_until_idle(x.symbols);
	assert_int_equal(symbols_file(x.symbols, 20)->status, FILE_STATUS_WORKER_DIED);
	assert_false(symbols_lookup(x.symbols, 20, TEXT_OFFSET, &s));
	assert_true(symbols_lookup(x.symbols, 21, offset, &s));
	assert_string_equal(s.name, "main");
	assert_int_equal(symbols_counters(x.symbols)->workers_died, 1);
	close(waster);
	end(&x);
	built_file_remove(&f);
}

static void more_requests_than_children_wait_their_turn(void **state)
{
	struct built_file f = built_file_from("int main(void) { return 0; }", "c", "");
	uint64_t offset = offset_of(&f, "main");
	struct fixture x = begin(1);
	uint64_t size;
	int waster = time_waster(&size);
	struct symbol s;

	(void)state;
	add(x.symbols, 20, waster, size);
	for (uint64_t i = 0; i < 4096; i++)
		symbols_want(x.symbols, 20, TEXT_OFFSET + i);
	symbols_start(x.symbols);
	add(x.symbols, 21, f.fd, f.size);
	symbols_want(x.symbols, 21, offset);
	run_until_idle(x.symbols);
	assert_true(symbols_lookup(x.symbols, 21, offset, &s));
	assert_string_equal(s.name, "main");
	assert_true(symbols_counters(x.symbols)->workers_busy > 0);
	close(waster);
	end(&x);
	built_file_remove(&f);
}

static void a_file_cut_under_the_worker_is_malformed(void **state)
{
	struct built_file f = built_file_from("int main(void) { return 0; }", "c", "");
	struct fixture x = begin(2);

	(void)state;
	add(x.symbols, 20, f.fd, f.size);
	assert_int_equal(truncate(f.path, 64), 0);
	symbols_want(x.symbols, 20, 0x1000);
	run_until_idle(x.symbols);
	assert_int_equal(symbols_file(x.symbols, 20)->status, FILE_STATUS_MALFORMED);
	assert_string_equal(symbols_file(x.symbols, 20)->detail,
			    "program headers end after the file");
	assert_int_equal(symbols_counters(x.symbols)->workers_died, 0);
	end(&x);
	built_file_remove(&f);
}

static pid_t only_child(void)
{
	char path[64];
	int pid = 0;
	FILE *p;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	p = fopen(path, "r");
	if (fscanf(p, "%d", &pid) != 1)
		pid = 0;
	fclose(p);
	return pid;
}

/* Its socket, standard error, and the report that `belfry audit` reads. */
static bool may_hold(const char *directory, const char *fd)
{
	char path[512], target[128] = "";

	snprintf(path, sizeof(path), "%s/%s", directory, fd);
	if (readlink(path, target, sizeof(target) - 1) < 0)
		return false;
	return strcmp(fd, "2") == 0 || strcmp(fd, "3") == 0 ||
	       strstr(target, "memfd:belfry-report");
}

static void the_zygote_holds_nothing_of_its_parents(void **state)
{
	int other = open("/dev/zero", O_RDONLY);
	struct fixture x = begin(2);
	struct dirent *entry;
	char path[64];
	DIR *d;

	(void)state;
	usleep(100000);
	snprintf(path, sizeof(path), "/proc/%d/fd", only_child());
	d = opendir(path);
	assert_non_null(d);
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.')
			assert_true(may_hold(path, entry->d_name));
	closedir(d);
	close(other);
	end(&x);
}

static bool lives(pid_t pid)
{
	char path[64], state = 'X';
	FILE *p;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	p = fopen(path, "r");
	if (!p)
		return false;
	if (fscanf(p, "%*d (%*[^)]) %c", &state) != 1)
		state = 'X';
	fclose(p);
	return state != 'Z' && state != 'X';
}

/*
 * The parent that dies. Its own child keeps a copy of the socket open, so that only the death
 * signal can end the zygote.
 */
static void parent_main(int report)
{
	struct zygote_limits z = zygote_limits();
	pid_t pids[2];

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	zygote_start(&policy_symbolizer, &z);
	pids[0] = only_child();
	usleep(100000);
	pids[1] = fork();
	if (pids[1] == 0) {
		pause();
		_exit(0);
	}
	if (write(report, pids, sizeof(pids)) != sizeof(pids))
		_exit(1);
	pause();
	_exit(0);
}

static void the_zygote_ends_with_its_parent(void **state)
{
	int report[2];
	pid_t pids[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(report), 0);
	pid = fork();
	if (pid == 0)
		parent_main(report[1]);
	assert_int_equal(read(report[0], pids, sizeof(pids)), sizeof(pids));
	assert_true(lives(pids[0]));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 100 && lives(pids[0]); i++)
		usleep(10000);
	assert_false(lives(pids[0]));
	kill(pids[1], SIGKILL);
	close(report[0]);
	close(report[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_through_the_whole_way),
		cmocka_unit_test(a_file_that_takes_too_long_is_denied_and_others_go_on),
		cmocka_unit_test(more_requests_than_children_wait_their_turn),
		cmocka_unit_test(a_file_cut_under_the_worker_is_malformed),
		cmocka_unit_test(the_zygote_holds_nothing_of_its_parents),
		cmocka_unit_test(the_zygote_ends_with_its_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
