#!/bin/sh
# SPDX-License-Identifier: MIT
# What the commands write, and where: a pipe is written to and stays one; one file for two
# outputs is refused; a guest that cannot run at all ends. TAP.
#
# usage: test-files.sh PMULAB
set -u
pmulab=$1
report=$(dirname "$0")/../tools/report.py
. "$(dirname "$0")/tap.sh"

# piped NAME COMMAND ...: what the command writes to "$work/pipe" is what it writes to a
# file
piped() {
	name=$1
	shift
	rm -f "$work/pipe" "$work/file"
	mkfifo "$work/pipe"
	cat "$work/pipe" >"$work/got" &
	reader=$! verdict=ok
	"$@" "$work/pipe" >/dev/null 2>"$work/err" || verdict=no
	[ -p "$work/pipe" ] || verdict=no
	# whoever replaced it has left a reader that waits
	[ $verdict = ok ] || kill $reader
	wait $reader 2>/dev/null
	"$@" "$work/file" >/dev/null 2>"$work/err" || verdict=no
	[ -s "$work/got" ] && cmp -s "$work/got" "$work/file" || verdict=no
	result $verdict "$name to a pipe" "$work/err"
}

# refused NAME COMMAND ...: exit status 2, one line, no file
refused() {
	name=$1
	shift
	rm -rf "$work/dir"
	mkdir "$work/dir"
	"$@" >/dev/null 2>"$work/err"
	rc=$? verdict=no
	[ $rc -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] && verdict=ok
	[ -z "$(ls -A "$work/dir")" ] || verdict=no
	result $verdict "$name" "$work/err"
}

piped 'run' "$pmulab" run period-3 --output
piped 'a value change dump' "$pmulab" trace period-3 --vcd
piped 'a Perfetto trace' "$pmulab" trace period-3 --perfetto
piped 'JSON results' "$report" --pmulab "$pmulab" period-3 --json

same=$work/dir/same
refused 'run: trace and bus in one file' "$pmulab" run period-3 --output "$same" --bus "$same"
refused 'trace: both in one file' "$pmulab" trace period-3 --vcd "$same" --perfetto "$same"
refused 'report: both in one file' "$report" --pmulab "$pmulab" --json "$same" \
	--junit "$same" period-3
refused 'report: all files or none' "$report" --pmulab "$pmulab" --json "$same" \
	--junit "$work/no/such" period-3
refused 'report: no such corpus' "$report" --pmulab "$pmulab" --corpus /nonexistent \
	--json "$same"
refused 'report: no such scenario to begin with' "$report" --pmulab "$pmulab" --first nosuch \
	--json "$same"

# An undefined instruction, and no vectors: nothing can ever run.
printf '\0\0\0\0' >"$work/undefined"
for engine in block step; do
	refused "boot: no vectors, $engine" "$pmulab" boot "$work/undefined" --engine $engine
	grep -q 'pc 0x200: the exception vector itself takes an exception' "$work/err" || bad=1
done

finish
