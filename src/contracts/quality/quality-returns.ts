// quality-returns: schemas of what the agents of a quality run return, one per phase. All of it is
// claims: the runner counts in the files itself, and what is not on disk is not logged.

import * as v from "valibot";
import { passNames } from "./quality-run.ts";

const listMax = 2_000;
const word = (about: string) =>
  v.pipe(v.string(), v.minLength(1), v.maxLength(300), v.description(about));
/** A list of texts, or of objects with more detail: only their number counts. */
const words = (about: string) =>
  v.pipe(
    v.array(v.union([v.pipe(v.string(), v.maxLength(4_000)), v.looseObject({})])),
    v.maxLength(listMax),
    v.description(about),
  );
const count = (about: string) =>
  v.pipe(v.number(), v.integer(), v.minValue(0), v.description(about));
const list = <Item extends v.GenericSchema>(item: Item, about: string) =>
  v.pipe(v.array(item), v.maxLength(listMax), v.description(about));

const place = {
  file: v.optional(word("the file it is in, relative to the project")),
  line: v.optional(v.union([count("the line it begins at"), word("the lines, 12-14")])),
  title: v.optional(word("it in one line")),
};

/** Phase 1. */
export const ExploreReturn = v.looseObject({
  findings: list(
    v.looseObject({
      id: word("as EXPLORATION.md calls it"),
      category: v.optional(word("for example code-bug, missing-citation, prose-to-code-mismatch")),
      ...place,
    }),
    "every finding of EXPLORATION.md",
  ),
  patterns: v.optional(
    list(
      v.looseObject({
        pattern: v.pipe(
          v.number(),
          v.integer(),
          v.minValue(1),
          v.maxValue(7),
          v.description("1 to 7"),
        ),
        findings_count: count("how many findings it led to"),
      }),
      "the exploration patterns you walked",
    ),
  ),
});

/** Phase 2. */
export const GenerateReturn = v.looseObject({
  promoted: words("ids of the findings that became requirements"),
  dropped: v.optional(words("ids of those that did not, each with why")),
});

/** Phase 3. */
export const ReviewReturn = v.looseObject({
  bugs: list(
    v.looseObject({ id: word("BUG-001 and so on, as the heading in BUGS.md"), ...place }),
    "every confirmed bug; empty if there is none",
  ),
  writeups: v.optional(words("paths of write-ups that are there already")),
});

/** Phase 4. */
export const AuditReturn = v.looseObject({
  passes: list(
    v.looseObject({
      pass: v.pipe(v.picklist(passNames), v.description("A, B, C or D")),
      output_artifact: v.optional(word("the file it left, relative to the project")),
    }),
    "the passes you ended",
  ),
  req_count: v.optional(count("requirements looked at")),
  uc_count: v.optional(count("use cases looked at")),
});

/** Phase 5. */
export const ReconcileReturn = v.looseObject({
  reconciled: list(
    v.looseObject({
      id: word("the bug"),
      red_log: v.optional(word("the log of its test failing")),
      green_log: v.optional(word("the log of its test passing with the fix")),
    }),
    "every confirmed bug; empty if there is none",
  ),
});

/** Phase 6. */
export const VerifyFilesReturn = v.looseObject({
  notes: words("what a reader of the results should know; empty if nothing"),
});

/** By the names flows call them. */
export const qualityReturns = {
  "quality.explore": ExploreReturn,
  "quality.generate": GenerateReturn,
  "quality.review": ReviewReturn,
  "quality.audit": AuditReturn,
  "quality.reconcile": ReconcileReturn,
  "quality.verify": VerifyFilesReturn,
} as const;
