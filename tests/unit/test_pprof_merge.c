// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cmocka_all.h"

#include <sys/mman.h>
#include <unistd.h>

#include "cli/pprof_merge.h"
#include "cli/pprof_read.h"
#include "cli/pprof_write.h"
#include "tests/unit/profile_bytes.h"

/* A process whose program is mapped at `start`: `value` samples of leaf called by main. */
static struct bytes process(const char *file, uint64_t start, uint64_t value, uint64_t time,
			    uint64_t duration)
{
	struct bytes b = { .len = 0 };

	put_value_type(&b, 1, 1, 2);
	put_value_type(&b, 11, 1, 2);
	put_sample(&b, 1, 2, value, 0, 0);
	put_mapping(&b, 1, start, 5);
	put_location(&b, 1, 1, start + 0x20, 1);
	put_location(&b, 2, 1, start + 0x10, 2);
	put_function(&b, 1, 4);
	put_function(&b, 2, 3);
	put_string(&b, "");
	put_string(&b, "samples");
	put_string(&b, "count");
	put_string(&b, "main");
	put_string(&b, "leaf");
	put_string(&b, file);
	put_number(&b, 9, time);
	put_number(&b, 10, duration);
	return b;
}

static const char *add(struct pprof_merge *m, const struct bytes *b, const char *comm, int64_t pid,
		       bool preferred)
{
	struct pprof_merge_label labels[] = {
		{ .key = { "comm", 4 }, .text = { comm, (uint32_t)strlen(comm) } },
		{ .key = { "pid", 3 }, .number = pid },
	};
	const char *problem;
	struct pprof p;

	assert_null(pprof_read(&p, b->data, b->len));
	problem = pprof_merge_add(m, &p, labels, 2, preferred);
	pprof_free(&p);
	return problem;
}

static const char *text(const struct pprof *p, uint32_t string)
{
	static char copy[64];
	const struct pprof_string *s = &p->strings.items[string];

	memcpy(copy, s->text, s->len);
	copy[s->len] = '\0';
	return copy;
}

/* Two windows of one process: 3 + 4 samples of one stack are one sample of 7. */
static void equal_stacks_of_one_process_are_summed(void **state)
{
	struct bytes first = process("/bin/a", 0x400000, 3, 1000, 100);
	struct bytes second = process("/bin/a", 0x400000, 4, 1100, 150);
	struct pprof_merge *m = pprof_merge_new();
	const struct pprof *p;

	(void)state;
	assert_null(add(m, &first, "a", 7, false));
	assert_null(add(m, &second, "a", 7, false));
	p = pprof_merge_finish(m);
	assert_int_equal(p->samples.count, 1);
	assert_int_equal(p->values.items[0], 7);
	assert_int_equal(p->locations.count, 2);
	assert_int_equal(p->functions.count, 2);
	assert_int_equal(p->mappings.count, 1);
	/* "", samples, count, main, leaf, /bin/a, comm, a, pid */
	assert_int_equal(p->strings.count, 9);
	/* 1000 .. 1100 + 150 */
	assert_int_equal(p->time, 1000);
	assert_int_equal(p->duration, 250);
	pprof_merge_free(m);
}

static void processes_stay_apart_by_label(void **state)
{
	struct bytes b = process("/bin/a", 0x400000, 3, 1000, 100);
	struct pprof_merge *m = pprof_merge_new();
	const struct pprof *p;

	(void)state;
	assert_null(add(m, &b, "a", 7, false));
	assert_null(add(m, &b, "a", 8, false));
	p = pprof_merge_finish(m);
	assert_int_equal(p->samples.count, 2);
	assert_int_equal(p->locations.count, 2); /* shared */
	assert_int_equal(p->samples.items[1].label_count, 2);
	assert_int_equal(p->labels.items[p->samples.items[1].first_label + 1].num, 8);
	pprof_merge_free(m);
}

static void labels_of_the_sample_win(void **state)
{
	struct bytes b = process("/bin/a", 0x400000, 3, 1000, 100);
	struct pprof_merge *m = pprof_merge_new();
	struct pprof_string comm;
	const struct pprof *p;

	(void)state;
	put_sample(&b, 1, 2, 5, 6, 3); /* comm=main */
	put_string(&b, "comm");
	assert_null(add(m, &b, "given", 7, false));
	p = pprof_merge_finish(m);
	assert_int_equal(p->samples.count, 2);
	comm = pprof_sample_label(p, &p->samples.items[0], "comm");
	assert_memory_equal(comm.text, "given", comm.len);
	comm = pprof_sample_label(p, &p->samples.items[1], "comm");
	assert_memory_equal(comm.text, "main", comm.len);
	pprof_merge_free(m);
}

static void the_most_sampled_program_comes_first(void **state)
{
	struct bytes a = process("/bin/a", 0x400000, 3, 1000, 100);
	struct bytes b = process("/bin/b", 0x500000, 30, 1000, 100);
	struct pprof_merge *m = pprof_merge_new();
	const struct pprof *p;

	(void)state;
	assert_null(add(m, &a, "a", 7, false));
	assert_null(add(m, &b, "b", 8, false));
	p = pprof_merge_finish(m);
	assert_string_equal(text(p, p->mappings.items[0].filename), "/bin/b");
	/* The references have moved along: the first sample is still that of /bin/a, 3 samples. */
	assert_int_equal(p->values.items[0], 3);
	assert_int_equal(p->locations.items[p->stack.items[0]].mapping, 1);
	pprof_merge_free(m);
}

