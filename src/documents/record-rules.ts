// record-rules: validates logs in which every line is one kind of record, such as trace spans and portfolio events.

/** The rules of a log in which every line is a record of one kind: trace spans, a portfolio's events and checkpoints. */

import { buildFieldCheck, unfit } from "../kit/field-check.ts";
import { countStrings } from "../kit/json-hazards.ts";
import { type LineRules, notCounted, type Tree, textTree, type Violation, type Violations } from "./line-rules.ts";

type Report = (rule: string, message: string, severity?: Violation["severity"]) => void;

export type RecordLog = {
  readonly record: Parameters<typeof buildFieldCheck>[0];
  /** Names of the rules in findings. */
  readonly names: { readonly json: string; readonly field: string; readonly enum: string };
  /** Rules that involve two fields. */
  readonly beyond?: (record: Tree, report: Report) => void;
};

export function openRecordRules(violations: Violations, { record, names, beyond }: RecordLog): LineRules {
  const check = buildFieldCheck(record);
  let position = 0;
  const report: Report = (rule, message, severity) => violations.add(position, rule, message, severity);
  return {
    line: (text, number) => {
      const tree = textTree(text);
      if (tree === null) return 0;
      position = number;
      if (typeof tree === "string") {
        report(names.json, tree);
        return notCounted;
      }
      const counted = check.countIn(tree);
      if (counted === unfit) {
        for (const { kind, message } of check.faultsOf(tree))
          report(kind === "enum" ? names.enum : names.field, message, kind === "null" ? "warning" : "error");
      }
      beyond?.(tree, report);
      return counted === unfit ? countStrings(tree) : counted;
    },
    fault: (number, message) => violations.add(number, names.json, message),
    end: () => undefined,
  };
}
