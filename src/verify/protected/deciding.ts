// deciding: extracts the parts of a file that judge, if the rest of it does not: dependencies may
// change, test settings may not.

import { parse } from "smol-toml";
import { isRecord } from "../detect/manifest.ts";
import { extractCmakeParts, changesOtherTests } from "./deciding-cmake.ts";
import { extractIncludedMakeParts, extractMakeParts, isOverriding } from "./deciding-make.ts";
import { extractPackageParts, isHook } from "./deciding-package.ts";
import { extractDenoParts, extractNxParts } from "./deciding-tasks.ts";
import {
  isNarrowing,
  listWorkspaces,
  parsePnpmPackages,
  workspacePrefix,
} from "./deciding-workspace.ts";
import type { Language, Part } from "./rows/protection-row.ts";
import { maskText } from "./mask-text.ts";
import type { DecidingParts, CommandSet } from "./command-set.ts";
import { extractRustTestParts } from "./rust-tests.ts";

/** Null if the text cannot be parsed: then all of it decides. */
export function extractDecidingParts(
  part: Part,
  text: string,
  commandSet: CommandSet,
): DecidingParts | null {
  try {
    return parseParts(part, text, commandSet);
  } catch {
    return null; // an agent's file may be nested too deep for a recursive reader
  }
}

