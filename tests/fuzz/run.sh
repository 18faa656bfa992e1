#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh: runs each fuzz target FUZZ_SECONDS (60) from its seeds in tests/fuzz/corpus/NAME. What it learns is kept in
# build/fuzz-work/NAME; an input that crashes is left there as crash-*. Last line: `N passed, N failed`.
set -u
cd "$(dirname "$0")/../.."
seconds=${FUZZ_SECONDS:-60}
passed=0 failed=0
for source in tests/fuzz/fuzz_*.c; do
	target=$(basename "$source" .c)
	name=${target#fuzz_}
	work=build/fuzz-work/$name
	mkdir -p "$work/corpus" "tests/fuzz/corpus/$name"
	log=$work/log
	if timeout $((seconds * 2 + 120)) "build/fuzz/fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
		-verbosity=1 -print_final_stats=1 -artifact_prefix="$work/" "$work/corpus" "tests/fuzz/corpus/$name" >"$log" 2>&1; then
		echo "ok   $target: $(sed -n 's/.*number_of_executed_units: *//p' "$log") runs," \
			"$(sed -n 's/.*cov: \([0-9]*\).*/\1/p' "$log" | tail -1) edges"
		passed=$((passed + 1))
	else
		echo "FAIL $target:"
		grep -E 'ERROR|Assertion|runtime error|SUMMARY|Test unit written|#[0-9] ' "$log" | head -20
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
