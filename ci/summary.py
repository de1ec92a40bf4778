# SPDX-License-Identifier: MIT
"""Count the results of `meson test` from its JSON log.

usage: summary.py TESTLOG MESON_EXIT_STATUS

Prints each case that failed, with what its test says of it, then "N passed,
N failed[, N skipped]" over the cases: a TAP program counts with each of its
cases, any other test as one. Exit 1 when anything failed, when nothing passed,
or when meson itself said no.
"""
import json
import re
import sys


def cases(test):
    """(passed, failed, skipped) of one test."""
    lines = re.findall(r"^(ok|not ok) \d+.*$", test.get("stdout") or "", re.M)
    whole = re.findall(r"^((?:not )?ok) \d+(.*)$", test.get("stdout") or "", re.M)
    if not lines:
        result = test["result"]
        if result in ("OK", "EXPECTEDFAIL"):
            return 1, 0, 0
        return (0, 0, 1) if result == "SKIP" else (0, 1, 0)
    skipped = sum("# SKIP" in rest.upper() for _, rest in whole)
    failed = sum(word == "not ok" for word, _ in whole)
    if failed == 0 and test["result"] not in ("OK", "SKIP"):
        failed = 1  # the program died after its last case
    return len(whole) - skipped - failed, max(failed, 0), skipped


def show_failures(test):
    """The failed cases of a TAP program, each with the first of its # lines; of another
    test, and of one that did not get to its end, its name."""
    left, shown = 0, False
    for line in (test.get("stdout") or "").splitlines():
        if re.match(r"not ok \d+", line):
            print(f"{test['name']}: {line}")
            left, shown = 12, True
        elif line.startswith("#") and left:
            print(f"  {line}")
            left -= 1
        elif not line.startswith("#"):
            left = 0
    if not shown or test["result"] != "FAIL":
        print(f"{test['name']}: {test['result']}")


def main():
    path, status = sys.argv[1], int(sys.argv[2])
    passed = failed = skipped = 0
    try:
        with open(path, encoding="utf-8") as log:
            for line in log:
                test = json.loads(line)
                p, f, s = cases(test)
                if f:
                    show_failures(test)
                passed, failed, skipped = passed + p, failed + f, skipped + s
    except OSError as error:
        print(f"{path}: {error.strerror}: no test ran", file=sys.stderr)
        print("0 passed, 1 failed")
        return 1
    if not failed and (status or not passed):
        failed = 1
    tail = f", {skipped} skipped" if skipped else ""
    print(f"{passed} passed, {failed} failed{tail}")
    return 0 if passed and not failed else 1


sys.exit(main())
