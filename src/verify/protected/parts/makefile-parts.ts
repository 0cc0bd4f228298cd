// makefile-parts: extracts the protected parts of a makefile: the rules that checks run, with their
// prerequisites and the variables they use, and the settings of every rule. Work that changes one of
// them has changed what judges it (judge.ts).

import { oneOf } from "../../../kit/compose-pattern.ts";
import { isSubsequence } from "../../../kit/is-subsequence.ts";
import type { CommandSet } from "../command-set.ts";
import { type Makefile, parseMakefile } from "./parse-makefile.ts";
import { testTargetName } from "./part-patterns.ts";
import type { ProtectedParts } from "./protected-parts.ts";

const targetPrefix = "target ";
const variablePrefix = "variable ";
const globalSettings = "how rules are run";

const globalSettingForms = [
  // `SHELL = /bin/true`
  String.raw`^\s*(?:export\s+|override\s+)*(?:SHELL|\.SHELLFLAGS|MAKEFLAGS|PATH)\s*[:?+]?=`,
  // `-include common.mk`
  String.raw`^\s*-?s?include\b`,
  // `.IGNORE: test`
  String.raw`^\.(?:IGNORE|ONESHELL|SILENT|DEFAULT|POSIX)\b`,
];
/** Lines that change how every rule is run. */
const globalSettingLine = new RegExp(globalSettingForms.join("|"));

/** Targets that are never part of a check. */
const otherTarget = new RegExp(
  String.raw`^${oneOf(String.raw`\.PHONY clean distclean docs? install uninstall deploy publish
    release help run serve start dev fmt format`)}\b`,
);

export function extractMakefileParts(text: string, commandSet: CommandSet): ProtectedParts {
  const { rules, variables } = parseMakefile(text);
  const requestedTargets = findRequestedTargets(commandSet);
  const checkTargets = [...rules.keys()].filter(
    (target) => testTargetName.test(target) || requestedTargets.includes(target),
  );

  const reachedRules = followPrerequisites(rules, checkTargets);
  const usedVariables = followVariables(variables, reachedRules.values());
  return toProtectedParts(reachedRules, usedVariables, text);
}

/** Every rule of an included makefile may be part of a check, except for those that never are. */
export function extractIncludedMakefileParts(text: string): ProtectedParts {
  const { rules, variables } = parseMakefile(text);
  const checkRules = new Map<string, string>();
  for (const [target, rule] of rules) {
    if (!otherTarget.test(target)) checkRules.set(target, rule.text);
  }

  const defined = [...text.matchAll(definition)].map(
    ([, name = "", body = ""]) => [name, body] as const,
  );
  return toProtectedParts(checkRules, new Map([...variables, ...defined]), text);
}
/** `define NAME`, and its lines. */
const definition =
  /^[ \t]*(?:override[ \t]+|export[ \t]+)*define[ \t]+([\w.-]+)[^\n]*\n([\s\S]*?)^[ \t]*endef\b/gm;

/** The texts of these targets' rules, and of all that they need or make in turn. */
function followPrerequisites(
  rules: Makefile["rules"],
  targets: readonly string[],
): ReadonlyMap<string, string> {
  const reached = new Map<string, string>();
  const queue = [...targets];

  for (let target = queue.pop(); target !== undefined; target = queue.pop()) {
    const rule = rules.get(target);
    if (rule === undefined || reached.has(target)) continue;

    reached.set(target, rule.text);
    for (const prerequisite of rule.prerequisites) queue.push(prerequisite);
    for (const [, madeTarget = ""] of rule.text.matchAll(/\$[({]MAKE[)}]\s+([\w.:-]+)/g)) {
      queue.push(madeTarget);
    }
  }

  return reached;
}

