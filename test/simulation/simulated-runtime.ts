// simulated-runtime: the engine's ports over the fake machine. What the scripted plan says,
// happens; what the plug cuts, does not.

import type { Entry } from "../../src/contracts/event.ts";
import type { RunView, CursorView } from "../../src/core/state.ts";
import type { TurnPrompt, Runtime } from "../../src/engine/runtime.ts";
import type { Journal } from "../../src/journal/journal.ts";
import type { TurnResult } from "../../src/ports/agent.ts";
import type { FunctionInput, FunctionResult } from "../../src/ports/functions.ts";
import type { Machine } from "./machine.ts";
import type { Place, Plan, Script } from "./story.ts";

export const sha = (text: string): string =>
  Buffer.from(text.padEnd(20, "·")).toString("hex").slice(0, 40).padEnd(40, "0");

type Order = FunctionInput<RunView, CursorView>;

export function simulatedRuntime(
  machine: Machine,
  journal: Journal,
  script: Script,
  view: () => RunView,
  onEntry: (entry: Entry) => void,
): Runtime {
  const { disk } = machine;
  const planOf = (attempt: string): Plan => script(placeOf(view(), attempt)) ?? {};

  const perform = async ({ attempt }: Order): Promise<FunctionResult> => {
    const plan = planOf(attempt);
    await machine.tick();
    if (!disk.effects.has(attempt)) disk.effects.set(attempt, 1);
    await machine.tick();

    return plan.fail === undefined
      ? { ok: true, facts: plan.facts ?? {} }
      : { ok: false, facts: plan.facts ?? {}, reason: plan.fail, detail: plan.fail };
  };

  const anyFunction = new Proxy(
    {},
    {
      get: () => ({
        version: 1,
        effect: "keyed",
        perform,
        isDone: async (attempt: string) => disk.effects.has(attempt),
      }),
    },
  );

  const anyProof = new Proxy(
    {},
    { get: () => ({ version: 1, prove: async () => ({ ok: true, facts: {} }) }) },
  );

  return {
    journal: {
      append: async (events) => {
        machine.tickNow();
        const entries = journal.appendSync(events);
        machine.tickNow();

        return entries;
      },
      putBlob: (bytes) => journal.putBlob(bytes),
    },
    clock: {
      now: () => new Date(1_700_000_000_000 + machine.now * 1000).toISOString(),
      monotonicMs: () => machine.now,
      after: () => () => undefined,
    },
    agents: {
      turn: (asked) => turn(machine, asked.attempt, planOf(asked.attempt)),
      sweep: async () => {
        const left = disk.alive.size;
        disk.alive.clear();
        return left;
      },
    },
    receipts: {
      reserve: () => machine.tickNow(),
      keep: (attempt, turn) => {
        disk.receipts.set(attempt, turn);
        machine.tickNow();
      },
      read: (attempt) => disk.receipts.get(attempt) ?? null,
      drop: (attempt) => void disk.receipts.delete(attempt),
    },
    workspace: workspaceOf(machine, view),
    verifier: {
      check: async ({ attempt, checks }) => {
        const plan = planOf(attempt);
        await machine.tick();
        const status = plan.fail === undefined ? "passed" : "failed";

        const list =
          checks.length > 0
            ? checks
            : [
                {
                  id: `check:${attempt}`,
                  kind: "criterion" as const,
                  title: plan.fail ?? "ok",
                  command: "true",
                  source: "story",
                },
              ];
        return list.map((check) => ({
          check,
          status,
          exit_code: status === "passed" ? 0 : 1,
          duration_ms: 1,
          evidence: "0".repeat(64),
        }));
      },
      inspectProtected: async () => ({ content: "0".repeat(64), changes: [] }),
      composeBaseFiles: async ({ base }) => ({ from: base, paths: [], without: [] }),
      checkClaims: async () => [],
      prove: async ({ attempt, commit }) => proveIn(machine, attempt, commit, planOf, view),
    },
    functions: {
      run: anyFunction,
      proof: anyProof,
      phases: new Proxy(
        {},
        {
          get: () => async () =>
            script({
              read: true,
              isFixed: Object.keys(view().requests).some((name) => name.startsWith("resume:")),
            }) as never,
        },
      ),
      tasks: new Proxy(
        {},
        {
          get: () => async (_run: RunView, cursor: CursorView) => {
            await machine.tick();
            const plan = planOf(cursor.open ?? "");

            const left = (plan.left ?? []).map((id) => ({
              id,
              files: [],
              after: [],
              type: "checkpoint:human-verify",
            }));

            return { tasks: [...(plan.tasks ?? []), ...left] };
          },
        },
      ),
    },
    children: {
      run: async ({ attempt }) => {
        const plan = planOf(attempt);
        while ((disk.children.get(attempt) ?? 0) < 3) {
          await machine.tick();
          disk.children.set(attempt, (disk.children.get(attempt) ?? 0) + 1);
        }

        return { ok: plan.fail === undefined, facts: plan.facts ?? {}, detail: plan.fail ?? "" };
      },
    },
    requests: {
      pending: async () => [...disk.requests],
      forget: async (request) => {
        const at = disk.requests.findIndex((candidate) => candidate.request === request);
        if (at >= 0) disk.requests.splice(at, 1);
        machine.tickNow();
      },
      watch: (callback) => {
        disk.ring = callback;
        return () => (disk.ring = null);
      },
    },
    buildPrompt: async (): Promise<TurnPrompt> => ({
      prompt: "play",
      returns: null,
      promise: null,
      cast: { agent: "fake" },
    }),
    onEntry: (entry) => onEntry(entry),
    onLiveEvent: () => undefined,
  };
}

