#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One report of a run of the suite: an HTML page that needs nothing else, JUnit
XML, JSON.

Runs `pmulab check` against every golden and `pmulab explain` on every scenario.
Exit status: 0 all that was checked passed, 1 something failed, 2 usage, input or
output.

example: tools/report.py --html report.html --junit junit.xml
"""
import argparse
import base64
import difflib
import json
import os
import re
import subprocess
import sys
import zlib
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor

EVENTS = 20_000  # of a run, in the page
ALL_RUNS = 3_500_000  # bytes of all of them, packed
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SIDE_LINES = 150  # of a diff's two sides, in the page
RESULT = re.compile(r"(PASS|FAIL|SKIP|DEVIATES)(?:\((.*?)\))? (\S+?): (.*)$")


class Bad(Exception):
    """Said in one line; exit status 2."""


def command(*words, may_differ=False):
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Bad(f"{words[0]}: {error.strerror}") from error
    if done.returncode not in ((0, 1) if may_differ else (0,)):
        said = done.stderr.strip().splitlines()
        raise Bad(said[-1] if said else f"{' '.join(words)}: exit status {done.returncode}")
    return done.stdout


def progress(what):
    """For who waits at a terminal: what takes its time."""
    if sys.stderr.isatty():
        print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)


# ---- results

def parse_check(text, golden, profile):
    """`pmulab check`'s lines: differences stand before the result they belong to."""
    results, lines = [], {}
    for line in text.splitlines():
        match = RESULT.match(line)
        if match:
            word, reason, scenario, detail = match.groups()
            results.append({"scenario": scenario, "golden": golden, "profile": profile,
                            "result": word, "detail": detail, "reason": reason or "",
                            "lines": lines.pop(scenario, [])})
        elif re.match(r"[\w.-]+: ", line):
            lines.setdefault(line.split(":")[0], []).append(line)
    return results


def profile_of(golden, profiles):
    """The profile that a golden's name begins with."""
    fitting = [p for p in profiles if golden == p or golden.startswith(p + "-")]
    return max(fitting, key=len) if fitting else None


def check_all(args, profiles):
    results = []
    try:
        goldens = sorted(os.listdir(os.path.join(args.corpus, "golden")))
    except OSError as error:
        raise Bad(f"{error.filename}: {error.strerror}") from error
    for unknown in set(args.golden) - set(goldens):
        raise Bad(f"no such golden: {unknown}")
    for golden in goldens:
        profile = profile_of(golden, profiles)
        if not profile or (args.golden and golden not in args.golden):
            continue
        # What only one machine could record has no golden elsewhere.
        wanted = [name for name in args.scenarios if golden in profiles or os.path.exists(
            os.path.join(args.corpus, "golden", golden, name + ".golden"))]
        if args.scenarios and not wanted:
            continue
        progress(f"check against {golden}")
        text = command(args.pmulab, "check", "--golden", golden, *wanted,
                       may_differ=True)
        checked = parse_check(text, golden, profile)
        if golden not in profiles:
            checked = [r for r in checked
                       if r["result"] != "SKIP" or not r["detail"].startswith("no golden of ")]
        results += checked
    for profile in profiles:  # those that are no Linux: against the first golden
        if not args.golden and not any(profile_of(g, profiles) == profile for g in goldens):
            text = command(args.pmulab, "check", "--profile", profile, "--golden", goldens[0],
                           *args.scenarios, may_differ=True)
            results += parse_check(text, f"{profile} vs {goldens[0]}", profile)
    if not results:
        raise Bad("nothing was checked")
    return results


# ---- what the page shows

def body_of(text):
    """A trace without its header."""
    lines = text.splitlines()
    return lines[lines.index("---") + 1:] if "---" in lines else lines


def side_by_side(golden, run):
    rows = []
    matcher = difflib.SequenceMatcher(None, golden, run, autojunk=False) \
        if len(golden) != len(run) else None
    blocks = matcher.get_opcodes() if matcher else [("replace", 0, len(golden), 0, len(run))]
    for tag, g0, g1, r0, r1 in blocks:
        if tag == "equal":
            rows += golden[g0:g1]
            continue
        for i in range(max(g1 - g0, r1 - r0)):
            g = golden[g0 + i] if g0 + i < g1 else None
            r = run[r0 + i] if r0 + i < r1 else None
            rows.append(g if g == r else [g, r])
    return rows


def around_differences(rows):
    """SIDE_LINES of them, with the first difference among them."""
    first = next((i for i, row in enumerate(rows) if isinstance(row, list)), 0)
    start = max(0, min(first - 5, len(rows) - SIDE_LINES))
    return rows[start:start + SIDE_LINES]


