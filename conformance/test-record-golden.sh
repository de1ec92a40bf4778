#!/bin/sh
# SPDX-License-Identifier: MIT
# What tools/record-golden says to bad arguments: one line, exit status 2 (1
# where a run would be refused), nothing written. No boot, no network.
#
# usage: test-record-golden.sh SOURCE_DIR BUILD_DIR
set -u

recorder=$1/tools/record-golden
build=$2
. "$(dirname "$0")/tap.sh"

# refuses NAME STATUS PATTERN ARGUMENT..
refuses() {
	name=$1 status=$2 pattern=$3
	shift 3
	"$recorder" --build "$build" --out "$work/out" "$@" >"$work/stdout" 2>"$work/stderr"
	got=$?
	verdict=ok
	[ "$got" -eq "$status" ] || verdict=no
	[ "$(wc -l <"$work/stderr")" -eq 1 ] || verdict=no
	grep -q -- "$pattern" "$work/stderr" || verdict=no
	[ ! -e "$work/out" ] || verdict=no
	result "$verdict" "$name"
	[ "$verdict" = ok ] || sed "s/^/# exit $got: /" "$work/stderr"
}

for need in qemu-system-aarch64 cpio gzip dpkg-deb timeout; do
	if ! command -v $need >/dev/null; then
		echo "1..0 # SKIP $need is missing (ci/setup --recorder)"
		exit 0
	fi
done

printf 'scenario v1\nfrob c\n' >"$work/bad.scn"
printf 'scenario v1\nmask\n' >"$work/emulator.scn"
touch "$work/file"

refuses 'unknown option' 2 'unknown option: --frob' --frob
refuses 'option without argument' 2 '--kernel wants an argument' --kernel
refuses 'unknown kernel' 2 'unknown kernel: 5.10' --kernel 5.10
refuses 'unknown machine' 2 'unknown machine: board' --machine board
refuses 'preset on QEMU' 2 'preset is of --machine pmulab' --preset full
refuses 'too few boots' 2 'fewer than 3 boots' --boots 2
refuses 'boots that are no number' 2 'not many' --boots many
refuses 'missing build folder' 2 '/no/build: no such build folder' --build /no/build
refuses 'build folder without tools' 2 'build first' --build "$work"
refuses 'missing scenario' 2 'none.scn: no such scenario' none
refuses 'unknown verb' 2 'bad.scn:2:.*frob' "$work/bad.scn"
refuses 'folder that cannot be made' 2 'file/out: cannot be made' --out "$work/file/out" \
	"$work/emulator.scn"

verdict=no
"$recorder" --build "$build" --out "$work/out" "$work/emulator.scn" >"$work/stdout" 2>"$work/stderr"
[ $? -eq 1 ] && grep -q 'no scenario that real Linux can run' "$work/stderr" &&
	[ ! -e "$work/out" ] && verdict=ok
result $verdict 'nothing that real Linux can run'

verdict=no
if "$recorder" --help >"$work/stdout" 2>"$work/stderr" && [ ! -s "$work/stderr" ] &&
	grep -q '^example: ' "$work/stdout"; then
	verdict=ok
fi
result $verdict 'help has an example'

finish
