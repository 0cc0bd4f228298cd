// report: how a reader of documents collects what it finds: every finding with its place, in the order of the text, and not without end.

import type { Finding, Position } from "../kit/finding.ts";

export const findingsMax = 500;

export type Report = {
  readonly error: (place: Position, path: string, rule: string, message: string) => void;
  readonly warning: (place: Position, path: string, rule: string, message: string) => void;
  readonly add: (findings: readonly Finding[]) => void;
  /** Sorted by line; past `findingsMax` they are only counted. */
  readonly findings: () => readonly Finding[];
};

export function openReport(file: string): Report {
  const foundFindings: Finding[] = [];
  const say =
    (severity: Finding["severity"]) =>
    ({ line, column }: Position, path: string, rule: string, message: string): void => {
      foundFindings.push({ file, line, column, path, rule, message, severity });
    };
  return {
    error: say("error"),
    warning: say("warning"),
    add: (findings) => {
      for (const finding of findings) foundFindings.push(finding);
    },
    findings: () => {
      const sorted = foundFindings.toSorted((a, b) => a.line - b.line || a.column - b.column);
      if (sorted.length <= findingsMax) return sorted;
      // Errors may not be pushed out by warnings: whether a document is valid hangs on them.
      const first = [...sorted.filter(isError), ...sorted.filter((finding) => !isError(finding))].slice(0, findingsMax);
      const left = sorted.length - findingsMax;
      const message = `found ${left} more problems, which are not listed; expected at most ${findingsMax}`;
      const rest: Finding = {
        file,
        line: sorted.at(-1)?.line ?? 1,
        column: 1,
        path: "",
        rule: "too_many_findings",
        message,
        severity: "error",
      };
      return [...first.toSorted((a, b) => a.line - b.line || a.column - b.column), rest];
    },
  };
}

const isError = ({ severity }: Finding): boolean => severity === "error";
