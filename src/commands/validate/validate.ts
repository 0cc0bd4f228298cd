// validate: reports what is wrong with files: recognises each by its content, and lists every violation with file, line and rule. Changes
// nothing.

import { realpathSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { visible } from "../../kit/visible.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { formatByName } from "../../playbooks/contract/formats.ts";
import { type FileNamed, type Validated, validateFile } from "./validate-file.ts";
import { validateFolder } from "./validate-folder.ts";
import { isFolderAt } from "./validate-open.ts";

export function validate(context: CommandContext, input: { readonly paths: readonly string[] }): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const files: Validated[] = [];
    for (const path of input.paths) files.push(...(await validatedAt(context.cwd, path)));
    const bad = files.filter(({ valid }) => !valid).length;
    if (bad === 0) return respond("ok", { message: `${counted(files.length)} valid.`, page: filePage(files), data: { files } });
    const verb = bad === 1 ? "is" : "are";
    return respond("file_invalid", {
      message: files.length === 1 ? "The file is not valid." : `${bad} of ${files.length} files ${verb} not valid.`,
      remediation: ["fix these lines, then run it again; nothing was changed"],
      page: filePage(files),
      data: { files },
    });
  });
}

const counted = (files: number): string => (files === 1 ? "1 file is" : `${files} files are`);

async function validatedAt(cwd: string, typedPath: string): Promise<readonly Validated[]> {
  const path = resolve(cwd, typedPath);
  const named: FileNamed = { path, within: isBelow(cwd, path) ? cwd : dirname(path), shown: typedPath };
  // A folder whose name is that of a known file is reported as an unreadable file.
  const isFolder = isFolderAt(path) && !(/\.(jsonl|json|md|ya?ml)$/.test(path) && formatByName(path) !== null);
  const real = isFolder ? realpathSync(path) : path;
  if (!isFolder || !isBelow(realpathSync(named.within), real)) return [await validateFile(named)];
  return validateFolder({ ...named, path: real, within: real });
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}

/** If there are many, valid ones are only counted. */
const listedValidMax = 20;

function filePage(files: readonly Validated[]): readonly string[] {
  const sound = files.filter(({ valid, violations, unchecked }) => valid && violations.length === 0 && unchecked === undefined);
  const isLong = sound.length > listedValidMax;
  const lines = files.filter((file) => !isLong || !sound.includes(file)).flatMap((file) => linesOf(file));
  return isLong ? [...lines, `✓ ${sound.length} more files are in order`] : lines;
}

function linesOf({ path, format, valid, violations, more, unchecked }: Validated): readonly string[] {
  const errors = violations.filter(({ severity }) => severity === "error").length + (valid ? 0 : (more ?? 0));
  const warnings = violations.length - violations.filter(({ severity }) => severity === "error").length;
  const counts = [errors === 0 ? "" : numbered(errors, "violation"), warnings === 0 ? "" : numbered(warnings, "warning")].filter(Boolean);
  return [
    `${valid ? "✓" : "✗"} ${visible(path)}: ${format}${counts.length === 0 ? "" : `, ${counts.join(" and ")}`}`,
    ...violations.map(
      ({ line, rule, message, severity }) => `  ${visible(path)}:${line}: ${rule}${severity === "warning" ? " (warning)" : ""}: ${message}`,
    ),
    ...(more === undefined ? [] : [`  and ${more} more`]),
    ...(unchecked ?? []).map(({ rule, why }) => `  ${rule} was not checked: ${why}`),
  ];
}

const numbered = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