static void a_preferred_program_comes_first_whatever_its_samples(void **state)
{
	struct bytes a = process("/bin/a", 0x400000, 30, 1000, 100);
	struct bytes b = process("/bin/b", 0x500000, 3, 1000, 100);
	struct pprof_merge *m = pprof_merge_new();
	const struct pprof *p;

	(void)state;
	assert_null(add(m, &a, "a", 7, false));
	assert_null(add(m, &b, "b", 8, true));
	p = pprof_merge_finish(m);
	assert_string_equal(text(p, p->mappings.items[0].filename), "/bin/b");
	pprof_merge_free(m);
}

static void different_sample_types_are_refused(void **state)
{
	struct bytes a = process("/bin/a", 0x400000, 3, 1000, 100);
	struct bytes b = { .len = 0 };
	struct pprof_merge *m = pprof_merge_new();

	(void)state;
	put_value_type(&b, 1, 1, 2);
	put_string(&b, "");
	put_string(&b, "alloc_space");
	put_string(&b, "bytes");
	assert_null(add(m, &a, "a", 7, false));
	assert_string_equal(add(m, &b, "b", 8, false),
			    "the profiles to merge have different sample types");
	pprof_merge_free(m);
}

/* "a" 0xff "b": the stray byte becomes U+FFFD, EF BF BD. */
static void strings_become_valid_utf8(void **state)
{
	struct bytes b = process("a\xff"
				 "b",
				 0x400000, 3, 1000, 100);
	struct pprof_merge *m = pprof_merge_new();
	const struct pprof *p;

	(void)state;
	assert_null(add(m, &b, "a", 7, false));
	p = pprof_merge_finish(m);
	assert_string_equal(text(p, p->mappings.items[0].filename), "a\xef\xbf\xbd"
								    "b");
	pprof_merge_free(m);
}

static void sums_do_not_wrap(void **state)
{
	struct bytes b = process("/bin/a", 0x400000, INT64_MAX, 1000, 100);
	struct pprof_merge *m = pprof_merge_new();
	const struct pprof *p;

	(void)state;
	assert_null(add(m, &b, "a", 7, false));
	assert_null(add(m, &b, "a", 7, false));
	p = pprof_merge_finish(m);
	assert_true(p->values.items[0] == INT64_MAX);
	pprof_merge_free(m);
}

static void what_is_written_reads_the_same(void **state)
{
	struct bytes a = process("/bin/a", 0x400000, 3, 1000, 100);
	struct bytes b = process("/bin/b", 0x500000, 30, 1050, 100);
	struct pprof_merge *m = pprof_merge_new();
	int fd = memfd_create("profile", MFD_CLOEXEC);
	const struct pprof *p;
	struct pprof again;

	(void)state;
	assert_null(add(m, &a, "a", 7, false));
	assert_null(add(m, &b, "b", 8, false));
	assert_null(pprof_merge_comment(m, "the account"));
	p = pprof_merge_finish(m);
	assert_int_equal(pprof_write(p, fd), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_null(pprof_read_file(&again, fd));
	assert_int_equal(again.samples.count, 2);
	assert_int_equal(again.values.items[1], 30);
	assert_int_equal(again.time, 1000);
	assert_int_equal(again.duration, 150);
	assert_int_equal(again.labels.items[1].num, 7);
	assert_string_equal(text(&again, again.comments.items[0]), "the account");
	assert_string_equal(text(&again, again.mappings.items[0].filename), "/bin/b");
	assert_int_equal(again.locations.items[1].mapping, 1);
	pprof_free(&again);
	pprof_merge_free(m);
	close(fd);
}

static void a_recording_without_samples_is_a_profile(void **state)
{
	struct pprof_merge *m = pprof_merge_new();
	int fd = memfd_create("profile", MFD_CLOEXEC);
	struct pprof again;

	(void)state;
	assert_null(pprof_merge_default_types(m, 10000000, 1000, 77));
	assert_int_equal(pprof_write(pprof_merge_finish(m), fd), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_null(pprof_read_file(&again, fd));
	assert_int_equal(again.sample_type_count, 2);
	assert_string_equal(text(&again, again.sample_types[0].type), "samples");
	assert_int_equal(again.period, 10000000);
	assert_int_equal(again.time, 1000);
	assert_int_equal(again.duration, 77);
	assert_string_equal(text(&again, again.default_sample_type), "cpu");
	pprof_free(&again);
	pprof_merge_free(m);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_of_one_process_are_summed),
		cmocka_unit_test(processes_stay_apart_by_label),
		cmocka_unit_test(labels_of_the_sample_win),
		cmocka_unit_test(the_most_sampled_program_comes_first),
		cmocka_unit_test(a_preferred_program_comes_first_whatever_its_samples),
		cmocka_unit_test(different_sample_types_are_refused),
		cmocka_unit_test(strings_become_valid_utf8),
		cmocka_unit_test(sums_do_not_wrap),
		cmocka_unit_test(what_is_written_reads_the_same),
		cmocka_unit_test(a_recording_without_samples_is_a_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
