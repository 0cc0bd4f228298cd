// deciding-make: extracts the parts of a makefile that decide what a check does: the rules that
// checks run, with their prerequisites, and the settings of every rule. Work that changes one of
// them has changed what judges it (judge.ts).

import type { DecidingParts, CommandSet } from "./command-set.ts";

/** Targets that test by their name, even if no command runs them. */
const judgingTarget =
  /^(?:tests?|unit|e2e|lint|check|verify|typecheck|ci|cov|coverage|build|all)(?:[:._-].*)?$/;
/** Lines that change how every rule is run: `SHELL = …`, `include …`, `.IGNORE:`. */
const globalSetting =
  /^\s*(?:export\s+|override\s+)*(?:SHELL|\.SHELLFLAGS|MAKEFLAGS|PATH)\s*[:?+]?=|^\s*-?s?include\b|^\.(?:IGNORE|ONESHELL|SILENT|DEFAULT|POSIX)\b/;

/** A rule for more targets than this makes the whole file decide. */
const targetsMax = 100;
type Rule = { readonly prerequisites: readonly string[]; readonly text: string };

export function extractMakeParts(text: string, commandSet: CommandSet): DecidingParts {
  const { rules, settings } = parseMakefile(text.replaceAll("\\\n", " "));
  const requestedTargets = findRequestedTargets(commandSet);
  const targets = [...rules.keys()].filter(
    (target) => judgingTarget.test(target) || requestedTargets.includes(target),
  );

  const reachedRules = followPrerequisites(rules, targets);
  const usedVariables = followVariables(settings, reachedRules.values());
  return toDecidingParts(reachedRules, usedVariables, text);
}

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
    for (const need of rule.prerequisites) queue.push(need);
    for (const [, submake = ""] of rule.text.matchAll(/\$[({]MAKE[)}]\s+([\w.:-]+)/g)) {
      queue.push(submake);
    }
  }

  return reached;
}

