#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tables.sh [FILE]...: every unwind row of each ELF file against elfutils' own reading of the same file (unwind_rows.c). Without files: a
# dozen objects of this machine that hold every rule there is. `tables.sh --all`: every ELF file below /usr. Last line: `N passed, N failed`.
set -u
cd "$(dirname "$0")/../../.."
belfry=${BELFRY_BUILD:-build/release}/belfry
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

if ! ${CC:-gcc} -std=gnu11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE tests/judges/unwind/unwind_rows.c -o "$work/unwind_rows" -ldw -lelf 2>"$work/log"; then
	echo "skip: no elfutils to judge by (libdw-dev): $(tail -1 "$work/log")"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi

case ${1-} in
--all)
	find /usr/bin /usr/sbin /usr/lib /usr/libexec /usr/local -xdev -type f \( -perm /111 -o -name '*.so*' \) -size +1k >"$work/files"
	;;
'')
	for file in /lib/x86_64-linux-gnu/libc.so.6 /lib64/ld-linux-x86-64.so.2 /lib/x86_64-linux-gnu/libcrypto.so.3 \
		/lib/x86_64-linux-gnu/libstdc++.so.6 /lib/x86_64-linux-gnu/libm.so.6 /usr/bin/python3.11 /usr/bin/bash /usr/bin/perl \
		/usr/lib/gcc/x86_64-linux-gnu/12/cc1 /usr/bin/git "$belfry" "$(command -v node || echo /usr/bin/env)"; do
		[ ! -r "$file" ] || realpath "$file"
	done >"$work/files"
	;;
*)	printf '%s\n' "$@" >"$work/files" ;;
esac

while read -r file; do
	"$belfry" tables --dump "$file" >"$work/dump" 2>/dev/null || { skipped=$((skipped + 1)); continue; } # a script, a 32-bit file
	if "$work/unwind_rows" "$file" <"$work/dump" >"$work/log"; then
		passed=$((passed + 1))
	else
		echo "FAIL $(cat "$work/log")"
		failed=$((failed + 1))
	fi
done <"$work/files"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
