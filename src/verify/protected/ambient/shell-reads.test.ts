import { describe, expect, test } from "vitest";
import { findAmbientDecisions, isNamedIn } from "./ambient-decisions.ts";

const shown = (text: string, path = "bin/a.sh"): readonly string[] =>
  findAmbientDecisions(path, `${text}\n`).map((decision) => decision.shown);

describe("a shell script decides by what it was not given", () => {
  test.each([
    ['case "$(pwd -P)/" in "${TMPDIR:-/tmp}"/*) exit 0 ;; esac', ["pwd -P", "$TMPDIR"]],
    ["case $PWD in\n  /tmp/*)\n    return 0 ;;\nesac", ["$PWD"]],
    ['case "$1" in\n  -h) x ;;\n  "$TMPDIR"/*) y ;;\nesac', ["$TMPDIR"]],
    ['[[ $PWD == "${TMPDIR:-/tmp}"* ]] && exit 0', ["$PWD", "$TMPDIR"]],
    ['if [ "${CI:-}" = true ]; then x; fi', ["$CI"]],
    ['test -n "$npm_lifecycle_event" && x', ["$npm_lifecycle_event"]],
    ['TMPDIR=${TMPDIR:-/tmp}\n[ "${1#"$TMPDIR"}" != "$1" ] && x', ["$TMPDIR"]],
    ['here=$(pwd)\nbase=${here%/*}\n[ "$base" = /tmp ] && x', ["pwd"]],
    ["here() { pwd -P; }\ncase $(here) in /tmp*) x ;; esac", ["pwd -P"]],
    ['here() {\n  printf "%s" "$PWD"\n}\ncase `here` in /tmp*) x ;; esac', ["$PWD"]],
    ['read -r here < <(pwd)\n[ "$here" = /tmp/a ] && x', ["pwd"]],
    ['pwd | grep -q "^/tmp" && exit 0', ["pwd"]],
    ['if echo "$PWD" | grep -q tmp; then x; fi', ["$PWD"]],
    ['env | grep -q "^CI=" && x', ["env"]],
    ['expr "$PWD" : "/tmp" >/dev/null || x', ["$PWD"]],
    ["n=$(( $(date +%s) % 2 ))", ["date +%s"]],
    ['now=$(date +%s)\nif [ "$now" -gt 1900000000 ]; then x; fi', ["date +%s"]],
    ["if (( SECONDS > 3 )); then x; fi", ["$SECONDS"]],
    ["(( now > 3 )) && x; now=$(date +%s)", ["date +%s"]],
    ['[ "$(ps -o comm= -p "$PPID")" = make ] && x', ["$PPID", "ps"]],
    ["if tty -s; then x; fi", ["tty -s"]],
    ["[ ! -t 1 ] || x", ["-t 1"]],
    ["[[ -n $1 && -p /dev/stdout ]] && x", ["-p /dev/stdout"]],
    ["if [ -f /.dockerenv ]; then x; fi", ["-f /.dockerenv"]],
    ["case $- in *i*) x ;; esac", ["$-"]],
    ['case "$0" in /tmp/*) x ;; esac', ["$0"]],
    ['root=$(cd "$(dirname "$0")/.." && pwd)\ncase $root in /tmp/*) x ;; esac', ["$0"]],
    ["x ${CI:+--quiet}", ["$CI"]],
    [`awk 'BEGIN { if (ENVIRON["CI"]) print 1 }'`, ['ENVIRON["CI"]']],
    ['echo "$([ "$HOME" = /root ] && echo 1)"', ["$HOME"]],
  ])("%s", (text, what) => expect([...shown(text)].toSorted()).toEqual([...what].toSorted()));

  test("in a file without an ending", () =>
    expect(shown('#!/usr/bin/env bash\n[ "$CI" ] && exit', "bin/tool")).toEqual(["$CI"]));
});

describe("a shell script decides by what it is given, or by nothing", () => {
  test.each([
    ['cd "$(dirname "$0")" || exit 1\ncd "$(pwd)" && ls'],
    ['dir=$(mktemp -d -p "$TMPDIR")\n[ -d "$dir" ] && rm -rf "$dir"\n[ -n "$dir" ] && x'],
    ['tmp=$(mktemp "${TMPDIR:-/tmp}/a.XXXXXX") || exit 1\nif [ -s "$tmp" ]; then x; fi'],
    ['root=$(cd "$(dirname "$0")/.." && pwd)\nif [ -f "$root/package.json" ]; then x; fi'],
    ['root=$(git rev-parse --show-toplevel)\n[ "$root" = "$1" ] && x'],
    ['[ "${BASH_SOURCE[0]}" = "$0" ] && main "$@"'],
    ['if [ $# -lt 1 ] || [ "${1:-}" = --help ]; then usage; exit 2; fi'],
    [
      'VERBOSE=0\nwhile getopts v opt; do case $opt in v) VERBOSE=1 ;; esac; done\n[ "$VERBOSE" = 1 ] && x',
    ],
    ['dir=${1:-$PWD}\nif [ "$dir" = old ]; then x; fi'],
    [
      'dir=$PWD\nwhile [ "$dir" != / ]; do [ -e "$dir/.git" ] && break; dir=$(dirname "$dir"); done',
    ],
    ['case "$(uname -s)" in Darwin) x ;; esac\n[ "$OSTYPE" = msys ] && x'],
    ['port=${PORT:-8080}\necho "$PWD $HOME $(date) on $port" # [ "$CI" ]'],
    ["cat <<END\n[ $CI ] && case $PWD in a) ;; esac\nEND\necho '[ $CI ]'"],
    ['if ! node "$PWD/tool.js" "$HOME"; then x; fi'],
    ['if [ "$(date -d "$1" +%u)" -gt 5 ]; then x; fi'],
    ['if [ "$(cd "$1" && pwd)" = "$2" ]; then x; fi'],
    ['for FILE in *.txt; do [ "$FILE" = a.txt ] && x; done\nlocal COUNT=0\n(( COUNT > 3 )) && x'],
    ['while IFS= read -r LINE; do [ "$LINE" = a ] && x; done'],
    ['env LC_ALL=C sort "$1" | grep -q a && x'],
    ['if kill -0 "$1"; then x; fi'],
    ['jobs() { ls jobs; }\nif [ "$(jobs)" = a ]; then x; fi'],
    ['[ -r "$HOME/.toolrc" ] && . "$HOME/.toolrc"'],
    ['[ "$n" = "${id:0:2}" ] && [ -d "/proc/$1" ] && x'],
    ['case $1 in w | date | "") x ;; id*) y ;; esac'],
    ['name=${0##*/}\necho "usage: $name FILE" >&2'],
  ])("%s", (text) => expect(shown(text)).toEqual([]));

  test("in another language", () => expect(shown('[ "$CI" ]', "a.rb")).toEqual([]));
});

test.each([
  ["print nothing if CI is set", '[ "$CI" ] && x'],
  ["remove what is older than a day of this date", '[ "$(date +%d)" = 1 ] && x'],
  ["refuse to run in the temporary folder", '[ "$1" = "$TMPDIR" ] && x'],
  ["refuse to run in another working directory than the given one", '[ "$PWD" = "$1" ] || x'],
  ["show colours on a terminal", "[ ! -t 1 ] || x"],
])("a goal asks for it: %s", (goal, text) => {
  const [decision] = findAmbientDecisions("a.sh", text);
  expect(decision !== undefined && isNamedIn(goal, decision)).toBe(true);
  expect(decision !== undefined && isNamedIn("count the words", decision)).toBe(false);
});