def in_parallel(function, items):
    """[function(item)]; the work is that of other programs."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


def add_diffs(args, results):
    progress("both sides of each result")
    diffs, known, compared = [], {}, []
    for result in results:
        result["diff"] = None
        folder = result["golden"].rpartition(" vs ")[2]
        path = os.path.join(args.corpus, "golden", folder, result["scenario"] + ".golden")
        if os.path.exists(path):
            compared.append((result, path))
    who = list(dict.fromkeys((r["scenario"], r["profile"]) for r, _ in compared))
    runs = dict(zip(who, in_parallel(
        lambda w: body_of(command(args.pmulab, "run", w[0], "--profile", w[1],
                                  may_differ=True)), who)))
    for result, path in compared:
        with open(path, encoding="ascii") as file:
            rows = side_by_side(body_of(file.read()),
                                runs[result["scenario"], result["profile"]])
        shown = around_differences(rows)
        key = json.dumps(shown)
        if key not in known:
            known[key] = len(diffs)
            diffs.append({"rows": shown, "more": len(rows) - len(shown)})
        result["diff"] = known[key]
    return diffs


def packed(value):
    """What the page's unpack() unpacks."""
    text = json.dumps(value, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def fair_share(sizes, total):
    """What each may have at most, where the small ones leave their rest to the large."""
    for taken, size in enumerate(sorted(sizes)):
        share = total // (len(sizes) - taken)
        if size > share:
            return share
        total -= size
    return max(sizes)


def columns(large):
    """The same by column, which packs better; cycles as differences."""
    cycle, kind, step, args, changes, *cpu = map(list, zip(*large["events"]))
    return {**large, "events": {
        "cycle": [now - before for now, before in zip(cycle, [0] + cycle)], "kind": kind,
        "step": step, "args": args, "changes": changes, "cpu": cpu[0] if cpu else None}}


def window(large, events):
    """That many events: from the beginning, or where no overflow would be among them,
    from shortly before the first one."""
    stories_ = large["stories"]
    first = 0
    if stories_ and stories_[0]["last"] >= events:
        first = max(0, min(stories_[0]["first"] - events // 4, len(large["events"]) - events))
    kept = [list(event) for event in large["events"][first:first + events]]
    # what all registers hold there
    held = dict(change.split("=") for event in large["events"][:first + 1] if event[4]
                for change in event[4].split(","))
    kept[0][4] = ",".join(f"{reg}={value}" for reg, value in held.items())
    moved = [{**s, "first": s["first"] - first, "last": s["last"] - first,
              "lines": [[line[0] - first, *line[1:]] for line in s["lines"]]}
             for s in stories_ if first <= s["first"] and s["last"] < first + events]
    return {**large, "events": kept, "stories": moved, "from": first}


def cut(large, size):
    """A run, or as much of it as packs into about that many bytes."""
    whole, events = packed(columns(large)), len(large["events"])
    text = whole
    while len(text) > size and events > 1:
        events = max(1, int(events * min(0.95, size / len(text))))
        text = packed(columns(window(large, events)))
    return text


def stories(args, names, profile):
    """Each run's totals; its events and stories packed, for when it is looked at."""
    progress("the stories")
    large = []
    runs = in_parallel(lambda name: json.loads(command(
        args.pmulab, "explain", name, "--profile", profile, "--json", "--first",
        str(args.events))), names)
    for run in runs:
        large.append({key: run.pop(key) for key in ("steps", "registers", "events", "stories")})
        large[-1]["from"] = 0
        for n, story in enumerate(large[-1]["stories"], 1):
            story["n"] = n
    share = fair_share(in_parallel(lambda run: len(packed(columns(run))), large), ALL_RUNS)
    for run, packed_ in zip(runs, in_parallel(lambda run: cut(run, share), large)):
        run["packed"] = packed_
    return runs


def deviations(results):
    return [{"profile": r["profile"], "scenario": r["scenario"], "name": r["reason"] or "-",
             "text": r["detail"]} for r in results if r["result"] == "DEVIATES"]


def html(args, names, results, profile):
    with open(os.path.join(HERE, "report.html"), encoding="utf-8") as file:
        page = file.read()
    diffs = add_diffs(args, results)
    data = {"runs": stories(args, names, profile), "results": results, "diffs": packed(diffs),
            "deviations": deviations(results), "first": args.first}
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True).replace("</", "<\\/")
    before, after = page.split("@DATA@")
    return before + text + after


# ---- for programs

def totals(results):
    count = {}
    for result in results:
        count[result["result"]] = count.get(result["result"], 0) + 1
    return count


def as_json(results):
    keep = ("scenario", "golden", "profile", "result", "reason", "detail", "lines")
    return json.dumps({"version": 1, "totals": totals(results),
                       "results": [{k: r[k] for k in keep} for r in results]}, indent=1) + "\n"


def junit(results):
    root = ET.Element("testsuites", name="pmulab")
    for golden in dict.fromkeys(r["golden"] for r in results):
        mine = [r for r in results if r["golden"] == golden]
        count = totals(mine)
        suite = ET.SubElement(root, "testsuite", name=golden, tests=str(len(mine)),
                              failures=str(count.get("FAIL", 0)), errors="0",
                              skipped=str(count.get("SKIP", 0)))
        for result in mine:
            case = ET.SubElement(suite, "testcase", name=result["scenario"],
                                 classname=f"pmulab.{golden}")
            if result["result"] == "FAIL":
                ET.SubElement(case, "failure", message=result["detail"]).text = \
                    "\n".join(result["lines"])
            elif result["result"] == "SKIP":
                ET.SubElement(case, "skipped", message=result["reason"] or result["detail"])
            else:
                ET.SubElement(case, "system-out").text = \
                    f"{result['result']}: {result['detail']}"
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def is_special(path):
    """A device or a pipe is written to, never replaced."""
    return os.path.exists(path) and not os.path.isfile(path)


def write(texts):
    """{path: text}; all files appear whole, or none."""
    temporary = {path: path if is_special(path) else path + ".tmp" for path in texts}
    made = []
    try:
        for path, text in texts.items():
            with open(temporary[path], "w", encoding="utf-8") as file:
                made += [temporary[path]] if temporary[path] != path else []
                file.write(text)
        for path in texts:
            if temporary[path] != path:
                os.replace(temporary[path], os.path.realpath(path))
    except OSError as error:
        for left in filter(os.path.exists, made):
            os.unlink(left)
        raise Bad(f"{path}: {error.strerror}") from error


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Bad(message)


def arguments():
    parser = Parser(description=__doc__.split("\n\n")[0],
                    epilog="example: tools/report.py --html report.html")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="default: the corpus")
    parser.add_argument("--pmulab", default=os.path.join(ROOT, "build/tools/pmulab"))
    parser.add_argument("--corpus", default=os.environ.get("PMULAB_CORPUS",
                                                           os.path.join(ROOT, "corpus")))
    parser.add_argument("--golden", action="append", default=[], metavar="KERNEL",
                        help="against this one only (may be repeated; default: all)")
    parser.add_argument("--html", metavar="FILE", help="write the page there")
    parser.add_argument("--junit", metavar="FILE", help="write JUnit XML there")
    parser.add_argument("--json", metavar="FILE", help="write the results as JSON there")
    parser.add_argument("--events", type=int, metavar="N", default=EVENTS,
                        help="events of each run that the page holds at most (default "
                        "%(default)s; fewer of the longest, so that the page stays below 5 MB)")
    parser.add_argument("--first", default="cycles-nine-fields", metavar="SCENARIO",
                        help="the scenario that the page opens with")
    args = parser.parse_args()
    if not (args.html or args.junit or args.json):
        parser.error("what to write? --html, --junit or --json FILE")
    if args.events < 1:
        parser.error("--events: at least 1")
    paths = [os.path.realpath(path) for path in (args.html, args.junit, args.json) if path]
    if len(set(paths)) < len(paths):
        parser.error("--html, --junit and --json: one file for two of them")
    return args


def main():
    args = arguments()
    names = args.scenarios or [line.split()[0] for line in
                               command(args.pmulab, "scenarios").splitlines()]
    profiles = [line.split()[0] for line in command(args.pmulab, "profiles").splitlines()]
    if not args.scenarios and args.first not in names:
        raise Bad(f"--first: no such scenario: {args.first}")
    results = check_all(args, profiles)
    texts = {}
    if args.html:
        # the runs are those of the kernel asked for
        profile = profile_of(args.golden[0], profiles) if args.golden else profiles[0]
        texts[args.html] = html(args, names, results, profile)
    if args.junit:
        texts[args.junit] = junit(results)
    if args.json:
        texts[args.json] = as_json(results)
    write(texts)
    progress("")
    count = totals(results)
    print(", ".join(f"{n} {word}" for word, n in count.items()))
    return 1 if count.get("FAIL") else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Bad as error:
        print(f"report.py: {error}", file=sys.stderr)
        sys.exit(2)
