// stories-waves: tasks of one wave whose turns end in any order, agents of which only a report is
// kept, documents that cannot be read at first.

import { type Asked, ended, resume, script, task } from "./story-words.ts";
import type { Plan, Story } from "./story.ts";

const phases = [{ id: "1", after: [] }];
const parcels = [task("a", ["a"]), task("b", ["b"]), task("c", ["c"]), task("d", ["d"], ["a"])];

const resumeFrom =
  (code: string): NonNullable<Story["people"]> =>
  (run, why): readonly Asked[] | null =>
    why === code ? [resume(run)] : null;

/** The tasks that were committed, in the order of their commits. */
const order = (journal: readonly { readonly event: string }[]): string =>
  journal
    .flatMap((entry) =>
      entry.event === "changes_applied" && "attempt" in entry ? String(entry.attempt) : [],
    )
    .flatMap((attempt) => /\/([a-d])@/.exec(attempt)?.[1] ?? [])
    .join("");

export const waves: Story[] = [
  {
    name: "waves: three tasks side by side, one more after them, always committed in the wave's order",
    flow: "waves",
    script: script(({ step }) => (step === "parcels" ? { tasks: parcels } : undefined), phases),
    endsWell: (run, journal) => run.status === "completed" && order(journal) === "abcd",
  },
  {
    name: "waves: two change one file that neither named, the later fails and is done again on the new tip",
    flow: "waves",
    script: script(
      ({ step, task: inTask, n }) =>
        step === "parcels"
          ? { tasks: parcels }
          : step === "craft" && inTask !== null && (inTask === "a" || (inTask === "c" && n === 1))
            ? { file: "shared" }
            : undefined,
      phases,
    ),
    isCrashFree: true, // a turn that is played again begins on the new tip, and meets nobody
    endsWell: (run, journal) =>
      run.status === "completed" &&
      order(journal) === "abcd" &&
      journal.filter((entry) => "reason_code" in entry && entry.reason_code === "merge_conflict")
        .length === 1,
  },
  {
    name: "waves: the first task fails again and again, those behind it wait and are applied all the same",
    flow: "waves",
    limits: { run: { no_progress_threshold: 9 } },
    script: script(
      ({ step, task: inTask, n }): Plan | undefined =>
        step === "parcels"
          ? { tasks: parcels }
          : step === "craft" && inTask === "a"
            ? { turnFails: `hung up ${"i".repeat(n)}` }
            : undefined,
      phases,
    ),
    endsWell: (run, journal) =>
      run.status === "paused" && run.reason === "phase_failed" && order(journal) === "bc",
  },
  {
    name: "waves: a judge that keeps only its report may try what it likes, and standing still is not held against it",
    flow: "waves",
    limits: { run: { no_progress_threshold: 1 } },
    script: script(
      ({ step }) =>
        step === "parcels"
          ? { tasks: [task("a", ["a"])] }
          : step === "opinion"
            ? { isLeftOut: true }
            : undefined,
      phases,
    ),
    endsWell: (run, journal) =>
      run.status === "completed" && run.breaker.no_progress === 0 && order(journal) === "a",
  },
  {
    name: "waves: the outline cannot be read, is fixed, and read when the run is resumed",
    flow: "waves",
    script: (place) =>
      "read" in place
        ? ((place.isFixed
            ? phases
            : {
                problem: "outline:3: two parts are called 1",
                code: "outline_invalid",
              }) as unknown as Plan)
        : place.step === "parcels"
          ? { tasks: parcels }
          : {},
    people: resumeFrom("outline_invalid"),
    endsWell: (run, journal) =>
      run.status === "completed" &&
      order(journal) === "abcd" &&
      journal.some(
        (entry) =>
          entry.event === "run_paused" &&
          "detail" in entry &&
          entry.detail === "outline:3: two parts are called 1",
      ) &&
      ended(run, "1", "opinion") === 1,
  },
];
