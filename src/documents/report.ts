// report: collects the findings of a parser, sorted by position and up to a limit.

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
  const collected: Finding[] = [];
  const add =
    (severity: Finding["severity"]) =>
    ({ line, column }: Position, path: string, rule: string, message: string): void => {
      collected.push({ file, line, column, path, rule, message, severity });
    };

  return {
    error: add("error"),
    warning: add("warning"),
    add: (findings) => {
      for (const finding of findings) collected.push(finding);
    },
    findings: () => {
      const sorted = collected.toSorted(byPosition);
      if (sorted.length <= findingsMax) return sorted;
      // Errors come first, since they decide whether a document is valid.
      const listed = [
        ...sorted.filter(isError),
        ...sorted.filter((finding) => !isError(finding)),
      ].slice(0, findingsMax);

      const unlistedCount = sorted.length - findingsMax;
      const message = `found ${unlistedCount} more problems, which are not listed; expected at most ${findingsMax}`;

      const unlisted: Finding = {
        file,
        line: sorted.at(-1)?.line ?? 1,
        column: 1,
        path: "",
        rule: "too_many_findings",
        message,
        severity: "error",
      };
      return [...listed.toSorted(byPosition), unlisted];
    },
  };
}

const byPosition = (left: Position, right: Position): number =>
  left.line - right.line || left.column - right.column;
const isError = ({ severity }: Finding): boolean => severity === "error";
