// portfolio-store-suite: what every store of portfolios must do, as tests that run over each of
// them. Its last stories are a whole portfolio's.

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Entry } from "../../src/contracts/event.ts";
import type { PortfolioChange } from "../../src/contracts/portfolio/portfolio-journal.ts";
import { JournalFailure } from "../../src/journal/journal-failure.ts";
import { genesis } from "../../src/journal/line.ts";
import { failureFrom, skipped, still } from "../../src/journal/scene.test-support.ts";
import { project, task } from "../../src/portfolio/planner/portfolio.test-support.ts";
import { type PortfolioPaths, portfolioAt } from "../../src/portfolio/store/folder.ts";
import { toPortfolioStore, readPortfolio } from "../../src/portfolio/store/fold.ts";
import { readAllLines, withPortfolio } from "../../src/portfolio/store/open.ts";
import type { Lease, OpenedRun, OpenOptions } from "../../src/ports/run-store.ts";
import type { PortfolioStore } from "../../src/ports/portfolio-store.ts";
import type { CommandContext } from "../../src/project/command-context.ts";
import { commandContext } from "../support/command-context.ts";
import type { Stage } from "./store-suite.ts";

const options: OpenOptions = { now: still.now, activeMs: still.activeMs };
const folder = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-portfolio-stores-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;
const newName = (): string => `portfolio-${process.pid}-${++made}`;
const said = { actor: "system", reason_code: "ok" } as const;
const place = (cwd: string): CommandContext =>
  commandContext({ cwd, env: { HOME: folder, PATH: process.env["PATH"] } });
const taskAdded = (name: string): PortfolioChange => ({
  ...said,
  event: "task_created",
  task_id: `task-${name}-aaaaaa`,
  project_id: "proj-a",
  status: "ready",
  fields: task(),
});

/** The same store on a disk that takes nothing more. */
const onFullDisk = (store: PortfolioStore | undefined): PortfolioStore => ({
  read: (from, onEntry) => (store as PortfolioStore).read(from, onEntry),
  open: async (given) => {
    const opened = await (store as PortfolioStore).open(given);
    const append = (): Promise<never> =>
      Promise.reject(new JournalFailure({ kind: "disk_full", detail: "no space left" }));
    const { journal } = opened;

    return {
      ...opened,
      journal: {
        ...journal,
        position: { ...journal.position },
        append,
        close: () => journal.close(),
      },
    };
  },
});

