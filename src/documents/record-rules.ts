// record-rules: validates logs whose lines are all records of one kind, such as trace spans and
// portfolio events.

import { buildFieldCheck, unfit } from "../kit/field-check.ts";
import { countStrings } from "../kit/json-hazards.ts";
import {
  type LineRules,
  notCounted,
  type Tree,
  parseLine,
  type Violation,
  type Violations,
} from "./line-rules.ts";

type Report = (rule: string, message: string, severity?: Violation["severity"]) => void;

export type RecordLog = {
  readonly record: Parameters<typeof buildFieldCheck>[0];
  /** Names of the rules in findings. */
  readonly names: { readonly json: string; readonly field: string; readonly enum: string };
  /** Rules that involve two fields. */
  readonly extraRule?: (record: Tree, report: Report) => void;
};

export function openRecordRules(
  violations: Violations,
  { record, names, extraRule }: RecordLog,
): LineRules {
  const check = buildFieldCheck(record);
  let lineNumber = 0;
  const report: Report = (rule, message, severity) =>
    violations.add(lineNumber, rule, message, severity);

  return {
    checkLine: (text, number) => {
      const tree = parseLine(text);
      if (tree === null) return 0;
      lineNumber = number;

      if (typeof tree === "string") {
        report(names.json, tree);
        return notCounted;
      }

      const stringCount = check.countStringsIn(tree);
      if (stringCount === unfit) {
        for (const { kind, message } of check.findFaults(tree)) {
          report(
            kind === "enum" ? names.enum : names.field,
            message,
            kind === "null" ? "warning" : "error",
          );
        }
      }

      extraRule?.(tree, report);
      return stringCount === unfit ? countStrings(tree) : stringCount;
    },
    addFault: (number, message) => violations.add(number, names.json, message),
    finish: () => undefined,
  };
}
