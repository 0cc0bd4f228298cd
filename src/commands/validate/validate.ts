// validate: reports what is wrong with files: recognises each by its content, and lists every
// violation with file, line and rule. Changes nothing.

import { realpathSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { visible } from "../../kit/visible.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { findFormatByName } from "../../playbooks/contract/formats.ts";
import { type NamedFile, type ValidatedFile, validateFile } from "./validate-file.ts";
import { validateFolder } from "./validate-folder.ts";
import { isFolderAt } from "./validate-open.ts";

/** Validates files and, recursively, folders. */
export function validate(
  context: CommandContext,
  input: { readonly paths: readonly string[] },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const files: ValidatedFile[] = [];
    for (const path of input.paths) files.push(...(await validatePath(context.cwd, path)));
    const invalidCount = files.filter(({ valid }) => !valid).length;
    if (invalidCount === 0) {
      return respond("ok", {
        message: `${countFiles(files.length)} valid.`,
        page: filePage(files),
        data: { files },
      });
    }

    const verb = invalidCount === 1 ? "is" : "are";
    return respond("file_invalid", {
      message:
        files.length === 1
          ? "The file is not valid."
          : `${invalidCount} of ${files.length} files ${verb} not valid.`,
      remediation: ["fix these lines, then run it again; nothing was changed"],
      page: filePage(files),
      data: { files },
    });
  });
}

const countFiles = (files: number): string => (files === 1 ? "1 file is" : `${files} files are`);

async function validatePath(cwd: string, typedPath: string): Promise<readonly ValidatedFile[]> {
  const path = resolve(cwd, typedPath);
  const namedFile: NamedFile = {
    path,
    within: isBelow(cwd, path) ? cwd : dirname(path),
    shownPath: typedPath,
  };

  // A folder whose name is that of a known file is reported as an unreadable file.
  const isFolder =
    isFolderAt(path) && !(/\.(jsonl|json|md|ya?ml)$/.test(path) && findFormatByName(path) !== null);
  const real = isFolder ? realpathSync(path) : path;
  if (!isFolder || !isBelow(realpathSync(namedFile.within), real)) {
    return [await validateFile(namedFile)];
  }

  return validateFolder({ ...namedFile, path: real, within: real });
}

function isBelow(folder: string, path: string): boolean {
  const relativePath = relative(folder, path);
  return relativePath !== ".." && !relativePath.startsWith("../") && !isAbsolute(relativePath);
}

/** Files in order beyond this number are only counted. */
const listedValidMax = 20;

function filePage(files: readonly ValidatedFile[]): readonly string[] {
  const faultlessFiles = files.filter(
    ({ valid, violations, unchecked }) =>
      valid && violations.length === 0 && unchecked === undefined,
  );
  const isLong = faultlessFiles.length > listedValidMax;
  const lines = files
    .filter((file) => !isLong || !faultlessFiles.includes(file))
    .flatMap((file) => fileLines(file));

  return isLong ? [...lines, `✓ ${faultlessFiles.length} more files are in order`] : lines;
}

function fileLines({
  path,
  format,
  valid,
  violations,
  more,
  unchecked,
}: ValidatedFile): readonly string[] {
  const errors =
    violations.filter(({ severity }) => severity === "error").length + (valid ? 0 : (more ?? 0));
  const warnings =
    violations.length - violations.filter(({ severity }) => severity === "error").length;
  const counts = [
    errors === 0 ? "" : countNoun(errors, "violation"),
    warnings === 0 ? "" : countNoun(warnings, "warning"),
  ].filter(Boolean);

  return [
    `${valid ? "✓" : "✗"} ${visible(path)}: ${format}${counts.length === 0 ? "" : `, ${counts.join(" and ")}`}`,
    ...violations.map(
      ({ line, rule, message, severity }) =>
        `  ${visible(path)}:${line}: ${rule}${severity === "warning" ? " (warning)" : ""}: ${message}`,
    ),
    ...(more === undefined ? [] : [`  and ${more} more`]),
    ...(unchecked ?? []).map(({ rule, why }) => `  ${rule} was not checked: ${why}`),
  ];
}

const countNoun = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;
