// validate-folder: finds the files of a folder that can be validated. A portfolio is a folder
// itself; anything else is found by name and content.
//
// Invariants:
//   N1. The walk is bounded in entries, depth and files, follows no link, and says so if it left
//       anything out.
//   N2. A file that only resembles a format is not judged by it: name and location decide, and
//       content only if unambiguous.

import { type Dirent, existsSync, lstatSync, readdirSync, type Stats } from "node:fs";
import { basename, join } from "node:path";
import { portfolioFiles, portfolioFolder } from "../../contracts/portfolio/portfolio.ts";
import type { Violation } from "../../documents/line-rules.ts";
import { pageFormats } from "../../views/page-rules.ts";
import { findFormatByName, detectFormat, headBytes } from "../../playbooks/contract/formats.ts";
import { type NamedFile, type ValidatedFile, validateFile } from "./validate-file.ts";
import { readBytes, isFolderAt, isUnread, withOpened } from "./validate-open.ts";

const limits = { entriesMax: 50_000, depthMax: 32, filesMax: 5_000 } as const;
/** Git's own folders, installed packages, and content-addressed files. */
const skippedFolders: ReadonlySet<string> = new Set([
  ".git",
  "node_modules",
  ".venv",
  "venv",
  "blobs",
]);

/** Validates every known file below the folder; a folder without any is a violation. */
export async function validateFolder(folder: NamedFile): Promise<readonly ValidatedFile[]> {
  const { names, isWhole } = walk(folder.path);
  const results: ValidatedFile[] = [];

  for (const name of names) {
    const file = {
      path: join(folder.path, name),
      within: folder.within,
      shownPath: join(folder.shownPath, name),
    };
    if (isPortfolio(file.path)) results.push(judgePortfolioLayout(file));
    else if (await canValidate(file)) results.push(await validateFile(file));
  }

  if (isPortfolio(folder.path)) results.unshift(judgePortfolioLayout(folder));
  if (!isWhole) results.push(toValidated(folder.shownPath, "folder", [incomplete]));
  if (results.length > 0) return results;

  return [
    toValidated(folder.shownPath, "folder", [
      violation("file", "holds nothing that is known here: no run, flow, log, state or roadmap"),
    ]),
  ];
}

const violation = (rule: string, message: string): Violation => ({
  line: 1,
  rule,
  message,
  severity: "error",
});
const incomplete: Violation = {
  line: 1,
  rule: "limit",
  message: `holds more than ${limits.entriesMax} entries or ${limits.filesMax} files to judge, or folders more than ${limits.depthMax} deep; the rest was not looked at, so name what is meant`,
  severity: "warning",
};

function toValidated(
  path: string,
  format: string,
  violations: readonly Violation[],
): ValidatedFile {
  return {
    path,
    format,
    valid: !violations.some(({ severity }) => severity === "error"),
    violations,
  };
}

/** The paths below a folder that may be files of a known format, in order. */
function walk(folder: string): { readonly names: readonly string[]; readonly isWhole: boolean } {
  const names: string[] = [];
  let entries = 0;
  let isWhole = true;

  const visit = (path: string, depth: number): void => {
    for (const item of readItems(join(folder, path))) {
      entries++;
      if (entries > limits.entriesMax || names.length >= limits.filesMax) {
        isWhole = false; // N1
        return;
      }

      const name = path === "" ? item.name : join(path, item.name);
      if (skippedFolders.has(item.name)) continue;
      // A folder, link or pipe with a file's name is judged like that file, and reported.
      if (item.isDirectory() && !isFileName(item.name)) {
        if (isPortfolio(join(folder, name))) names.push(name);
        if (depth < limits.depthMax) visit(name, depth + 1);
        else if (readItems(join(folder, name)).length > 0) isWhole = false; // N1
      } else if (mayValidate(name)) {
        names.push(name);
      }
    }
  };
  visit("", 0);
  return { names, isWhole };
}

