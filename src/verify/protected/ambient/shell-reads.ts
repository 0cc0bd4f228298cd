// shell-reads: finds what a shell script decides by, though it was neither given it nor sets it:
// the place it runs in, the environment, a terminal, its parent, the clock. Pure.
//
// Invariants:
//   B1. Variables are not listed: every one that is written like one of the environment and that
//       the script does not set is ambient, but for those of the language.
//   B2. What only decides where something is read or written is no decision: `cd "$(dirname "$0")"`,
//       `mktemp -p "$TMPDIR"`, `[ -f "$root/package.json" ]`.

import {
  type Assignment,
  findAssignments,
  findFunctions,
  findWordEnd,
  maskShell,
} from "./shell-text.ts";

/** `root`: the variable or command; `isPlace`: a path, which a question about a file may begin with. */
export type ShellRead = {
  readonly root: string;
  readonly shown: string;
  readonly isPlace: boolean;
};
/** What a script's own names stand for, and the names that it sets. */
type Names = {
  readonly set: ReadonlySet<string>;
  readonly functions: ReadonlySet<string>;
  readonly ambient: ReadonlyMap<string, ShellRead>;
};

/** Variables that the language itself sets, and those that say which system it is. */
const pureVariables =
  /^(?:IFS|OPT(?:ARG|IND|ERR)|REPLY|LINENO|PIPESTATUS|BASH|BASH_(?:REMATCH|VERSION|VERSINFO|ALIASES|CMDS)|(?:ZSH|KSH)_VERSION|(?:OS|MACH|HOST)TYPE|FUNCNAME|RANDOM|SRANDOM|COMP_\w+|COMPREPLY|_)$/;