async function turn(machine: Machine, attempt: string, plan: Plan): Promise<TurnResult> {
  const { disk } = machine;
  if (disk.alive.has(attempt)) throw new Error(`two agents at once on ${attempt}`);
  disk.alive.add(attempt);
  disk.turns.push(attempt);
  await machine.tick();
  const layer = disk.layers.get(attempt);
  if (layer === undefined) throw new Error(`a turn of ${attempt} without a layer`);

  const left = {
    base: layer.base,
    isKept: plan.isLeftOut !== true || layer.isKept,
    file: plan.file ?? attempt,
  };

  disk.layers.set(attempt, {
    state: "dirty",
    tree: sha(`dirty ${disk.trees}`),
    isDone: plan.isDoneEarly ?? false,
    ...left,
  });

  await machine.tick();
  const usage = { tokens: plan.tokens ?? 100, calls: 1 };

  if (plan.cut !== undefined && !disk.interrupted.has(attempt)) {
    disk.interrupted.add(attempt);
    disk.alive.delete(attempt);
    const cut = { kind: "cut", detail: "cut by the story", usage } as const;

    return plan.cut === "provider"
      ? { ...cut, by: plan.cut, fault: "limit", resetAt: null }
      : { ...cut, by: plan.cut };
  }

  if (plan.turnFails !== undefined) {
    disk.alive.delete(attempt);
    disk.spent += usage.tokens;
    return { kind: "failed", reason: "agent_failed", detail: plan.turnFails, said: "", usage };
  }

  if (plan.changes !== false) disk.trees++;
  disk.layers.set(attempt, {
    state: "intact",
    tree: sha(`tree ${disk.trees}`),
    isDone: true,
    ...left,
  });

  disk.alive.delete(attempt);
  disk.spent += usage.tokens;
  const outside = plan.leavesScope === true ? ["/etc/passwd"] : [];

  return {
    kind: "ended",
    stop: "end_turn",
    said: "",
    says: plan.says ?? {},
    claim: undefined,
    promised: false,
    announcedMore: false,
    confidence: null,
    usage,
    outside,
    warnings: [],
    notes: [],
    question: null,
  };
}