function parseParts(part: Part, text: string, commandSet: CommandSet): DecidingParts | null {
  switch (part) {
    case "package":
    case "composer":
      return extractPackageParts(text, commandSet);
    case "make":
      return extractMakeParts(text, commandSet);
    case "included":
      return extractIncludedMakeParts(text);
    case "pyproject":
      return parseTables(
        text,
        /^tool\.(?:pytest|coverage|ruff|mypy|pyright|basedpyright|tox|nox|black|isort|flake8|pylint|pyflakes|bandit|poe|taskipy|hatch\.envs|pdm\.scripts|uv\.scripts)\b|^project\.entry-points\.pytest11$/,
      );
    case "cargo":
      return parseTables(
        text,
        /^(?:profile\.(?:test|dev)\b|lints\b|workspace\.(?:lints|members|exclude|default-members)\b|test\b|bench\b|lib\.(?:test|doctest|harness)\b|package\.(?:autotests|autobenches)\b|patch\b|replace\b)/,
      );
    case "setup_cfg":
      return parseSections(
        text,
        /^(?:tool:pytest|pytest|coverage(?::.*)?|flake8|mypy(?:-.*)?|pycodestyle|pydocstyle|isort|pylint.*|aliases|tox(?::.*)?)$/,
      );
    case "pom":
      return {
        ...parseMavenPlugins(text),
        ...listWorkspaces(
          [...text.matchAll(/<module>([^<]{1,200})<\/module>/g)].map(([, name = ""]) =>
            name.trim(),
          ),
        ),
      };
    case "properties":
      return parseLines(
        text,
        /skip|exclude|ignore|failure|\.continue\b|(?:run|enable|disable|with|no)[\w.-]*tests?\b|tests?[.-]?enabled/i,
      );
    case "cmake":
      return extractCmakeParts(text);
    case "deno":
      return extractDenoParts(text, commandSet);
    case "nx_project":
      return extractNxParts(text, commandSet);
    case "pnpm_workspace":
      return parsePnpmPackages(text);
    case "gradle":
      return parseBlocks(
        text,
        "java",
        gradleOpens,
        /ignoreFailures|useJUnitPlatform|startParameter|excludedTask|onlyIf|\benabled\s{0,9}=|test\.enabled|\bexclude.{0,80}[Tt]est/,
      );
    case "settings_gradle":
      return {
        ...parseBlocks(
          text,
          "java",
          /\b(?:allprojects|subprojects|taskGraph|beforeProject|afterProject|projectsLoaded)\b[^\n{]{0,200}\{/g,
          /startParameter|excludedTask/,
        ),
        ...listWorkspaces(
          [...maskText(text, "java", "comments").matchAll(/["'](:[\w:.-]{1,200})["']/g)].map(
            ([, name = ""]) => name,
          ),
        ),
      };
    case "go_mod":
      return parseGoReplacements(text);
    case "go_work":
      return {
        ...parseGoReplacements(text),
        ...listWorkspaces(
          [...text.matchAll(/^\s*(?:use\s+)?(\.[\w./-]{0,200})\s*$/gm)].map(
            ([, name = ""]) => name,
          ),
        ),
      };
    case "vite":
      return parseBlocks(text, "js", /\btest\s{0,9}:\s{0,9}\{/g, /\bvitest\b/);
    case "rust_source":
      return extractRustTestParts(text);
    case "lock":
      return commandSet.restores ? { "the lock file": text } : {};
  }
}

/** The names of parts that differ. A new part counts only if it changes existing ones. */
export function findChangedParts(
  part: Part,
  before: DecidingParts,
  after: DecidingParts,
  commandSet: CommandSet,
): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => {
    if (before[name] === after[name]) return false;
    if (part === "go_mod") {
      return (
        Object.hasOwn(before, name) &&
        !(before[name] === packageItself && after[name] === undefined)
      );
    }

    if (Object.hasOwn(before, name)) return true;
    if (name.startsWith(workspacePrefix)) return isNarrowing(name);
    if (part === "cmake") return changesOtherTests(name);
    if (part === "package" || part === "composer") {
      return isHook(name, before, commandSet, after[name] ?? "");
    }

    if (part === "make" || part === "included") return isOverriding(name, before);
    return part !== "rust_source";
  });
}

const tableDepthMax = 4;

/** The tables and keys of a TOML file whose dotted path matches. */
function parseTables(text: string, wanted: RegExp): DecidingParts {
  const parts: Record<string, string> = {};
  const walk = (value: unknown, path: string, depth: number): void => {
    if (/^workspace\.(?:members|exclude)$/.test(path) && Array.isArray(value)) {
      const prefix = path.endsWith("exclude") ? "!" : "";
      Object.assign(parts, listWorkspaces(value.map((name) => `${prefix}${String(name)}`)));
    } else if (wanted.test(path)) {
      parts[path] = JSON.stringify(value);
    } else if (isRecord(value) && depth < tableDepthMax) {
      for (const [key, inner] of Object.entries(value)) {
        walk(inner, path === "" ? key : `${path}.${key}`, depth + 1);
      }
    }
  };
  walk(parse(text), "", 0);

  return parts;
}

/** The sections of an INI file whose name matches, without comments and blank lines. */
function parseSections(text: string, wanted: RegExp): DecidingParts {
  const parts: Record<string, string> = {};
  let section: string | null = null;

  for (const line of text.split("\n")) {
    const name = /^\[([^\]]{1,200})\]/.exec(line)?.[1]?.trim();
    if (name !== undefined) {
      section = wanted.test(name) ? `[${name}]` : null;
    } else if (section !== null && !/^\s*(?:[#;].*)?$/.test(line)) {
      parts[section] = `${parts[section] ?? ""}${line.trimEnd()}\n`;
    }
  }

  return parts;
}

/** The lines of a properties file that match, each by what is left of its `=`. */
function parseLines(text: string, wanted: RegExp): DecidingParts {
  const lines = text
    .split("\n")
    .filter((line) => wanted.test(line) && !/^\s*[#!]|version/i.test(line));
  return Object.fromEntries(
    lines.map((line) => [(line.split(/[=:]/, 1)[0] ?? "").trim(), squeezeSpace(line)]),
  );
}

const mavenPlugin = /surefire|failsafe|jacoco|checkstyle|pmd|spotbugs|enforcer|pitest/;
const mavenSetting =
  /<(skipTests|skipITs|testSourceDirectory|testOutputDirectory|maven\.test\.[\w.]{1,80}|testFailureIgnore|jacoco\.[\w.]{1,80}|checkstyle\.[\w.]{1,80})>[^<]{0,200}</g;

/**
 * The settings of a pom.xml that concern tests: of plugins that run or measure them, and single
 * elements.
 */
function parseMavenPlugins(text: string): DecidingParts {
  const withoutComments = removeDelimited(text, "<!--", "-->");
  const pluginBlocks = withoutComments
    .split("<plugin>")
    .slice(1)
    .map((after) => after.split("</plugin>", 1)[0] ?? "")
    .filter((plugin) => mavenPlugin.test(plugin));
  const parts = [...pluginBlocks, ...(withoutComments.match(mavenSetting) ?? [])];

  return parts.length === 0 ? {} : { "what runs the tests": parts.map(squeezeSpace).join("\n") };
}

function removeDelimited(text: string, open: string, close: string): string {
  const [first = "", ...others] = text.split(open);
  return (
    first +
    others
      .map((part) => (part.includes(close) ? part.slice(part.indexOf(close) + close.length) : ""))
      .join("")
  );
}

/**
 * What stands for each package that go.mod or go.work names: itself, or what its `replace` line
 * says. Tests may use a package that was there before; what stands for a new one is new code like
 * any other.
 */
function parseGoReplacements(text: string): DecidingParts {
  const parts: Record<string, string> = {};
  let block = "";

  for (const line of text
    .split("\n")
    .map((rawLine) => squeezeSpace(rawLine.split("//", 1)[0] ?? ""))) {
    const [, word = block, rest = line] = /^(require|replace) ?(.*)$/.exec(line) ?? [];
    if (rest.startsWith(")")) {
      block = "";
    } else if (rest.startsWith("(")) {
      block = word;
    } else {
      const [module = "", replacement] = rest.split("=>").map((side) => side.trim());
      const name = `package ${module.split(" ", 1)[0]}`;

      if (word === "replace" && replacement !== undefined) {
        parts[name] = [module, replacement].join(" => ");
      } else if (word === "require" && module !== "") {
        parts[name] ??= packageItself;
      }
    }
  }

  return parts;
}
const packageItself = "itself";

/** Where a block about tests opens: `test {`, `tasks.withType(Test) {`, `named("check") {`. */
const gradleOpens =
  /(?:^|[\s.])(?:tests?|integrationTest|check|jacoco\w{0,40}|checkstyle\w{0,40}|pmd\w{0,40}|spotbugs\w{0,40}|detekt\w{0,40}|testLogging)\b[^\n{]{0,200}\{|withType[<(]\s{0,9}Test\b[^\n{]{0,200}\{|\(\s{0,9}["'](?:test|check|integrationTest)["'][^\n{]{0,200}\{/g;
const blocksMax = 50;

/**
 * Blocks about tests, with their braces, and single lines. A file with too many such blocks decides
 * as a whole.
 */
function parseBlocks(
  text: string,
  language: Language,
  blockOpens: RegExp,
  wantedLine: RegExp,
): DecidingParts {
  const withoutComments = maskText(text, language, "comments");
  const opens = [...withoutComments.matchAll(blockOpens)];
  const blocks = opens.map((open) =>
    cutBlock(withoutComments, open.index, open.index + open[0].length - 1),
  );
  const parts = [
    ...(opens.length > blocksMax ? [withoutComments] : blocks),
    ...withoutComments.split("\n").filter((line) => wantedLine.test(line)),
  ];

  return parts.length === 0
    ? {}
    : { "what configures the tests": parts.map(squeezeSpace).join("\n") };
}

/** The text from `from` to the brace that closes the one at `brace`. */
function cutBlock(text: string, from: number, brace: number): string {
  let depth = 0;
  for (let to = brace; to < text.length; to++) {
    if (text[to] === "{") depth++;
    if (text[to] === "}" && --depth === 0) return text.slice(from, to + 1);
  }

  return text.slice(from);
}

const squeezeSpace = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
