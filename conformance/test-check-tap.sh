#!/bin/sh
# SPDX-License-Identifier: MIT
# `pmulab check --tap` and --engines: what passes, what differs, what is not there, what
# cannot be read, what takes too long and what dies; each under its own name, and the
# others run on. `ci/mutants` shows that an engine that errs is seen.
#
# usage: test-check-tap.sh PMULAB CORPUS
set -u

if [ $# -ne 2 ]; then
	echo "usage: test-check-tap.sh PMULAB CORPUS" >&2
	exit 2
fi
pmulab=$1 corpus=$2
. "$(dirname "$0")/tap.sh"

# check STATUS ARGUMENT..: its words are in $work/out and $work/err
check() {
	status=$1
	shift
	verdict=ok
	PMULAB_CORPUS=$work/corpus "$pmulab" check --tap "$@" >"$work/out" 2>"$work/err"
	[ $? -eq "$status" ] || verdict=no
}

# line REGEX..: each is a line of the last check
line() {
	for regex; do
		grep -qx -- "$regex" "$work/out" || verdict=no
	done
}

# A corpus of two scenarios and one that the emulator alone runs.
golden=$work/corpus/golden
mkdir -p "$work/corpus/scenarios"
cp "$corpus/scenarios/period-1000.scn" "$corpus/scenarios/counting-only.scn" \
	"$corpus/scenarios/emu-late-interrupt.scn" "$work/corpus/scenarios"
for kernel in linux-6.1 linux-6.12; do
	mkdir -p "$golden/$kernel"
	cp "$corpus/golden/$kernel/period-1000.golden" \
		"$corpus/golden/$kernel/counting-only.golden" "$golden/$kernel"
done

check 0
line 1..6 'ok 1 - counting-only linux-6.1' 'ok 4 - emu-late-interrupt linux-6.12' \
	'ok 6 - period-1000 linux-6.12' '# 6 passed, 0 failed: .*'
[ "$(head -n 1 "$work/out")" = 1..6 ] && [ ! -s "$work/err" ] || verdict=no
result $verdict 'the plan, then a line for each scenario and golden' "$work/out" "$work/err"

check 0 'p*' counting-only --golden linux-6.1
line 1..2 'ok 1 - period-1000 linux-6.1' 'ok 2 - counting-only linux-6.1'
result $verdict 'patterns and names, in their order' "$work/out" "$work/err"

check 0 --shard 2/2
line 1..2 'ok 1 - emu-late-interrupt linux-6.1' 'ok 2 - emu-late-interrupt linux-6.12'
result $verdict 'each second scenario' "$work/out" "$work/err"

check 0 --engines
line 1..6 'ok 1 - counting-only engines linux-6.1' '# 6 passed, 0 failed'
result $verdict 'both engines, as each kernel' "$work/out" "$work/err"

check 0 --engines --timing inorder --skid 37 --profile linux-6.12 period-1000
line 1..1 'ok 1 - period-1000 engines inorder linux-6.12'
result $verdict 'both engines, of other times, as one kernel' "$work/out" "$work/err"

sed '/^  sample/s/period=[0-9]*/period=7/; /^  sample/s/ip=\([a-z]*\)+0x[0-9a-f]*/ip=\1+0x0/' \
	"$corpus/golden/linux-6.12/period-1000.golden" >"$golden/linux-6.12/period-1000.golden"
check 1
line 'not ok 6 - period-1000 linux-6.12' 'ok 5 - period-1000 linux-6.1' \
	'# period-1000: step .* record 2 sample: ip: golden .*' \
	'# failed: period-1000 linux-6.12' '# 5 passed, 1 failed: .*'
result $verdict 'a golden that differs, with the difference' "$work/out" "$work/err"

sed '/^end$/d' "$corpus/golden/linux-6.12/period-1000.golden" \
	>"$golden/linux-6.12/period-1000.golden"
check 1
line 'not ok 6 - period-1000 linux-6.12' 'ok 5 - period-1000 linux-6.1' \
	'# pmulab: .*/period-1000.golden:[0-9]*: .*'
result $verdict 'a golden that is truncated' "$work/out" "$work/err"

rm "$golden/linux-6.12/period-1000.golden"
check 1
line 1..6 'ok 5 - period-1000 linux-6.1' 'not ok 6 - period-1000 linux-6.12' \
	'# FAIL period-1000: no golden of linux-6.12, though another kernel has one'
result $verdict 'a golden that one kernel lacks' "$work/out" "$work/err"

rm "$golden/linux-6.1/period-1000.golden"
check 1
line 1..5 'not ok 5 - period-1000' '# FAIL period-1000: no golden'
result $verdict 'a scenario without a golden' "$work/out" "$work/err"

check 1 period-1000 counting-only --golden linux-6.1
line 1..2 'not ok 1 - period-1000 linux-6.1' 'ok 2 - counting-only linux-6.1' \
	'# pmulab: period-1000: no golden of linux-6.1: .*'
result $verdict 'a golden that is asked for by name' "$work/out" "$work/err"

cp "$corpus/golden/linux-6.1/period-1000.golden" "$golden/linux-6.1"
cp "$corpus/golden/linux-6.12/period-1000.golden" "$golden/linux-6.12"
printf 'scenario v1\nfrob c\n' >"$work/corpus/scenarios/broken.scn"
check 1
line 1..7 'not ok 1 - broken' '# .*/broken.scn:2:.*frob.*' 'ok 7 - period-1000 linux-6.12' \
	'# failed: broken'
[ ! -s "$work/err" ] || verdict=no
result $verdict 'a scenario that cannot be read' "$work/out" "$work/err"
rm "$work/corpus/scenarios/broken.scn"

# Some thousand seconds of work, if nobody stops it.
printf 'scenario v1\n# Emulator only.\nevent c hardware/cycles period=100000 sample=ip\nopen c\nexpect bus wrap\n' \
	>"$work/corpus/scenarios/endless.scn"
printf 'run spin 4000000000\nrun spin 4000000000\n' >>"$work/corpus/scenarios/endless.scn"
check 1 --time-limit 1
line 1..8 'not ok 5 - endless linux-6.1' '# the run took more than 1 s of CPU time' \
	'not ok 6 - endless linux-6.12' '# not reached' 'ok 2 - counting-only linux-6.12' \
	'ok 8 - period-1000 linux-6.12' '# 6 passed, 2 failed: .*'
result $verdict 'a scenario that does not end' "$work/out" "$work/err"

# Whatever kills the child that runs it, the next ones run in another.
PMULAB_CORPUS=$work/corpus "$pmulab" check --tap >"$work/out" 2>"$work/err" &
parent=$!
until grep -q '^ok 4' "$work/out"; do
	sleep 0.05
	kill -0 $parent 2>/dev/null || break
done
child=$(cat "/proc/$parent/task/$parent/children")
kill -SEGV $child
verdict=ok
wait $parent
[ $? -eq 1 ] || verdict=no
line 1..8 'not ok 5 - endless linux-6.1' '# the run died of signal 11 .*' \
	'not ok 6 - endless linux-6.12' 'ok 8 - period-1000 linux-6.12'
result $verdict 'a scenario that crashes' "$work/out" "$work/err"

rm "$work/corpus/scenarios/endless.scn"
check 2 nothing-like-it-*
[ "$(wc -l <"$work/err")" -eq 1 ] && [ ! -s "$work/out" ] || verdict=no
check 2 --shard 4/9 && [ $verdict = ok ] && [ "$(wc -l <"$work/err")" -eq 1 ] || verdict=no
check 2 --shard 3/2 && [ $verdict = ok ] && [ "$(wc -l <"$work/err")" -eq 1 ] || verdict=no
check 2 --shard 1/-1 && [ $verdict = ok ] || verdict=no
check 2 --engines --golden linux-6.1 && [ $verdict = ok ] || verdict=no
check 2 --skid 3 && [ $verdict = ok ] || verdict=no
result $verdict 'nothing to compare, and options that do not go together' "$work/out" "$work/err"

finish