export function portfolioStoreSuite(name: string, stage: () => Stage): void {
  describe(`a portfolio's store (${name})`, () => {
    const opened = (): { readonly store: PortfolioStore; readonly run: string } => {
      const run = newName();
      return { store: toPortfolioStore(stage().store, run), run };
    };

    const filled = async (
      store: PortfolioStore,
      ...numbers: readonly number[]
    ): Promise<readonly Entry[]> => {
      const { journal } = await store.open(options);
      const entries = await journal.append(numbers.map((n) => skipped(n)));
      await journal.close();

      return entries;
    };

    test("hands out on opening what came after a position, and appends there", async () => {
      const { store } = opened();
      await filled(store, 1, 2);
      const at = await store.read(genesis, () => undefined);
      const later = await filled(store, 3);
      const seen: Entry[] = [];

      const { journal } = await store.open({
        ...options,
        from: at,
        onEntry: (entry) => seen.push(entry),
      });

      expect(seen).toEqual(later);
      expect(await journal.append([skipped(4)])).toMatchObject([{ seq: 4 }]);
      const end = { ...journal.position };
      await journal.close();
      const nothing: Entry[] = [];

      const again = await store.open({
        ...options,
        from: end,
        onEntry: (entry) => nothing.push(entry),
      });
      expect([nothing, again.journal.position.seq]).toEqual([[], 4]);
      await again.journal.close();
    });

    test("refuses to go on from a line that it does not have, and is whole afterwards", async () => {
      const { store } = opened();
      await filled(store, 1, 2);
      const at = await store.read(genesis, () => undefined);

      for (const from of [
        { ...at, prev: "1".repeat(64) },
        { ...at, seq: 1, prev: "2".repeat(64) },
      ]) {
        expect(await failureFrom(store.open({ ...options, from }))).toMatchObject({
          kind: "journal_damaged",
        });
      }

      expect((await filled(store, 3)).map(({ seq }) => seq)).toEqual([3]);
    });

    test("lets no writer append to lines that it has not read", async () => {
      const { store, run } = opened();
      const { lapse } = stage();
      const stale = await store.open(options);
      await stale.journal.append([skipped(1)]);
      expect(await failureFrom(store.open(options))).toMatchObject({ kind: "run_locked" });
      if (lapse === null) return stale.journal.close(); // a lock of the kernel is had until its process ends
      await lapse(run);
      await filled(store, 2);
      expect(["lease_lost", "run_locked"]).toContain(
        (await failureFrom(stale.journal.append([skipped(66)]))).kind,
      );

      await stale.journal.close();
      const seqs: number[] = [];
      await store.read(genesis, ({ seq }) => seqs.push(seq));
      expect(seqs).toEqual([1, 2]);
    });

    test("takes a planner's lines while its lease is held, and none once another has it, whoever has the journal", async () => {
      const { store, run } = opened();
      const { lapse, store: leases } = stage();
      const planner = await leases.open(`${run}-planner`, "portfolio", options);
      const under = async (lease: Lease): Promise<OpenedRun> =>
        store.open({ ...options, under: lease });
      const late = await under(planner.lease);
      expect(await late.journal.append([skipped(1)])).toMatchObject([{ seq: 1 }]);
      expect(await late.journal.append([skipped(2), skipped(3)])).toMatchObject([
        { seq: 2 },
        { seq: 3 },
      ]);

      if (lapse !== null) {
        await lapse(`${run}-planner`);
        const next = await leases.open(`${run}-planner`, "portfolio", options);
        expect(await failureFrom(late.journal.append([skipped(66)]))).toMatchObject({
          kind: "lease_lost",
        });

        await late.journal.close();
        const again = await under(planner.lease);
        expect(await failureFrom(again.journal.append([skipped(66), skipped(67)]))).toMatchObject({
          kind: "lease_lost",
        });

        await again.journal.close();
        const successor = await under(next.lease);
        expect(await successor.journal.append([skipped(4)])).toMatchObject([{ seq: 4 }]);
        await successor.journal.close();
        await next.journal.close();
      }

      await late.journal.close();
      await planner.journal.close();
      await filled(store, 5); // a person's change is nobody's plan
      const steps: string[] = [];
      await store.read(genesis, (entry) => steps.push((entry as unknown as { step: string }).step));
      expect(steps).toEqual([
        "step-1",
        "step-2",
        "step-3",
        ...(lapse === null ? [] : ["step-4"]),
        "step-5",
      ]);
    });

    const begun = async (): Promise<{
      readonly root: string;
      readonly at: () => PortfolioPaths;
      readonly here: CommandContext;
    }> => {
      const root = join(folder, newName());
      mkdirSync(join(root, ".autopilot/portfolio"), { recursive: true });
      const { store } = opened();
      const at = (): PortfolioPaths => ({ ...portfolioAt(root), journal: store });
      const here = place(root);
      await withPortfolio(here, at(), ({ write }) =>
        write(
          { ...said, event: "portfolio_created", name: "s", budget: {}, day_budget: {} },
          { ...said, event: "project_created", project_id: "proj-a", fields: project() },
        ),
      );

      return { root, at, here };
    };

    test("keeps a portfolio: two that write in turn, one with its fold and one anew, lose nothing and draw the same", async () => {
      const { root, at, here } = await begun();
      const pool = at();
      const add = (paths: PortfolioPaths, word: string): Promise<void> =>
        withPortfolio(here, paths, ({ write }) => write(taskAdded(word)));
      await Promise.all(["a", "b", "c"].map((word) => add(pool, word)));

      for (const [word, paths] of [
        ["d", at()],
        ["e", pool],
        ["f", at()],
        ["g", pool],
      ] as const) {
        await add(paths, word);
      }

      const kept = await readPortfolio(pool);
      expect(kept).toEqual(await readPortfolio(at()));
      expect(Object.keys(kept.tasks)).toHaveLength(7);
      const drawn = readFileSync(join(root, ".openclaw-autopilot/events/events.jsonl"), "utf8");
      expect(drawn).toBe((await readAllLines(at())).map((line) => `${line}\n`).join(""));
    });

    test("keeps a portfolio: a change that is refused leaves no trace, in the journal or in what was folded", async () => {
      const { at, here } = await begun();
      const pool = at();
      await withPortfolio(here, pool, ({ write }) => write(taskAdded("a")));
      const before = structuredClone(await readPortfolio(pool));
      await expect(
        withPortfolio(here, pool, ({ write }) =>
          write({ ...taskAdded("b"), task_id: 7 } as unknown as PortfolioChange),
        ),
      ).rejects.toThrow();

      await expect(
        withPortfolio(here, pool, () => Promise.reject(new Error("cut short"))),
      ).rejects.toThrow("cut short");

      const full = { ...pool, journal: onFullDisk(pool.journal) };
      await expect(
        withPortfolio(here, full, ({ write }) => write(taskAdded("b"))),
      ).rejects.toMatchObject({ kind: "disk_full" });

      expect(await readPortfolio(full)).toEqual(before);
      expect(await readPortfolio(pool)).toEqual(before);
      await withPortfolio(here, pool, ({ write }) => write(taskAdded("b")));
      expect(Object.keys((await readPortfolio(at())).tasks)).toHaveLength(2);
    });
  });
}