/** The variables that these texts use, and those that they use in turn. */
function followVariables(
  variables: Makefile["variables"],
  texts: Iterable<string>,
): ReadonlyMap<string, string> {
  const used = new Map<string, string>();
  const queue = [...texts];

  for (let text = queue.pop(); text !== undefined; text = queue.pop()) {
    for (const [, name = ""] of text.matchAll(/\$[({]?([\w.-]+)/g)) {
      const value = variables.get(name);
      if (value === undefined || used.has(name)) continue;
      used.set(name, value);
      queue.push(value);
    }
  }

  return used;
}

function toProtectedParts(
  rules: ReadonlyMap<string, string>,
  variables: ReadonlyMap<string, string>,
  makefile: string,
): ProtectedParts {
  const parts: Record<string, string> = {};
  for (const [target, text] of rules) parts[`${targetPrefix}${target}`] = text;
  for (const [name, value] of variables) parts[`${variablePrefix}${name}`] = value;

  const globalLines = makefile.split("\n").filter((line) => globalSettingLine.test(line));
  if (globalLines.length > 0) parts[globalSettings] = globalLines.join("\n");
  return parts;
}

/**
 * Whether a new part replaces something: a setting, a variable that something there uses, or a rule
 * that an included file may have.
 */
export function isOverriding(
  partName: string,
  before: ProtectedParts,
  after: ProtectedParts,
): boolean {
  const includesOthers = /\binclude\b/.test(before[globalSettings] ?? "");
  if (partName.startsWith(targetPrefix)) {
    return includesOthers && testTargetName.test(partName.slice(targetPrefix.length));
  }

  if (!partName.startsWith(variablePrefix) || includesOthers) return true;
  const name = partName.slice(variablePrefix.length);
  return isUsed(name, before) || isKnownVariable(name, after[partName] ?? "");
}

/** A variable is none: a word more in CFLAGS may take assertions out. */
export const isRule = (partName: string): boolean => partName.startsWith(targetPrefix);

/** Whether a rule has all its prerequisites and all lines of its recipe, in order. */
export function extendsRule(before: string, after: string): boolean {
  const [head = "", ...lines] = before.split("\n");
  const [headNow = "", ...linesNow] = after.split("\n");
  return (
    before !== "" &&
    isSubsequence(splitWords(head), splitWords(headNow)) &&
    isSubsequence(lines, linesNow)
  );
}

const splitWords = (text: string): readonly string[] => text.match(/\S+/g) ?? [];

/** Whether these parts use a variable, or may do so under a name that make computes. */
const isUsed = (name: string, parts: ProtectedParts): boolean =>
  Object.values(parts).some(
    (text) => text.split(/[^\w.-]+/).includes(name) || /\$[({](?:\$|call|eval)/.test(text),
  );

/** Whether make's own rules, or the commands that it starts, may go by a variable. */
const isKnownVariable = (name: string, lines: string): boolean =>
  /^\s*(?:export|override)\b/.test(lines) || ownVariable.test(name);
const ownVariable = new RegExp(
  String.raw`^(?:\..*|.*\..*|MAKE.*|GNUMAKEFLAGS|\w{0,8}FLAGS|LDLIBS|LOADLIBES|VPATH|SUFFIXES|OUTPUT_OPTION|TARGET_(?:ARCH|MACH)|${oneOf(
    String.raw`AR AS CC CO CPP CTANGLE CURDIR CWEAVE CXX F77 FC GET LD LEX LINT M2C OBJC PC RM TANGLE TEX
    TEXI2DVI WEAVE YACC SHELL PATH HOME USER LOGNAME LANG LC_\w+ TERM TMPDIR TZ PWD`,
  )})$`,
);

/**
 * The targets by which commands run checks, and their prerequisites, which are not files: with a
 * file or a folder of that name in the tree make would do nothing.
 */
export function findShadowableTargets(text: string, commandSet: CommandSet): readonly string[] {
  const { rules } = parseMakefile(text);
  const requestedTargets = findRequestedTargets(commandSet);
  const prerequisites = requestedTargets.flatMap(
    (target) => rules.get(target)?.prerequisites ?? [],
  );
  const checkTargets = new Set([
    ...requestedTargets,
    ...prerequisites.filter((target) => testTargetName.test(target)),
  ]);

  const phonyTargets = new Set(rules.get(".PHONY")?.prerequisites ?? []);
  return [...checkTargets].filter(
    (target) => /^[\w.-]+$/.test(target) && rules.has(target) && !phonyTargets.has(target),
  );
}

/** The words behind `make` in commands: `lint` and `test` of `make lint test`. */
export function findRequestedTargets({
  commands,
}: Pick<CommandSet, "commands">): readonly string[] {
  const calls = commands.flatMap((command) => [...command.matchAll(/\bmake\s+([^;&|]*)/g)]);
  return calls.flatMap(([, args = ""]) => args.split(/\s+/));
}
