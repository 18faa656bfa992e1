#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh [VARIANT]: unit tests, then integration tests, against build/VARIANT (release, asan). BELFRY_TESTS names the integration tests where
# not all are wanted.
# The last line is `N passed, N failed, N skipped`; every profile made is left in build/profiles/.
set -u
cd "$(dirname "$0")/.."
variant=${1:-release}
build=build/$variant
passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

count()
{
	sed -n "s/.*\[  $1  \] \([0-9]*\) test(s)[.,:].*/\1/p; s/.*\[  $1  \] [a-z ]*: \([0-9]*\) test(s).*/\1/p" "$log" | tail -1
}

for test in "$build"/tests/test_*; do
	case $test in *.d | *'*') continue ;; esac
	timeout 120 "$test" >"$log" 2>&1
	rc=$?
	good=$(count PASSED) bad=$(count FAILED) left=$(count SKIPPED)
	good=${good:-0} bad=${bad:-0} left=${left:-0}
	# A program that died says nothing about the tests it did not reach: that is one failure.
	[ "$rc" = 0 ] || [ "$bad" != 0 ] || bad=1
	[ "$good$bad$left" != 000 ] || bad=1
	if [ "$bad" != 0 ]; then
		echo "FAIL unit $(basename "$test"), exit code $rc:"
		grep -E 'FAILED|ERROR|error|runtime|SUMMARY|#[0-9]+ ' "$log" | head -40
	fi
	passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + left))
done
echo "unit: $passed passed, $failed failed, $skipped skipped"

mkdir -p build/profiles
[ "$variant" != release ] || rm -f build/profiles/*
BELFRY_BUILD=$PWD/$build BELFRY_VARIANT=$variant /usr/bin/python3 tests/integration/run.py ${BELFRY_TESTS:-} | tee "$log"
line=$(tail -1 "$log")
case $line in
integration:*)
	passed=$((passed + $(echo "$line" | sed 's/.*: \([0-9]*\) passed.*/\1/')))
	failed=$((failed + $(echo "$line" | sed 's/.*, \([0-9]*\) failed.*/\1/')))
	skipped=$((skipped + $(echo "$line" | sed 's/.*, \([0-9]*\) skipped.*/\1/')))
	;;
*)	failed=$((failed + 1)) ;;
esac
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
