// The tutorial's flow, killed: before every line of its journal, in the midst of a turn, and with
// an artifact lost meanwhile. What was done is not done again, what was half done is, and the
// artifacts decide which is which.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { killTree } from "../faults/process-tree.ts";
import { entriesOf, newestRun, said } from "../faults/small-run.ts";
import { callsOf } from "../faults/call-families.ts";
import { twoAtATime, whyNoStrace, withFault } from "../faults/under-strace.ts";
import {
  autopilot,
  begin,
  type Ended,
  type Entry,
  eventsOf,
  processesOf,
  scripted,
  until,
} from "../support/autopilot.ts";
import { longTest, sampled } from "../support/sampled.ts";
import { checkedOnce, git, scratch, write } from "../support/scratch-repository.ts";
import { doingsIn, page, type Save } from "./tutorial-page.ts";

const saved = doingsIn(page).filter((doing): doing is Save => doing.do === "save");
const textOf = (name: string): string => saved.find(({ path }) => path.endsWith(name))?.text ?? "";
type Turn = { readonly when: object; readonly do: readonly object[] };
const [outline, chapters] = (JSON.parse(textOf("rehearsal.json")) as { turns: readonly Turn[] })
  .turns;
if (outline === undefined || chapters === undefined) {
  throw new Error("the page's rehearsal has two turns");
}
const turns = [outline, chapters];

/** The tutorial's project, as it is before the run. */
function shop(change: (flow: string) => string = (flow) => flow): string {
  const folder = scratch({ files: { "README.md": "# shop\n" } });
  write(
    folder,
    Object.fromEntries(
      saved.map(({ path, text }) => [path, path.endsWith("flow.yaml") ? change(text) : text]),
    ),
  );

  git(folder, "add", "-A");
  git(folder, "commit", "-q", "-m", "A shop with a flow");
  return checkedOnce(folder);
}
/** What a run comes to that nothing disturbs: the project with all that its turns write. */
function writtenTree(): string {
  const folder = shop();
  const written = turns.flatMap(({ do: steps }) =>
    steps.flatMap((step) =>
      "write" in step ? [step.write as { path: string; text: string }] : [],
    ),
  );
  write(folder, Object.fromEntries(written.map(({ path, text }) => [path, text])));
  git(folder, "add", "-A");

  return git(folder, "write-tree");
}
const args = (folder: string, played: readonly object[]): readonly string[] => [
  "A handbook for newcomers",
  "--flow=handbook",
  "--isolation=clone",
  "--max-budget=tokens=90m,minutes=900",
  ...scripted(folder, played),
];
const goArgs = (folder: string, played: readonly object[] = turns): readonly string[] => [
  "go",
  ...args(folder, played),
  "--yes",
  "--json",
];

/** Takes the run up again until it is through, as `status` says. */
async function recover(folder: string): Promise<Ended> {
  for (let tries = 0; tries < 5; tries++) {
    const status = await autopilot(folder, ["status", "--json"]);
    if (status.json.state === "completed") return status;
    const way = status.json.state === "draft" ? ["go", "--yes", "--json"] : ["resume", "--json"];
    const next = await autopilot(folder, way);
    if (next.json.state === "completed") return next;
    expect(next.json.state, said(next)).not.toBe("idle");
  }

  throw new Error("the run did not complete");
}

const entries = (folder: string): readonly Entry[] => entriesOf(newestRun(folder));
const named = (folder: string, ...names: readonly string[]): readonly Entry[] =>
  entries(folder).filter(({ event }) => names.includes(event));
const remedies = (folder: string): readonly string[] =>
  named(folder, "attempt_settled").map(
    ({ attempt, remedy }) => `${String(attempt).replace(/^.*\//, "")} ${String(remedy)}`,
  );

/** What must hold of a run that was killed and taken up again. */
async function expectWhole(folder: string, tree: string): Promise<void> {
  expect(entries(folder).at(-1)).toMatchObject({
    event: "run_completed",
    verdict: "verified",
    gaps: [],
  });

  expect(git(folder, "rev-parse", "HEAD^{tree}")).toBe(tree);
  const ended = named(folder, "step_completed", "step_failed").map(({ attempt }) => attempt);
  expect(new Set(ended).size).toBe(ended.length);
  const commits = git(folder, "log", "--format=%(trailers:key=Autopilot-Attempt,valueonly)", "main")
    .split("\n")
    .filter((line) => line !== "");
  expect(new Set(commits).size).toBe(commits.length);
  await until(
    "no process of the run is left",
    () => processesOf(basename(newestRun(folder)), folder).length === 0,
  );
}