const environmentName = /^(?:[A-Z_][A-Z\d_]*|(?:npm|https?|no)_\w+)$/;
const placeName = /^(?:PWD|OLDPWD|HOME|TMPDIR|TEMP|TMP|XDG_\w+|0|BASH_SOURCE)$/;
const expansion = /\$(?:\{[#!]?([A-Za-z_]\w*|[0-])|([A-Za-z_]\w*|[0-](?!\w)))/g;

/**
 * Programs that tell who runs the script, where and when: a list. One that is given something else
 * of the script's is asked about that.
 */
const askingPrograms =
  "pwd|date|tty|ps|pgrep|pidof|pstree|who|whoami|w|id|groups|logname|users|hostname|hostnamectl|hostid|uptime|nproc|getconf|env(?=[ \\t]*(?:[|;&)]|$))|printenv|locale|ulimit|umask|stty|tput|caller|jobs|times|lsof|fuser|df|mount|free|last|systemd-detect-virt|loginctl|tmux|screen|history|shopt|compgen|declare[ \\t]+-[px]|export[ \\t]+-p|set(?=[ \\t]*\\|)|kill[ \\t]+-0|mktemp[ \\t]+(?:-\\w*u|--dry-run)|readlink[^;|&\\n)]*/proc/|(?:readlink|realpath|stat|ls)(?:[ \\t]+-\\S+)*[ \\t]+\\.(?=[ \\t\\n;|&)]|$)";
const commandStart = String.raw`(?:^|[;&|(\x60!]|\{(?=\s)|\$\(|\b(?:if|elif|while|until|then|do|else|exec|command|builtin)\b)[ \t]*(?:[A-Za-z_]\w*=\S*[ \t]+)*(?:\S*/)?`;
const asking = new RegExp(
  String.raw`${commandStart}(${askingPrograms})(?=[\s;|&)\x60]|$)([^;|&\n)\x60]*)`,
  "gm",
);
const isPlaceProgram = /^(?:pwd|mktemp|readlink|realpath)\b/;

/** What a part of a script reads of the world. */
function findReads(part: string, names: Names): readonly ShellRead[] {
  const reads: ShellRead[] = [];
  for (const [, braced, plain] of part.matchAll(expansion)) {
    const name = braced ?? plain ?? "";
    const known = names.ambient.get(name);
    if (known !== undefined) reads.push(known);
    else if (isAmbientName(name, names))
      reads.push({ root: name, shown: `$${name}`, isPlace: placeName.test(name) });
  }

  for (const { 1: program = "", 2: words = "" } of part.matchAll(asking)) {
    if (names.functions.has(program)) continue;
    const isGiven =
      (/\$(?!\()/.test(words) && findReads(words, names).length === 0) ||
      (program === "date" && /\d{4}-\d/.test(words));
    const isGone =
      program === "pwd" &&
      [...part.matchAll(/\bcd[ \t]+(?:-\S+[ \t]+)*/g)].some((gone) => {
        const from = gone.index + gone[0].length;
        const target = part.slice(from, findWordEnd(part, from));
        return target.includes("$") && findReads(target, names).length === 0;
      });
    if (isGiven || isGone) continue;
    const shown = `${program}${words.replace(/[12]?>.*/s, "")}`.trim().replaceAll(/\s+/g, " ");
    const root = program.split(/\s/)[0] ?? program;
    reads.push({ root, shown, isPlace: isPlaceProgram.test(program) });
  }

  for (const [, name = ""] of part.matchAll(/(?:\$\(|`)[ \t]*([A-Za-z_][\w-]*)[ \t]*[)`|]/g)) {
    const known = names.ambient.get(`${name}()`);
    if (known !== undefined) reads.push(known);
  }

  return reads;
}

const isAmbientName = (name: string, { set }: Names): boolean =>
  name === "-" ||
  name === "0" ||
  name === "BASH_SOURCE" ||
  (environmentName.test(name) && !pureVariables.test(name) && !set.has(name));

/** A value that the caller gave: `${1:-$PWD}`. */
const isGivenFirst = (value: string): boolean => /^"?\$\{?[1-9@*]/.test(value);

function readNames(code: string): Names {
  const assignments = findAssignments(code);
  const ambient = new Map<string, ShellRead>();
  /** `TMPDIR=${TMPDIR:-/tmp}` sets it to what it was. */
  const isOwnValue = ({ name, value }: Assignment): boolean =>
    new RegExp(String.raw`\$\{?${name}\b`).test(value);
  const set = new Set(
    assignments
      .filter((one) => !isOwnValue(one) || !environmentName.test(one.name))
      .map(({ name }) => name),
  );
  const functions = findFunctions(code);
  const names = { set, ambient, functions: new Set(functions.map(({ name }) => name)) };

  for (let round = 0; round < 4; round += 1) {
    const before = ambient.size;
    for (const { name, value } of assignments) {
      const [read] = isGivenFirst(value) ? [] : findReads(value, names);
      if (read !== undefined && !ambient.has(name)) ambient.set(name, read);
    }

    for (const { name, body } of functions) {
      const printed = body.match(/\b(?:echo|printf|cat|print)\b[^;\n]*/g)?.join("\n") ?? "";
      const bare = body.replaceAll(/\$\([^()]*(?:\([^()]*\)[^()]*)*\)/g, "");
      const [read] = [...findReads(printed, names), ...findReads(bare.replaceAll("$", ""), names)];
      if (read !== undefined && !ambient.has(`${name}()`)) ambient.set(`${name}()`, read);
    }

    if (ambient.size === before) break;
  }

  return names;
}

/** What a shell script decides by that it was not given. */
export function findShellReads(text: string): readonly ShellRead[] {
  const code = maskShell(text).replaceAll(/\(\([^\n]*?\)\)/g, (arithmetic) =>
    nameVariables(arithmetic),
  );
  const names = readNames(code);
  const reads = [
    ...findTests(code).flatMap((test) => findTested(test, names)),
    ...findCases(code).flatMap((part) => findReads(part, names)),
    ...findConditions(code).flatMap((part) => findReads(part, names).filter(decidesIn(part))),
    ...[...code.matchAll(/\$\{[A-Za-z_]\w*:?\+/g)].flatMap(([part]) => findReads(part, names)),
    ...[...text.matchAll(/\bENVIRON\s*\[["']?(\w+)[^\]\n]*\]|\bsystime\(\)/g)].map(
      ([shown, name = "systime"]) => ({ root: name, shown, isPlace: false }),
    ),
  ];

  return [...new Map(reads.map((read) => [read.shown, read])).values()];
}

/** The variables in `(( … ))`, which need no sign there, with one. */
const nameVariables = (part: string): string =>
  part.replaceAll(/(?<![\w${}%(-])([A-Za-z_]\w+)\b|(?<=\(\()([A-Za-z_]\w+)\b/g, "$$$1$2");

/** `[ … ]`, `[[ … ]]`, `test …`, and a comparison in `(( … ))`. */
function findTests(code: string): readonly string[] {
  const bracket = /(?<=^|[\s;&|(!])\[\[?[ \t](?:[^\n]|\\\n)*?[ \t]\]\]?(?=[\s;&|)]|$)/gm;
  const word = /(?<=(?:^|[;&|(!]|\b(?:if|elif|while|until|then|do)\b)[ \t]*)test[ \t]+[^;&|\n]*/gm;
  const compares = /[<>]|[=!]=|%|\?|&&|\|\|/;

  return [
    ...(code.match(bracket) ?? []),
    ...(code.match(word) ?? []),
    ...(code.match(/\(\([^\n]*?\)\)/g) ?? []).filter((part) => compares.test(part)),
  ];
}

const option = String.raw`(?<=^|[\s[(!])-`;
const asksTerminal = new RegExp(String.raw`${option}(?:t[ \t]+"?[\w$]+|p[ \t]+"?/dev/[\w/]+)`);
const asksFile = new RegExp(String.raw`${option}[a-mo-su-yA-Z][ \t]+["'$]`);
const asksLength = new RegExp(String.raw`${option}[nz][ \t]`);
/** A path that is no part of the project. */
const asksElsewhere = new RegExp(
  String.raw`${option}[a-mo-su-yA-Z][ \t]+(?!["']?/(?:dev|tmp)/?["'\s])["']?/[\w.][^\s"'$]*(?=["'\s])`,
);
const comparesRoot =
  /(?<=[=!]=?[ \t]+)["']?\/?["']?(?=[ \t]*\])|(?<=\[[ \t])["']?\/["']?(?=[ \t]+[=!])/;

/** What one test reads (B2). */
function findTested(test: string, names: Names): readonly ShellRead[] {
  if (test.includes("BASH_SOURCE") && /\$\{?0/.test(test)) return []; // whether it is sourced
  const questions = test.split(test.startsWith("[[") ? / (?:&&|\|\|) / : / -[ao] /);
  return questions.flatMap((question): readonly ShellRead[] => {
    const asked = asksTerminal.exec(question)?.[0] ?? asksElsewhere.exec(question)?.[0];
    if (asked !== undefined)
      return [{ root: asked, shown: asked.replaceAll(/["']/g, ""), isPlace: false }];
    const isOfPlace = asksFile.test(question) || comparesRoot.test(question);
    /** A variable of the script's own that is never empty. */
    const isFull = ({ shown }: ShellRead): boolean =>
      asksLength.test(question) && !question.includes(shown.replace("$", ""));

    return findReads(question, names).filter(
      (read) => !(isOfPlace && read.isPlace) && !isFull(read),
    );
  });
}

/** The words that `case` looks at, with its patterns. */
const findCases = (code: string): readonly string[] =>
  [...code.matchAll(/(?:^|[\s;&|(])case[ \t]+/gm)].map(({ 0: head, index }) => {
    const from = index + head.length;
    const to = findWordEnd(code, from);
    const inner = /^[\s\S]*?(?=[\s;]esac\b)/.exec(code.slice(to))?.[0] ?? "";
    const patterns = inner.matchAll(/(?:^\s*in\b|;;&?|;&)\s*\(?((?:\$\([^()]*\)|[^\n;)])*)\)/g);
    return [
      code.slice(from, to),
      ...[...patterns].map(([, pattern = ""]) => pattern.replaceAll("|", ",")),
    ].join(",");
  });

/** Commands whose success something depends on, and those that read another's output. */
function findConditions(code: string): readonly string[] {
  const lists = [
    ...code.matchAll(/(?:^|[\s;&|(])(?:if|elif|while|until)[ \t]+((?:[^\n;]|\\\n)*)/gm),
    ...code.matchAll(/(?:^|[;{(]|\b(?:then|do|else)\b)([^\n;]*?)(?=&&|\|\|)/gm),
    ...code.matchAll(/^([^\n;]*\|[ \t]*(?:while|read|xargs)\b[^\n;]*)/gm),
  ].map(([, list = ""]) => list.trim());

  return lists
    .flatMap((list) => list.split(/&&|\|\|/))
    .filter((part) => !/(?:^|[\s!])(?:\[|test\b|\(\(|case\b)/.test(part));
}

const filters = /(?<![\w-])(?:[ef]?grep|expr|awk|cmp|diff|read|xargs)\b/;
/** A filter's success depends on all that it reads, that of a program that asks on itself. */
const decidesIn =
  (part: string) =>
  ({ root, shown }: ShellRead): boolean =>
    filters.test(part) ||
    (!shown.startsWith("$") &&
      part.replace(/^[\s!]+/, "").split(/\s/)[0] === root &&
      root !== "pwd");