function workspaceOf(machine: Machine, view: () => RunView): Runtime["workspace"] {
  const { disk } = machine;
  const tip = (): { commit: string; tree: string } =>
    disk.commits.at(-1) ?? { commit: view().drafted.base.commit, tree: view().drafted.base.tree };
  return {
    tip: async () => tip(),
    openLayer: async (attempt, _masks, keeps) => {
      await machine.tick();
      const base = disk.commits.length;
      disk.layers.set(attempt, {
        state: "dirty",
        tree: tip().tree,
        isDone: false,
        base,
        file: attempt,
        isKept: keeps === undefined,
      });

      return "/layer";
    },
    changesOf: async (attempt) => {
      await machine.tick();
      const { tree, file, isKept } = disk.layers.get(attempt) ?? {
        tree: tip().tree,
        file: "",
        isKept: true,
      };
      if (!isKept) return { paths: [], violations: [], ignored: 1, tree };

      return { paths: tree === tip().tree ? [] : [file], violations: [], ignored: 0, tree };
    },
    apply: async (attempt) => {
      await machine.tick();
      const parent = tip();
      const layer = disk.layers.get(attempt);
      const known = disk.commits.find(({ key }) => key === attempt);
      if (
        known === undefined &&
        (layer === undefined || layer.tree === parent.tree || !layer.isKept)
      ) {
        return null;
      }

      const since = disk.commits.slice(layer?.base ?? 0);
      if (known === undefined && since.some(({ file }) => file === layer?.file)) {
        return { conflict: [layer?.file ?? ""] };
      }

      const { commit, tree } = known ?? {
        commit: sha(`commit ${disk.commits.length}`),
        tree: layer?.tree ?? parent.tree,
      };

      if (known === undefined) {
        disk.commits.push({ key: attempt, commit, tree, file: layer?.file ?? attempt });
      }

      disk.layers.delete(attempt);
      disk.files.set(fileOf(view(), attempt), 1);
      await machine.tick();

      return {
        commit,
        parent: parent.commit,
        tree,
        paths: [layer?.file ?? known?.file ?? attempt],
        notApplied: 0,
      };
    },
    revert: async () => ({ applied: null, branch: null, conflict: [] }),
    mergeChild: async () => null,
    commitFiles: async () => null,
    restore: async () => null,
    preview: async (attempt) => (disk.layers.has(attempt) ? sha(`preview ${attempt}`) : null),
    quarantine: async (attempt) => {
      disk.layers.delete(attempt);
      machine.tickNow();
    },
    inspect: async (attempt, layerTree) => {
      const layer = disk.layers.get(attempt);
      const commit = disk.commits.find(({ key }) => key === attempt)?.commit ?? null;
      if (layer === undefined) return { layer: "absent", commit };

      return { layer: layerTree !== null && layer.tree === layerTree ? "intact" : "dirty", commit };
    },
    checkout: async () => "/check",
    dropCheckout: async () => undefined,
    foldersOf: (folder) => [folder],
    requireIntact: () => Promise.resolve(),
    treeOf: async () => tip().tree,
    differences: async () => [],
    pathsAt: async () => [],
    textAt: async () => null,
    isLater: async () => null,
    hasCommit: async () => false,
    rewrittenIn: async () => [],
    touchedIn: async () => [],
    stampOf: async () => null,
    dependenciesIn: async () => null,
    land: async () => ({ landed: true, how: "fast_forward", commit: tip().commit }),
    summary: async () => ({ files: 0, insertions: 0, deletions: 0, commits: [] }),
  };
}

/** Artifacts are there once a phase's attempt was applied; a survey asks for a whole phase. */
async function proveIn(
  machine: Machine,
  attempt: string,
  commit: string,
  planOf: (attempt: string) => Plan,
  view: () => RunView,
): Promise<{
  holds: boolean;
  failures: never[] | { rule: string; file: null; found: string; expected: string }[];
  checks: [];
}> {
  const survey = /^(.*)@0\/survey#1$/.exec(attempt)?.[1];
  if (survey !== undefined) {
    return {
      holds: [...machine.disk.files.keys()].some((path) => path.startsWith(`${survey}/`)),
      failures: [],
      checks: [],
    };
  }

  // Recovery asks of a turn that was never written down: with its layer, and without.
  if (view().open[attempt]?.stage === "started") {
    return {
      holds:
        commit === sha(`preview ${attempt}`) && machine.disk.layers.get(attempt)?.isDone === true,
      failures: [],
      checks: [],
    };
  }

  await machine.tick();
  const { fail } = planOf(attempt);
  if (fail === undefined) return { holds: true, failures: [], checks: [] };

  return {
    holds: false,
    failures: [{ rule: "story", file: null, found: fail, expected: "nothing" }],
    checks: [],
  };
}

function fileOf(run: RunView, attempt: string): string {
  const open = run.open[attempt];
  const cursor = open === undefined ? undefined : run.cursors[open.cursor];
  return `${cursor?.phase ?? "?"}/${cursor?.kind === "phase" ? open?.step : "task"}`;
}

/** Where an attempt stands, as a story asks for it. */
export function placeOf(run: RunView, attempt: string): Place {
  const open = run.open[attempt];
  const cursor = open === undefined ? undefined : run.cursors[open.cursor];
  if (open === undefined || cursor === undefined) throw new Error(`${attempt} is not open`);

  const task =
    cursor.kind === "task"
      ? cursor.task
      : cursor.kind === "wave"
        ? (cursor.path.split("/").at(-1)?.replace("wave:", "wave-") ?? null)
        : null;

  return {
    phase: cursor.phase,
    step: open.step,
    task,
    n: Number(attempt.split("#").at(-1)),
    visit: cursor.visit,
    run,
    cursor,
  };
}