describe.skipIf(whyNoStrace !== "")(`killed before every line of the journal${whyNoStrace}`, () => {
  const linesMax = 60;
  const isWhole = process.env["AUTOPILOT_FAULTS"] === "all";
  /**
   * Each line and one behind the end with AUTOPILOT_FAULTS=all; in an everyday run of the suite
   * one, chosen by the seed of the sample.
   */
  const places = isWhole
    ? Array.from({ length: linesMax }, (_, n) => n + 1)
    : sampled(1, [13, 8, 10, 15]);

  test(
    "the flow goes on to the same end; a turn whose artifacts are whole is not bought again",
    { timeout: 1_800_000 },
    async () => {
      const tree = writtenTree();
      const seen = new Map<string, string>();
      let isOver = false;
      await twoAtATime(
        places,
        (at) => `line ${at}`,
        async (at) => {
          if (isOver) return;
          const folder = shop();
          expect((await autopilot(folder, ["start", ...args(folder, turns), "--json"])).code).toBe(
            0,
          );

          const path = join(newestRun(folder), "journal.jsonl");
          const killed = await withFault(folder, ["go", "--yes", "--json"], {
            thread: "main",
            calls: callsOf("write"),
            path,
            at,
            does: "signal=KILL",
          });
          if (killed.fired === 0) {
            expect(killed.json, said(killed)).toMatchObject({ state: "completed" }); // There are no more lines to be killed before.
            isOver = true;
            return;
          }

          expect(killed.signal).toBe("SIGKILL");
          const last = entries(folder).at(-1);
          const open = `${last?.event ?? ""} ${JSON.stringify(last?.["attempt"] ?? "").replaceAll(/^.*\/|"/g, "")}`;
          await recover(folder);
          await expectWhole(folder, tree);
          const bought = named(folder, "turn_ended").filter(({ agent }) => agent === "scripted");
          seen.set(open, `${remedies(folder).join(", ")}; ${bought.length} turns told`);
          expect(named(folder, "turn_ended"), open).toHaveLength(2);
        },
      );

      expect(
        [isOver, isOver ? 0 : seen.size],
        "all lines were reached, or each kill fired",
      ).toEqual(isWhole ? [true, 0] : [false, places.length]);

      // Killed after the turn and before its line: its receipt has what became of it, so it is
      // recorded and nobody plays it again.
      const wanted: Readonly<Record<string, string>> = {
        "session_opened outline#1": "outline#1 continue; 2 turns told",
        "turn_ended outline#1": "outline#1 continue; 2 turns told",
        "changes_applied outline#1": "outline#1 continue; 2 turns told",
        "step_completed outline#1": "; 2 turns told",
        "session_opened chapters#1": "chapters#1 continue; 2 turns told",
        "turn_ended chapters#1": "chapters#1 continue; 2 turns told",
        "changes_applied chapters#1": "chapters#1 continue; 2 turns told",
        "step_started check#1": "check#1 repeat; 2 turns told",
      };
      const looked = Object.keys(wanted).filter((open) => seen.has(open));
      expect(looked.length).toBeGreaterThanOrEqual(isWhole ? Object.keys(wanted).length : 0);
      for (const open of looked) expect(seen.get(open), open).toBe(wanted[open]);
    },
  );
});

/** Kills the runner and all it started once this file is in an agent's folder. */
async function killedOnce(folder: string, played: readonly object[], file: string): Promise<void> {
  const life = begin(folder, goArgs(folder, played));
  await until(
    `${file} is written`,
    () =>
      existsSync(newestRun(folder)) &&
      layersOf(folder).some((layer) => existsSync(join(layer, file))),
  );

  await new Promise((go) => setTimeout(go, 200)); // What the same turn does right after it is done, too.
  killTree(life.child.pid ?? 0, basename(newestRun(folder)), folder);
  expect((await life.ended).signal).toBe("SIGKILL");
}
const layersOf = (folder: string): readonly string[] => {
  const layers = join(newestRun(folder), "layers");
  return existsSync(layers)
    ? readdirSync(layers).flatMap((name) => [join(layers, name), join(layers, name, "work")])
    : [];
};
const waiting = { sleep: 60_000 };

describe.skipIf(process.platform !== "linux")(
  "killed in the midst of a turn (linux only: processes are found by /proc)",
  () => {
    test("with its artifacts whole: closed by them, without another turn", async () => {
      const folder = shop();
      await killedOnce(
        folder,
        [outline, { ...chapters, do: [...chapters.do, waiting] }],
        "handbook/basket.md",
      );

      await recover(folder);
      expect(remedies(folder)).toEqual(["chapters#1 close"]);
      expect(eventsOf(folder, "turn_ended").map(({ agent }) => agent)).toEqual([
        "scripted",
        "unknown",
      ]);

      expect(entries(folder).at(-1)).toMatchObject({ event: "run_completed", verdict: "verified" });
    });

    longTest(
      "with one of two chapters there: set aside, and the same turn again",
      "test/flows/kills.test.ts › with headings where a chapter should be: half done, and the same turn again",
      async () => {
        const folder = shop();
        const [first, second] = chapters.do;
        await killedOnce(
          folder,
          [outline, { ...chapters, do: [first, waiting, second] }],
          "handbook/price.md",
        );

        expect(existsSync(join(folder, "handbook"))).toBe(false);
        const resumed = begin(folder, ["resume", "--json"]);
        const asideOf = (): readonly string[] => readdirSync(join(newestRun(folder), "aside"));
        await until("the half-done work is set aside", () => asideOf().length > 0);
        expect(remedies(folder)).toEqual(["chapters#1 repeat"]);
        killTree(resumed.child.pid ?? 0, basename(newestRun(folder)), folder);
        await resumed.ended;
        expect(eventsOf(folder, "turn_ended")).toHaveLength(1);
      },
    );

    test("with headings where a chapter should be: half done, and the same turn again", async () => {
      const folder = shop();
      const heads = ["price", "basket"].map((name) => ({
        write: { path: `handbook/${name}.md`, text: `# ${name}\n\n## Why\n\n## Where\n` },
      }));

      const [first, second] = chapters.do;
      await killedOnce(
        folder,
        [outline, { ...chapters, do: [...heads, { sleep: 3_000 }, first, second] }],
        "handbook/basket.md",
      );

      await recover(folder);
      expect(
        readdirSync(join(newestRun(folder), "aside")),
        "the half-done work is set aside",
      ).not.toEqual([]);

      expect(remedies(folder)).toEqual(["chapters#1 repeat"]);
      expect(readFileSync(join(folder, "handbook/price.md"), "utf8")).toContain("Adds the tax");
      expect(entries(folder).at(-1)).toMatchObject({ event: "run_completed", verdict: "verified" });
    });
  },
);

