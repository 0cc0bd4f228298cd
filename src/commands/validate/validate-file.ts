// validate-file: recognises one file's format by its content and checks it against that format's
// rules. The rules are in each format's reader; validate-documents.ts and validate-logs.ts list the
// readers.

import type { Violation } from "../../documents/line-rules.ts";
import { visible } from "../../kit/visible.ts";
import {
  type Format,
  detectFormat,
  headBytes,
  type LogFormat,
  logFormats,
} from "../../playbooks/contract/formats.ts";
import { judgeJournal, judgeLog, type JudgedLog, type Unchecked } from "./validate-logs.ts";
import { readBytes, isUnread, withOpened } from "./validate-open.ts";

export type ValidatedFile = {
  readonly path: string;
  readonly format: string;
  readonly valid: boolean;
  readonly violations: readonly Violation[];
  /** Violations beyond those listed; absent if all are. */
  readonly more?: number;
  /** Rules that could not be applied; absent if all could. */
  readonly unchecked?: readonly Unchecked[];
};

/** `path` is absolute; no link is followed out of `within`; `shownPath` is what the user called it. */
export type NamedFile = {
  readonly path: string;
  readonly within: string;
  readonly shownPath: string;
};

/** Reads only, and never refuses: what cannot be read is a violation too. */
export async function validateFile({ path, within, shownPath }: NamedFile): Promise<ValidatedFile> {
  const validation = await withOpened(path, within, async (fd, { size }) => {
    const format = detectFormat(path, readBytes(fd, headBytes).toString("utf8"));
    return toValidated(shownPath, await judge(format, { fd, path, shownPath, size }));
  });
  if (!isUnread(validation)) return validation;
  const { format, rule, message } = validation;

  return {
    path: shownPath,
    format,
    valid: false,
    violations: [{ line: 1, rule, message, severity: "error" }],
  };
}

type OpenedFile = {
  readonly fd: number;
  readonly path: string;
  readonly shownPath: string;
  readonly size: number;
};

async function judge(format: Format, file: OpenedFile): Promise<JudgedLog> {
  if (format === "journal") return judgeJournal(file.fd);
  if (isLog(format)) return judgeLog(format, file.fd, file.path);
  // The document readers load much that a log does not need.
  const violations =
    format === "unknown"
      ? [unrecognized]
      : await (await import("./validate-documents.ts")).judgeDocument(format, file);

  return {
    format,
    violations,
    unlistedCount: 0,
    isValid: !violations.some(({ severity }) => severity === "error"),
    unchecked: [],
  };
}

const isLog = (format: Format): format is LogFormat =>
  (logFormats as readonly string[]).includes(format);

const unrecognized: Violation = {
  line: 1,
  rule: "format",
  message:
    "not recognised: expected a journal, a state.json, a run_state.jsonl, a file of a portfolio, a staged state, a roadmap, a plan, a flow, a config or an agent script",
  severity: "error",
};

function toValidated(
  path: string,
  { format, violations, unlistedCount, isValid, unchecked }: JudgedLog,
): ValidatedFile {
  return {
    path,
    format,
    valid: isValid,
    violations: violations.map((violation) => ({
      ...violation,
      message: visible(violation.message),
    })),
    ...(unlistedCount === 0 ? {} : { more: unlistedCount }),
    ...(unchecked.length === 0 ? {} : { unchecked }),
  };
}
