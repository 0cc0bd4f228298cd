// The roadmap's files beside a run: what is on the disk follows from the journal, whoever drew it
// and however often the plug was pulled.

import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { afterEach, describe, expect, test } from "vitest";
import { roadmapStories } from "../../../../test/simulation/support/roadmap-stories.ts";
import { live, type Scenario } from "../../../../test/simulation/support/scenarios.ts";
import { seedState } from "../../../contracts/roadmap.test-support.ts";
import type { Entry } from "../../../contracts/event.ts";
import { PostMortem, TraceSpan, TriageFile } from "../../../contracts/roadmap-reports.ts";
import { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { openRoadmapState } from "../views/roadmap-state.ts";
import { clearRooms, follow, room, type Room } from "./roadmap-room.test-support.ts";

afterEach(clearRooms);

/**
 * How many entries are between two looks; fewer in `npm run test:long`. Odd, so that both kinds of
 * moment come up.
 */
const apart = (few: number, many: number): number =>
  process.env["AUTOPILOT_SIMULATION"] === "all" ? few : many;
const now = "2030-01-01T00:00:00.000Z";
const stories = Object.keys(roadmapStories);
const lived = new Map<string, readonly Entry[]>();
/** A story is lived through once, whoever looks at it. */
const entriesOf = (name: string): readonly Entry[] => {
  const entries = lived.get(name) ?? live(roadmapStories[name] as Scenario).tape.entries;
  lived.set(name, entries);
  return entries;
};
const everything = "roadmap: everything at once";
const failing = "roadmap: a failed phase pauses, resume runs it again, checkpoints";
const stateIn = (here: Room, path = ".autopilot/state.json"): RoadmapState =>
  v.parse(RoadmapState, JSON.parse(here.text(path)));
const runIdIn = (entries: readonly Entry[]): string =>
  entries[0]?.event === "run_drafted" ? entries[0].run_id : "";
/** All that is drawn, without the times at which a run was merely known to be alive. */
const drawnIn = (here: Room) =>
  Object.fromEntries(
    Object.entries(here.files(".autopilot/runs", ".autopilot/state.json.backup")).map(
      ([path, text]) => [
        path,
        text.replace(/"last_checkpoint": "[^"]*"/, '"last_checkpoint": "…"'),
      ],
    ),
  );
const drawnFrom = async (entries: readonly Entry[]): Promise<Room> => {
  const here = room();
  await (await follow(here, entries)).writeFiles(now);
  return here;
};

describe("whatever the run", () => {
  test.each(stories)(
    "%s: followed entry by entry, cut off and opened anew, the files are those of the whole journal",
    async (name) => {
      const entries = entriesOf(name);
      const whole = drawnIn(await drawnFrom(entries));
      const here = room();

      for (let index = 1; index < entries.length; index += apart(61, 401)) {
        const playbook = await follow(here, entries, { from: index });
        await playbook.writeFiles(now);
        playbook.goOn(index + 30);
        if (index % 2 === 0) await playbook.writeFiles(now); // else the plug is pulled before anything of it was drawn
      }

      await (await follow(here, entries)).writeFiles(now);
      const drawn = drawnIn(here);
      // A halt on the way was seen live or not; the newest one always has its page.
      const isDiagnostic = (path: string): boolean => path.includes("/diagnostic-");
      const others = (files: typeof drawn) =>
        Object.fromEntries(Object.entries(files).filter(([path]) => !isDiagnostic(path)));
      expect(others(drawn)).toEqual(others(whole));

      for (const path of Object.keys(whole).filter(isDiagnostic)) {
        expect(drawn[path]).toBe(whole[path]);
      }
    },
  );

  test.each(stories)(
    "%s: every file is valid against its schema at every drawing",
    async (name) => {
      const entries = entriesOf(name);
      const here = room();
      const playbook = await follow(here, entries, { from: 2 });

      for (let index = 2; index <= entries.length; index += apart(29, 201)) {
        playbook.goOn(index);
        await playbook.writeFiles(now);
        for (const [path, text] of Object.entries(here.files(".autopilot/runs"))) check(path, text);
      }
    },
  );

  const check = (path: string, text: string): void => {
    const fits = (schema: v.GenericSchema, value: unknown): void =>
      expect(v.safeParse(schema, value).issues, path).toBeUndefined();
    if (/state\.json(?:\.backup)?$|archive\/run-/.test(path)) fits(RoadmapState, JSON.parse(text));
    if (path.endsWith("postmortem.json")) fits(PostMortem, JSON.parse(text));
    if (path.endsWith("TRIAGE.json")) fits(TriageFile, JSON.parse(text));
    if (path.endsWith(".jsonl")) {
      for (const line of text.trimEnd().split("\n")) fits(TraceSpan, JSON.parse(line));
    }
  };

  test("a draft has no file", async () => {
    const here = room();
    await (await follow(here, entriesOf(everything), { from: 1 })).writeFiles(now);
    expect(here.files()).toEqual({});
  });
});

describe("state.json", () => {
  test("what is drawn is what the journal yields, and the backup is what was there before", async () => {
    const entries = entriesOf(everything);
    const here = room();
    const playbook = await follow(here, entries, { from: 40 });
    await playbook.writeFiles(now);
    const before = here.text(".autopilot/state.json");
    expect(here.has(".autopilot/state.json.backup")).toBe(false);
    playbook.goOn(60);
    await playbook.writeFiles(now);
    expect(here.text(".autopilot/state.json.backup")).toBe(before);
    const book = openRoadmapState();
    for (const entry of entries.slice(0, 60)) book.apply(entry);
    expect(here.text(".autopilot/state.json")).toBe(book.renderText(playbook.run(), now));
  });

  test("while a run works its last checkpoint is refreshed; one that rests stands where it was left", async () => {
    const entries = entriesOf(failing);
    const paused =
      entries.findIndex(
        ({ event, reason_code }) => event === "run_paused" && reason_code === "phase_failed",
      ) + 1;

    const here = room();
    const playbook = await follow(here, entries, { from: paused - 1 });
    await playbook.writeFiles(now);
    expect(stateIn(here)._meta).toMatchObject({ status: "running", last_checkpoint: now });
    playbook.goOn(paused);
    await playbook.writeFiles(now);
    expect(stateIn(here)._meta.status).toBe("failed");
    expect(stateIn(here)._meta.last_checkpoint).not.toBe(now);
  });

  test("a completed run is archived under its name, with nothing left in its place", async () => {
    const completed = stories.find((name) => entriesOf(name).at(-1)?.event === "run_completed");
    const entries = entriesOf(completed ?? "");
    const here = room();
    const playbook = await follow(here, entries, { from: entries.length - 1 });
    await playbook.writeFiles(now);
    playbook.goOn(entries.length);
    await playbook.writeFiles(now);
    expect(stateIn(here, `.autopilot/archive/${runIdIn(entries)}.json`)._meta.status).toBe(
      "completed",
    );

    expect(here.has(".autopilot/state.json")).toBe(false);
    expect(here.has(".autopilot/state.json.backup")).toBe(false);
    await playbook.writeFiles(now);
    expect(here.has(".autopilot/state.json")).toBe(false);
  });

  test("another tool's state goes to the archive before ours takes its place", async () => {
    const here = room();
    const theirs = JSON.stringify(seedState);
    here.write(".autopilot/state.json", theirs);
    await (await follow(here, entriesOf(everything), { from: 40 })).writeFiles(now);
    expect(here.text(`.autopilot/archive/${seedState._meta.run_id}.json`)).toBe(theirs);
    expect(stateIn(here)._meta.run_id).toBe(runIdIn(entriesOf(everything)));
    expect(here.has(".autopilot/state.json.backup")).toBe(false);
  });

  test("two states of one name are both kept", async () => {
    const here = room();
    here.write(`.autopilot/archive/${seedState._meta.run_id}.json`, "{}");
    here.write(".autopilot/state.json", JSON.stringify(seedState));
    await (await follow(here, entriesOf(everything), { from: 40 })).writeFiles(now);
    expect(readdirSync(join(here.root, ".autopilot/archive"))).toEqual([
      `${seedState._meta.run_id}-2.json`,
      `${seedState._meta.run_id}.json`,
    ]);
  });
});

describe("damaged files", () => {
  const entries = entriesOf(everything);
  const damages: readonly (readonly [string, (here: Room) => void])[] = [
    [
      "cut off in the middle",
      (here) =>
        here.write(".autopilot/state.json", here.text(".autopilot/state.json").slice(0, 500)),
    ],
    ["empty", (here) => here.write(".autopilot/state.json", "")],
    ["full of zero bytes", (here) => here.write(".autopilot/state.json", "\0".repeat(4096))],
    ["a list", (here) => here.write(".autopilot/state.json", "[1, 2]")],
    [
      "of the wrong types",
      (here) => here.write(".autopilot/state.json", '{"_meta": 3, "phases": "none"}'),
    ],
  ];
  test.each(damages)(
    "a state.json that is %s is drawn anew from the journal, and a good backup stays one",
    async (_, damage) => {
      const here = room();
      const playbook = await follow(here, entries, { from: 40 });
      await playbook.writeFiles(now);
      playbook.goOn(50);
      await playbook.writeFiles(now);
      const backup = here.text(".autopilot/state.json.backup");
      damage(here);
      await (await follow(here, entries, { from: 50 })).writeFiles(now);
      expect(stateIn(here)._meta.run_id).toBe(runIdIn(entries));
      expect(here.text(".autopilot/state.json.backup")).toBe(backup);
      expect(existsSync(join(here.folder, "set-aside/.autopilot/state.json"))).toBe(true);
    },
  );

  test("one that somebody damages while the run works does not become the backup either", async () => {
    const here = room();
    const playbook = await follow(here, entries, { from: 40 });
    await playbook.writeFiles(now);
    playbook.goOn(50);
    await playbook.writeFiles(now);
    const backup = here.text(".autopilot/state.json.backup");
    here.write(".autopilot/state.json", "{ torn");
    playbook.goOn(60);
    await playbook.writeFiles(now);
    expect(here.text(".autopilot/state.json.backup")).toBe(backup);
    expect(stateIn(here).event_log.length).toBeGreaterThan(0);
  });

  test("a link in its place is moved away, and what it pointed to stays as it is", async () => {
    const here = room();
    here.write("mine.json", "mine");
    symlinkSync("../mine.json", join(here.root, ".autopilot/state.json"));
    await (await follow(here, entries, { from: 40 })).writeFiles(now);
    expect(here.text("mine.json")).toBe("mine");
    expect(stateIn(here)._meta.run_id).toBe(runIdIn(entries));
  });

  test("a folder in its place is told, and everything else is drawn", async () => {
    const here = room();
    mkdirSync(join(here.root, ".autopilot/state.json"), { recursive: true });
    const playbook = await follow(here, entries, { from: 120 });
    await expect(playbook.writeFiles(now)).rejects.toThrow(
      "is a folder, so nothing can be written there; move it away",
    );

    expect(here.has(".planning/phases/1/EXECUTION-LOG.md")).toBe(true);
  });
});

describe("a phase's folder", () => {
  const entries = entriesOf(everything);
  test("holds the runner's pages and traces of every phase that was run, and of no other", async () => {
    const here = await drawnFrom(entries);
    expect(readdirSync(join(here.root, ".planning/phases/1"))).toEqual([
      "EXECUTION-LOG.md",
      "TRACE.jsonl",
      "TRIAGE.json",
      "VERIFICATION.md",
      "debug-trace.jsonl",
      "execute-trace.jsonl",
      "judge-trace.jsonl",
      "plan-trace.jsonl",
      "plan_check-trace.jsonl",
      "research-trace.jsonl",
      "verify-trace.jsonl",
    ]);

    expect(here.has(".planning/phases/0")).toBe(false);
    expect(here.has(".planning/phases/after.self_audit")).toBe(false);
  });

  test("what somebody else left under such a name is moved into the run's folder, not lost", async () => {
    const here = room();
    here.write(".planning/phases/1/VERIFICATION.md", "mine");
    here.write(".planning/phases/1/TRACE.jsonl", "mine too\n");
    here.write(".planning/phases/1/PLAN.md", "the agents'");
    await (await follow(here, entries)).writeFiles(now);
    const aside = (name: string): string =>
      here.text(`${here.folder.slice(here.root.length + 1)}/set-aside/.planning/phases/1/${name}`);
    expect([aside("VERIFICATION.md"), aside("TRACE.jsonl")]).toEqual(["mine", "mine too\n"]);
    expect(here.text(".planning/phases/1/PLAN.md")).toBe("the agents'");
    expect(here.text(".planning/phases/1/TRACE.jsonl")).not.toContain("mine too");
  });

  test("TRACE.jsonl holds the steps' traces and the phase runner's own, in the order in which they happened", async () => {
    const here = await drawnFrom(entries);
    const all = here.text(".planning/phases/1/TRACE.jsonl").trimEnd().split("\n");
    const steps = readdirSync(join(here.root, ".planning/phases/1")).filter((name) =>
      name.endsWith("-trace.jsonl"),
    );
    for (const name of steps) {
      const own = here.text(`.planning/phases/1/${name}`).trimEnd().split("\n");
      const step = name.replace("-trace.jsonl", "");
      expect(all.filter((line) => (JSON.parse(line) as TraceSpan).step === step)).toEqual(own);
    }

    expect(all.some((line) => (JSON.parse(line) as TraceSpan).step === "phase_runner")).toBe(true);
  });

  test("what agents' frames told stays in the traces when they are drawn anew", async () => {
    const here = room();
    const index =
      entries.findIndex(
        (entry) =>
          entry.event === "step_started" && entry.step === "research" && entry.walk === "1",
      ) + 1;

    const playbook = await follow(here, entries, { from: index });
    await playbook.writeFiles(now);

    const frame = {
      signal: "tool",
      attempt: "1@1/research#1",
      title: "read src/a.ts",
      kind: "read",
      path: "src/a.ts",
      call: "t",
    } as const;

    playbook.onLiveEvent?.({ ...frame, status: "pending" }, "2026-01-01T00:00:01.000Z");
    playbook.onLiveEvent?.({ ...frame, status: "completed" }, "2026-01-01T00:00:03.500Z");
    playbook.goOn(index + 3);
    await playbook.writeFiles(now);
    const live = here.text(".planning/phases/1/research-trace.jsonl");
    const [first] = live.split("\n");
    expect(JSON.parse(first ?? "")).toMatchObject({
      action: "file_read",
      input_summary: "src/a.ts",
      duration_ms: 2_500,
      status: "success",
    });

    here.write(".planning/phases/1/research-trace.jsonl", "");
    await (await follow(here, entries, { from: index + 3 })).writeFiles(now);
    expect(here.text(".planning/phases/1/research-trace.jsonl")).toBe(live);
    await (await follow(here, entries)).writeFiles(now);
    expect(here.text(".planning/phases/1/research-trace.jsonl").startsWith(live)).toBe(true);
  });
});

describe("what a failure leaves", () => {
  const entries = entriesOf(failing);
  const halt = entries.findIndex(
    ({ event, reason_code }) => event === "run_paused" && reason_code === "phase_failed",
  );

  const diagnosticsIn = (here: Room) =>
    readdirSync(join(here.root, ".autopilot/diagnostics")).filter((name) =>
      name.startsWith("diagnostic-"),
    );

  test("a halt leaves a diagnostic that says what happened and what to do, whether it was seen or found in the journal", async () => {
    expect(halt).toBeGreaterThan(0);
    const [seen, found] = [room(), room()];
    const playbook = await follow(seen, entries, { from: halt });
    await playbook.writeFiles(now);
    playbook.goOn(halt + 1);
    await playbook.writeFiles(now);
    await (await follow(found, entries, { from: halt + 1 })).writeFiles(now);
    const [name] = diagnosticsIn(seen);
    expect(name).toMatch(/^diagnostic-\d{4}-\d{2}-\d{2}T\d{6}\.md$/);
    const page = seen.text(`.autopilot/diagnostics/${name}`);
    expect(page).toContain("## What happened\n\n`phase_failed`: A phase failed.");
    expect(page).toContain("autopilot resume");
    expect(found.text(`.autopilot/diagnostics/${name}`)).toBe(page);
  });

  test("a pause that somebody chose leaves none", async () => {
    const here = room();
    const paused = entriesOf(everything).slice(0, 40);
    const last = paused.at(-1);
    if (last === undefined) throw new Error("the story is longer");

    const pause = {
      ...last,
      event: "run_paused",
      seq: 40,
      reason_code: "operator_paused",
      from_state: "running",
      to_state: "paused",
    } as unknown as Entry;
    await (await follow(here, [...paused, pause])).writeFiles(now);
    expect(here.has(".autopilot/diagnostics")).toBe(false);
    expect(stateIn(here)._meta.status).toBe("paused");
  });

  test("a phase that failed leaves a post-mortem, as data and as a page", async () => {
    const here = await drawnFrom(entries.slice(0, halt + 1));
    const names = readdirSync(join(here.root, ".autopilot/diagnostics")).filter((name) =>
      name.includes("postmortem"),
    );
    expect(names.length).toBeGreaterThanOrEqual(2);
    const json = names.find((name) => name.endsWith(".json")) ?? "";
    const post = v.parse(PostMortem, JSON.parse(here.text(`.autopilot/diagnostics/${json}`)));
    expect(here.text(`.autopilot/diagnostics/${json.replace(".json", ".md")}`)).toContain(
      post.root_cause.category,
    );
  });

  test("learnings are begun anew with a run and grow with its failures", async () => {
    const here = room();
    here.write(".autopilot/learnings.md", "# Learnings (current run)\n\nof the run before\n");
    const playbook = await follow(here, entries, { from: 20 });
    await playbook.writeFiles(now);
    expect(here.has(".autopilot/learnings.md")).toBe(false);
    playbook.goOn(halt + 1);
    await playbook.writeFiles(now);
    const page = here.text(".autopilot/learnings.md");
    expect(page.startsWith("# Learnings (current run)\n\n### Phase ")).toBe(true);
    expect(page).not.toContain("of the run before");
    expect(page).toContain("**Prevention rule:**");
    expect(page).toContain("**Provenance:**");
  });

  test("planner and executor are told what was learned, nobody else is", async () => {
    const here = room();
    const playbook = await follow(here, entries, { from: halt + 1 });
    const reported = (role: string, holds: boolean | null) =>
      playbook.learnings?.(role, () => Promise.resolve(holds)) ?? Promise.resolve("none");

    for (const role of ["planner", "executor"]) {
      expect(await reported(role, null)).toContain("**Prevention rule:**");
    }

    for (const role of ["researcher", "plan_checker", "verifier", "judge", "debugger", "auditor"]) {
      expect(await reported(role, true)).toBe("");
    }
  });
});
