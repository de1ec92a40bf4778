# SPDX-License-Identifier: MIT
# For tests that are scripts: a folder of their own in $work, and TAP. Usage: . tap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
n=0
bad=0

# result VERDICT NAME [FILE ...]: one line; VERDICT ok or anything else, and then what the
# files hold
result() {
	n=$((n + 1))
	if [ "$1" = ok ]; then
		echo "ok $n - $2"
		return
	fi
	echo "not ok $n - $2"
	shift 2
	[ $# -eq 0 ] || sed 's/^/# /' "$@"
	bad=1
}

finish() {
	echo "1..$n"
	exit $bad
}
