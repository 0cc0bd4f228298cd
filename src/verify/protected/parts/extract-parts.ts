// extract-parts: extracts the protected parts of a file of which only a part is protected: test
// settings may not change, dependencies may.

import type { CommandSet } from "../command-set.ts";
import type { PartFormat } from "../rows/protection-row.ts";
import { extractBlockParts } from "./block-parts.ts";
import { changesTestResults, extractCmakeParts } from "./cmake-parts.ts";
import { extractGoModuleParts, isRemovedRequirement } from "./go-module-parts.ts";
import {
  extendsRule,
  extractIncludedMakefileParts,
  extractMakefileParts,
  isOverriding,
  isRule,
} from "./makefile-parts.ts";
import { extractMavenParts } from "./maven-parts.ts";
import { extendsScript, extractPackageJsonParts, isHook } from "./package-json-parts.ts";
import {
  cargoTable,
  gradleProjectsBlock,
  gradleStartLine,
  gradleTestBlock,
  gradleTestLine,
  pyprojectTable,
  setupCfgSection,
  testProperty,
  vitestLine,
  viteTestBlock,
} from "./part-patterns.ts";
import type { ProtectedParts } from "./protected-parts.ts";
import { extractRustTestParts, replacesInTests } from "./rust-test-parts.ts";
import { extractProperties, extractSections, extractTables } from "./section-parts.ts";
import { extractDenoParts, extractNxParts } from "./task-parts.ts";
import {
  findGoWorkspaces,
  findGradleProjects,
  isExclusion,
  parsePnpmWorkspace,
  workspacePartPrefix,
} from "./workspace-parts.ts";

/** Null if the text cannot be parsed: then all of it is protected. */
export function extractProtectedParts(
  format: PartFormat,
  text: string,
  commandSet: CommandSet,
): ProtectedParts | null {
  try {
    return extractByFormat(format, text, commandSet);
  } catch {
    return null; // an agent's file may be nested too deep for a recursive reader
  }
}

function extractByFormat(
  format: PartFormat,
  text: string,
  commandSet: CommandSet,
): ProtectedParts | null {
  switch (format) {
    case "package":
    case "composer":
      return extractPackageJsonParts(text, commandSet);
    case "make":
      return extractMakefileParts(text, commandSet);
    case "included":
      return extractIncludedMakefileParts(text);
    case "pyproject":
      return extractTables(text, pyprojectTable);
    case "cargo":
      return extractTables(text, cargoTable);
    case "setup_cfg":
      return extractSections(text, setupCfgSection);
    case "pom":
      return extractMavenParts(text);
    case "properties":
      return extractProperties(text, testProperty);
    case "cmake":
      return extractCmakeParts(text);
    case "deno":
      return extractDenoParts(text, commandSet);
    case "nx_project":
      return extractNxParts(text, commandSet);
    case "pnpm_workspace":
      return parsePnpmWorkspace(text);
    case "gradle":
      return extractBlockParts(text, "java", gradleTestBlock, gradleTestLine);
    case "settings_gradle":
      return {
        ...extractBlockParts(text, "java", gradleProjectsBlock, gradleStartLine),
        ...findGradleProjects(text),
      };
    case "go_mod":
      return extractGoModuleParts(text);
    case "go_work":
      return { ...extractGoModuleParts(text), ...findGoWorkspaces(text) };
    case "vite":
      return extractBlockParts(text, "js", viteTestBlock, vitestLine);
    case "rust_source":
      return extractRustTestParts(text);
    case "lock":
      return commandSet.restores ? { "the lock file": text } : {};
  }
}

/** The names of parts that differ. A new part counts only if it changes existing ones. */
export function listChangedParts(
  format: PartFormat,
  before: ProtectedParts,
  after: ProtectedParts,
  commandSet: CommandSet,
): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const differing = names.filter((name) => before[name] !== after[name]);

  return differing.filter((name) => {
    if (!Object.hasOwn(before, name)) {
      return changesExistingParts(name, format, before, after, commandSet);
    }

    return format !== "go_mod" || !isRemovedRequirement(before[name], after[name]);
  });
}

/** Whether a script or a rule does what it did, and more. */
export function extendsPart(name: string, before: string, after: string): boolean {
  if (name.startsWith("scripts.")) return extendsScript(before, after);
  return isRule(name) && extendsRule(before, after);
}

/** Whether a new part changes what the earlier ones do. */
function changesExistingParts(
  name: string,
  format: PartFormat,
  before: ProtectedParts,
  after: ProtectedParts,
  commandSet: CommandSet,
): boolean {
  if (name.startsWith(workspacePartPrefix)) return isExclusion(name);
  switch (format) {
    case "go_mod":
      return false;
    case "rust_source":
      return replacesInTests(name, before);
    case "cmake":
      return changesTestResults(name);
    case "package":
    case "composer":
      return isHook(name, before, commandSet, after[name] ?? "");
    case "make":
    case "included":
      return isOverriding(name, before, after);
    default:
      return true;
  }
}