/** The settings that these texts use, and those that they use in turn. */
function followVariables(
  settings: Makefile["settings"],
  texts: Iterable<string>,
): ReadonlyMap<string, string> {
  const used = new Map<string, string>();
  const queue = [...texts];

  for (let text = queue.pop(); text !== undefined; text = queue.pop()) {
    for (const [, name = ""] of text.matchAll(/\$[({]?([\w.-]+)/g)) {
      const value = settings.get(name);
      if (value === undefined || used.has(name)) continue;
      used.set(name, value);
      queue.push(value);
    }
  }

  return used;
}

function toDecidingParts(
  rules: ReadonlyMap<string, string>,
  settings: ReadonlyMap<string, string>,
  makefile: string,
): DecidingParts {
  const parts: Record<string, string> = {};
  for (const [target, text] of rules) parts[`target ${target}`] = text;
  for (const [name, value] of settings) parts[`variable ${name}`] = value;

  const globalLines = makefile.split("\n").filter((line) => globalSetting.test(line));
  if (globalLines.length > 0) parts["how rules are run"] = globalLines.join("\n");
  return parts;
}

/** Targets that are never part of a check. */
const otherTarget =
  /^(?:\.PHONY|clean|distclean|docs?|install|uninstall|deploy|publish|release|help|run|serve|start|dev|fmt|format)\b/;

/** Every rule of an included makefile may be part of a check, except for those that never are. */
export function extractIncludedMakeParts(text: string): DecidingParts {
  const { rules, settings } = parseMakefile(text.replaceAll("\\\n", " "));
  const checkRules = new Map<string, string>();
  for (const [target, rule] of rules) {
    if (!otherTarget.test(target)) checkRules.set(target, rule.text);
  }

  return toDecidingParts(checkRules, settings, text);
}

/**
 * The targets by which commands run checks, and their prerequisites, which are not files: with a
 * file or a folder of that name in the tree make would do nothing.
 */
export function findShadowableTargets(text: string, commandSet: CommandSet): readonly string[] {
  const { rules } = parseMakefile(text.replaceAll("\\\n", " "));
  const requestedTargets = findRequestedTargets(commandSet);
  const prerequisites = requestedTargets
    .flatMap((target) => rules.get(target)?.prerequisites ?? [])
    .filter((target) => judgingTarget.test(target));
  const phony = new Set(rules.get(".PHONY")?.prerequisites ?? []);

  return [...new Set([...requestedTargets, ...prerequisites])].filter(
    (target) => /^[\w.-]+$/.test(target) && rules.has(target) && !phony.has(target),
  );
}

/** The words behind `make` in commands: `lint` and `test` of `make lint test`. */
const findRequestedTargets = ({ commands }: CommandSet): readonly string[] =>
  commands.flatMap((command) =>
    [...command.matchAll(/\bmake\s+([^;&|]*)/g)].flatMap(([, args = ""]) => args.split(/\s+/)),
  );

/** Whether a new entry replaces something: a setting, or a rule that an included file may have. */
export function isOverriding(name: string, before: DecidingParts): boolean {
  if (!name.startsWith("target ")) return true;

  const includesOthers = /\binclude\b/.test(before["how rules are run"] ?? "");
  return includesOthers && judgingTarget.test(name.slice("target ".length));
}

/** The files that makefiles include, as written. */
export function findIncludedFiles(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) =>
    text
      .split("\n")
      .flatMap((line) => /^\s*[-s]?include\s+([^#]*)/.exec(line)?.[1] ?? [])
      .flatMap((args) => args.replaceAll(/\$\(wildcard\s+([^()]*)\)/g, "$1").split(/\s+/))
      .filter((word) => word !== "" && !word.includes("$"))
      .map((word) => word.replace(/^\.\//, "")),
  );
}

type Makefile = {
  readonly rules: ReadonlyMap<string, Rule>;
  readonly settings: ReadonlyMap<string, string>;
};

/** `CC = gcc`, `export PATH := bin:$(PATH)`. */
const settingLine = /^\s*(?:export\s+|override\s+)*([\w.-]+)\s*(?:::?:?|\?|\+|!)?=(.*)$/;
/** `targets: prerequisites ; recipe`. */
const ruleLine = /^([^\s#=:][^#=:]*)::?(?!=)(.*)$/;

function parseMakefile(text: string): Makefile {
  const rules = new Map<string, Rule>();
  const settings = new Map<string, string>();
  let currentTargets: readonly string[] = [];

  /** Several rules for one target add up, as in make. */
  const extendRules = (prerequisites: readonly string[], addedText: string): void => {
    for (const target of currentTargets) {
      const earlier = rules.get(target) ?? { prerequisites: [], text: "" };
      rules.set(target, {
        prerequisites: [...earlier.prerequisites, ...prerequisites],
        text: `${earlier.text}${addedText}`,
      });
    }
  };

  for (const line of text.split("\n")) {
    if (line.startsWith("\t")) {
      extendRules([], `\n${line.trim()}`);
      continue;
    }

    const settingName = settingLine.exec(line)?.[1];
    const [, targetText, ruleText = ""] = ruleLine.exec(line) ?? [];

    if (settingName !== undefined) {
      settings.set(settingName, `${settings.get(settingName) ?? ""}${line.trim()}`);
    } else if (targetText !== undefined) {
      currentTargets = targetText.trim().split(/\s+/);
      if (currentTargets.length > targetsMax) throw new Error("a rule for too many targets"); // then the whole file decides

      const [prerequisiteText = "", recipe = ""] = ruleText.split(";", 2);
      const prerequisites = prerequisiteText
        .split(/\s+/)
        .filter((word) => word !== "" && word !== "|");

      const recipeText = recipe.trim() === "" ? "" : `\n${recipe.trim()}`;
      extendRules(prerequisites, `${prerequisites.join(" ")}${recipeText}`);
    } else if (line.trim() !== "" && !line.trim().startsWith("#")) {
      currentTargets = [];
    }
  }

  return { rules, settings };
}