describe.skipIf(process.platform !== "linux")(
  "an artifact that is lost after its phase was completed (linux only: processes are found by /proc)",
  () => {
    const more = `  - id: tidy
    name: Tidy
    steps:
      - { id: sweep, agent: writer, prompt: chapters.md, proof: [{ file: handbook/INDEX.md, non_empty: true }] }
  - id: close
    name: Close
    steps:
      - { id: sign, agent: writer, prompt: chapters.md, proof: [{ file: handbook/SIGNED.md, non_empty: true }] }

after:
`;

    const lost = [
      outline,
      chapters,
      {
        when: { step: "sweep" },
        do: [
          { delete: { path: "handbook/price.md" } },
          { write: { path: "handbook/INDEX.md", text: "See basket.\n" } },
        ],
      },
      {
        when: { step: "sign" },
        do: [{ write: { path: "handbook/SIGNED.md", text: "Ada\n" } }, waiting],
      },
      {
        when: { step: "outline" },
        do: [
          { write: { path: "handbook/OUTLINE.md", text: "# The parts\n\n- price\n- basket\n" } },
        ],
      },
      chapters,
    ];

    test("recheck: all walks the phase again, and nothing else of what is done", async () => {
      const folder = shop((flow) =>
        flow.replace("version: 1\n", "version: 1\nrecheck: all\n").replace("after:\n", more),
      );
      await killedOnce(folder, lost, "handbook/SIGNED.md");
      await recover(folder);
      expect(named(folder, "artifacts_surveyed").at(-1)).toMatchObject({ gone: ["write"] });
      expect(named(folder, "phase_reopened").map(({ walk, because }) => [walk, because])).toEqual([
        ["write", "artifacts_gone"],
      ]);

      expect(named(folder, "step_completed").map(({ attempt }) => String(attempt))).toEqual(
        expect.arrayContaining([
          "write@1/chapters#1",
          "tidy@1/sweep#1",
          "close@1/sign#1",
          "write@2/chapters#1",
        ]),
      );

      expect(git(folder, "ls-files", "handbook").split("\n")).toContain("handbook/price.md");
    });

    longTest(
      "recheck: phase goes back to the step of the phase under way that has lost it, and to none before",
      "test/flows/kills.test.ts › recheck: all walks the phase again, and nothing else of what is done",
      async () => {
        const inOne = more
          .replace(/ {2}- id: tidy\n.*\n.*\n/, "")
          .replace(/ {2}- id: close\n.*\n.*\n/, "");
        const folder = shop((flow) =>
          flow.replace("version: 1\n", "version: 1\nrecheck: phase\n").replace("after:\n", inOne),
        );
        await killedOnce(folder, lost, "handbook/SIGNED.md");
        await recover(folder);
        expect(named(folder, "artifacts_surveyed").at(-1)).toMatchObject({
          gone: [],
          lost: [{ walk: "write", step: "chapters" }],
        });

        expect(named(folder, "route_taken").map(({ to, because }) => [to, because])).toEqual([
          ["chapters", "artifacts_gone"],
        ]);

        expect(
          named(folder, "turn_ended").filter(({ attempt }) =>
            String(attempt).includes("/outline#"),
          ),
        ).toHaveLength(1);

        expect(git(folder, "ls-files", "handbook").split("\n")).toContain("handbook/price.md");
      },
    );

    longTest(
      "without it, what is finished is finished",
      "test/flows/kills.test.ts › recheck: all walks the phase again, and nothing else of what is done",
      async () => {
        const folder = shop((flow) => flow.replace("after:\n", more));
        await killedOnce(folder, lost, "handbook/SIGNED.md");
        await recover(folder);
        expect(named(folder, "phase_reopened")).toEqual([]);
        expect(git(folder, "ls-files", "handbook").split("\n")).not.toContain("handbook/price.md");
      },
    );
  },
);
