# SPDX-License-Identifier: MIT
# For the tests that boot Debian's kernels with pmulab boot. The kernels are what
# tools/record-golden left in .cache; nothing is fetched here, and without them a
# test is skipped. Usage: . lib.sh SOURCE_DIR BUILD_DIR

root=$1
build=$2
cache=$root/.cache
pmulab=$build/tools/pmulab
append="console=ttyAMA0 panic=-1 norandmaps randomize_kstack_offset=off"
. "$root/conformance/tap.sh"

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}

# have_kernels SERIES..: or the whole test is skipped.
have_kernels() {
	for series in "$@"; do
		[ -f "$cache/kernel-$series/vmlinuz" ] ||
			skip_all "no kernel $series in .cache (tools/record-golden fetches it)"
	done
	command -v cpio >/dev/null || skip_all "cpio is missing (ci/setup --recorder)"
}

# initrd TREE FILE: the same bytes whenever the same files go in.
initrd() {
	chmod -R u=rwX,go=rX "$1"
	find "$1" -exec touch -h -d @0 {} +
	(cd "$1" && find . | LC_ALL=C sort |
		cpio --quiet --reproducible -R 0:0 -o -H newc) | gzip -1n >"$2"
}

# boot SERIES INITRD OUT [OPTION..]: console to OUT, what -v says to OUT.err.
boot() {
	series=$1 image=$2 to=$3
	shift 3
	timeout 900 "$pmulab" boot "$cache/kernel-$series/vmlinuz" --memory 512 --verbose \
		--initrd "$image" --append "$append" "$@" </dev/null >"$to" 2>"$to.err"
}

# same FILE FILE: ok or no.
same() {
	if cmp -s "$1" "$2"; then echo ok; else echo no; fi
}
