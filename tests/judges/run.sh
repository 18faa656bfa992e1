#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh DIRECTORY: every profile the tests left in DIRECTORY, before other people's readers:
#   pprofcheck   google/pprof's profile.Parse and CheckValid (main.go), and its sums against our own reader's
#   go tool pprof -top   as users open it
# Where a toolchain or its proxy is missing it says so and skips with a count. Last line: `N passed, N failed, N skipped`.
set -u
here=$(cd "$(dirname "$0")" && pwd)
directory=${1:?directory of profiles}
passed=0 failed=0 skipped=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The tool must find neither the user's own profiles nor the binaries: only what is in the file counts.
mkdir "$work/home" "$work/binaries"

set --
for file in "$directory"/*.pb.gz; do
	[ -f "$file" ] && set -- "$@" "$file"
done
if [ $# = 0 ]; then
	echo "judges: no profiles in $directory (make check leaves them there)" >&2
	exit 1
fi

if command -v go >/dev/null && (cd "$here" && GOFLAGS=-mod=readonly go build -o "$work/pprofcheck" .) 2>"$work/log"; then
	"$work/pprofcheck" "$@" >"$work/verdicts" 2>&1
	for file; do
		verdict=$(grep -F " $file: " "$work/verdicts")
		own=$(/usr/bin/python3 -c '
import sys
sys.path.insert(0, sys.argv[1])
from pprof import Profile
p = Profile.read(sys.argv[2])
print(" ".join("%s=%d" % (t, p.total(t)) for t, _ in p.types()))' "$here/../integration" "$file" 2>&1)
		if [ "$verdict" = "valid $file: $own" ]; then
			passed=$((passed + 1))
		else
			echo "FAIL pprofcheck: $verdict (our reader: $own)"
			failed=$((failed + 1))
		fi
	done
else
	echo "skip pprofcheck, $# files: no Go that builds it ($(command -v go >/dev/null && tail -1 "$work/log" || echo no go))"
	skipped=$((skipped + $#))
fi

if command -v go >/dev/null && go tool pprof -h >/dev/null 2>&1 || [ $? = 2 ]; then
	for file; do
		if HOME="$work/home" GOCACHE="${GOCACHE:-$(go env GOCACHE)}" PPROF_BINARY_PATH="$work/binaries" \
			go tool pprof -symbolize=none -top "$file" >"$work/top" 2>"$work/log" && grep -q 'flat%' "$work/top"; then
			passed=$((passed + 1))
		else
			echo "FAIL go tool pprof -top $file: $(tail -1 "$work/log")"
			failed=$((failed + 1))
		fi
	done
else
	echo "skip go tool pprof, $# files: not there"
	skipped=$((skipped + $#))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