function readItems(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    );
  } catch {
    return []; // unreadable, or gone by now
  }
}

/** Whether the name is that of a file of a known format, whatever has it. */
const isFileName = (name: string): boolean =>
  /\.(jsonl|json|md|ya?ml)$/.test(name) && findFormatByName(name) !== null;

/** By its name alone; the content is looked at later. */
const mayValidate = (name: string): boolean =>
  /\.(jsonl|json|json\.backup)$|(^|\/)audit\.md$/.test(name) || findFormatByName(name) !== null;

/**
 * Whether the file is judged at all: names that only autopilot uses suffice, others need the right
 * folder or content (N2).
 */
async function canValidate({ path, within }: NamedFile): Promise<boolean> {
  const nameFormat = findFormatByName(path);
  if (nameFormat === "config") return /(^|\/)\.autopilot\/config\.ya?ml$/.test(path);
  if (nameFormat === "flow") return /\/flows\/[^/]+\/flow\.yaml$/.test(path);
  if (nameFormat === "portfolio snapshot") {
    return path.includes(`/${portfolioFolder}/`) || isInPortfolio(path);
  }

  // Names that others use too.
  const isPage = pageFormats.some((format) => format === nameFormat);
  if (isPage || nameFormat === "metrics" || nameFormat === "roadmap state") {
    return /(^|\/)\.autopilot\//.test(path) || (await isUnambiguous(path, within));
  }

  if (nameFormat !== null) return true;
  return isUnambiguous(path, within);
}

/** Formats whose content cannot be mistaken for anything else. */
const unambiguousFormats: ReadonlySet<string> = new Set([
  "journal",
  "quality run_state",
  "portfolio events",
  "portfolio checkpoints",
  "trace",
  "roadmap state",
  "metrics",
  "post-mortem",
  "triage",
  "completion report",
  ...pageFormats,
]);

async function isUnambiguous(path: string, within: string): Promise<boolean> {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const format = await withOpened(path, within, (fd) => ({
    detected: detectFormat(path, readBytes(fd, headBytes).toString("utf8")),
  }));
  return !isUnread(format) && unambiguousFormats.has(format.detected);
}

const isInPortfolio = (path: string): boolean =>
  [join(path, ".."), join(path, "../..")].some((folder) => isPortfolio(folder));

/** By its name, or by having a portfolio's events and one of its other parts. */
function isPortfolio(folder: string): boolean {
  if (!isFolderAt(folder)) return false;
  if (basename(folder) === portfolioFolder) return true;
  const has = (name: string): boolean => existsSync(join(folder, name));

  return (
    has(portfolioFiles.events) &&
    (has(portfolioFiles.portfolio) || has(portfolioFiles.projects) || has(portfolioFiles.tasks))
  );
}

/** The layout that the format requires; its contents are judged file by file. */
function judgePortfolioLayout({ path, shownPath }: NamedFile): ValidatedFile {
  const kinds = {
    portfolio: "file",
    projects: "folder",
    tasks: "folder",
    events: "file",
    checkpoints: "file",
  } as const;

  const violations = Object.entries(portfolioFiles).flatMap(([part, name]) => {
    const stats = lstatSync(join(path, name), { throwIfNoEntry: false });
    const expectedKind = kinds[part as keyof typeof kinds];

    if (stats === undefined) {
      return [violation("PF-layout", `has no ${name}, expected a ${expectedKind}`)];
    }

    const actualKind = fileKind(stats);
    return actualKind === expectedKind
      ? []
      : [violation("PF-layout", `${name} is a ${actualKind}, expected a ${expectedKind}`)];
  });
  return toValidated(shownPath, "portfolio", violations);
}

function fileKind(stats: Stats): "link" | "folder" | "file" | "special file" {
  if (stats.isSymbolicLink()) return "link";
  if (stats.isDirectory()) return "folder";
  return stats.isFile() ? "file" : "special file";
}
