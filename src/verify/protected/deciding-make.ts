// deciding-make: the makefile rules that the checks run, with their prerequisites, and settings that affect every rule.

import type { Deciding, Named } from "./named.ts";

const judging = /^(?:tests?|unit|e2e|lint|check|verify|typecheck|ci|cov|coverage|build|all)(?:[:._-].*)?$/;
const always =
  /^\s*(?:export\s+|override\s+)*(?:SHELL|\.SHELLFLAGS|MAKEFLAGS|PATH)\s*[:?+]?=|^\s*-?s?include\b|^\.(?:IGNORE|ONESHELL|SILENT|DEFAULT|POSIX)\b/;

const targetsMax = 100;
type Rule = { readonly needs: readonly string[]; readonly text: string };

export function decidingMake(text: string, named: Named): Deciding {
  const { rules, settings } = read(text.replaceAll("\\\n", " "));
  const asked = askedOf(named);
  const targets = [...rules.keys()].filter((target) => judging.test(target) || asked.includes(target));
  const reached = new Map<string, string>();
  for (const open = [...targets]; open.length > 0;) {
    const target = open.pop() ?? "";
    const rule = rules.get(target);
    if (rule === undefined || reached.has(target)) continue;
    reached.set(target, rule.text);
    for (const need of rule.needs) open.push(need);
    for (const [, inner = ""] of rule.text.matchAll(/\$[({]MAKE[)}]\s+([\w.:-]+)/g)) open.push(inner);
  }
  const used = new Map<string, string>();
  for (const open = [...reached.values()]; open.length > 0;) {
    for (const [, name = ""] of (open.pop() ?? "").matchAll(/\$[({]?([\w.-]+)/g)) {
      const value = settings.get(name);
      if (value === undefined || used.has(name)) continue;
      used.set(name, value);
      open.push(value);
    }
  }
  const every = text.split("\n").filter((line) => always.test(line));
  return {
    ...Object.fromEntries([...reached].map(([target, message]) => [`target ${target}`, message])),
    ...Object.fromEntries([...used].map(([name, value]) => [`variable ${name}`, value])),
    ...(every.length === 0 ? {} : { "how rules are run": every.join("\n") }),
  };
}

const besideTheWork = /^(?:\.PHONY|clean|distclean|docs?|install|uninstall|deploy|publish|release|help|run|serve|start|dev|fmt|format)\b/;

/** Every rule of an included makefile may be part of a check, except for those that never are. */
export function decidingIncluded(text: string): Deciding {
  const { rules, settings } = read(text.replaceAll("\\\n", " "));
  const every = text.split("\n").filter((line) => always.test(line));
  return {
    ...Object.fromEntries(
      [...rules].filter(([target]) => !besideTheWork.test(target)).map(([target, rule]) => [`target ${target}`, rule.text]),
    ),
    ...Object.fromEntries([...settings].map(([name, value]) => [`variable ${name}`, value])),
    ...(every.length === 0 ? {} : { "how rules are run": every.join("\n") }),
  };
}

/**
 * The targets by which commands run checks, and their prerequisites, which are not files: with a file or a folder of that name in the tree
 * make would do nothing.
 */
export function shadowableTargetsIn(text: string, named: Named): readonly string[] {
  const { rules } = read(text.replaceAll("\\\n", " "));
  const asked = askedOf(named);
  const needed = asked.flatMap((target) => rules.get(target)?.needs ?? []).filter((target) => judging.test(target));
  const phony = new Set(rules.get(".PHONY")?.needs ?? []);
  return [...new Set([...asked, ...needed])].filter((target) => /^[\w.-]+$/.test(target) && rules.has(target) && !phony.has(target));
}

const askedOf = ({ commands }: Named): readonly string[] =>
  commands.flatMap((command) => [...command.matchAll(/\bmake\s+([^;&|]*)/g)].flatMap(([, message = ""]) => message.split(/\s+/)));

/** Whether a new entry replaces something: a setting, or a rule that an included file may have. */
export function isOverriding(name: string, before: Deciding): boolean {
  if (!name.startsWith("target ")) return true;
  return judging.test(name.slice("target ".length)) && /\binclude\b/.test(before["how rules are run"] ?? "");
}

/** The files that makefiles include, as written. */
export function includedIn(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) =>
    text
      .split("\n")
      .flatMap((line) => /^\s*[-s]?include\s+([^#]*)/.exec(line)?.[1] ?? [])
      .flatMap((message) => message.replaceAll(/\$\(wildcard\s+([^()]*)\)/g, "$1").split(/\s+/))
      .filter((word) => word !== "" && !word.includes("$"))
      .map((word) => word.replace(/^\.\//, "")),
  );
}

function read(text: string): { readonly rules: ReadonlyMap<string, Rule>; readonly settings: ReadonlyMap<string, string> } {
  const rules = new Map<string, Rule>();
  const settings = new Map<string, string>();
  let open: readonly string[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("\t")) {
      for (const target of open)
        rules.set(target, { needs: rules.get(target)?.needs ?? [], text: `${rules.get(target)?.text ?? ""}\n${line.trim()}` });
      continue;
    }
    const setting = /^\s*(?:export\s+|override\s+)*([\w.-]+)\s*(?:::?:?|\?|\+|!)?=(.*)$/.exec(line);
    const rule = /^([^\s#=:][^#=:]*)::?(?!=)(.*)$/.exec(line);
    if (setting?.[1] !== undefined) settings.set(setting[1], `${settings.get(setting[1]) ?? ""}${line.trim()}`);
    else if (rule !== null) {
      open = (rule[1] ?? "").trim().split(/\s+/);
      if (open.length > targetsMax) throw new Error("a rule for too many targets"); // then the whole file decides
      const [needed = "", recipe = ""] = (rule[2] ?? "").split(";", 2);
      const needs = needed
        .trim()
        .split(/\s+/)
        .filter((word) => word !== "" && word !== "|");
      for (const target of open) {
        const before = rules.get(target);
        const inline = recipe.trim() === "" ? "" : `\n${recipe.trim()}`;
        rules.set(target, { needs: [...(before?.needs ?? []), ...needs], text: `${before?.text ?? ""}${needs.join(" ")}${inline}` });
      }
    } else if (line.trim() !== "" && !line.trim().startsWith("#")) open = [];
  }
  return { rules, settings };
}
