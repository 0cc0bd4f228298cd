// still-runtime: a runtime in which nothing takes time but the journal: an agent that does nothing,
// a workspace that never changes.

import type { Draft } from "../src/contracts/event.ts";
import type { Runtime } from "../src/engine/runtime.ts";
import type { Journal } from "../src/journal/journal.ts";
import { beginningOf, zeros } from "./draft.ts";

const { sha } = zeros;
const tip = { commit: sha, tree: sha };

/**
 * A run whose one phase is a list of agent steps without rows: each step is its intent, its turn
 * and its outcome.
 */
export function draftOf(steps: number): Draft[] {
  const phase = {
    id: "1",
    steps: Array.from({ length: steps }, (_, at) => ({
      id: `s${at}`,
      agent: "worker",
      prompt: "work.md",
    })),
  };

  return beginningOf({
    flow: { flow: "bench", version: 1, lands_nothing: true, phases: [phase] },
    // The agent changes nothing, so the breaker must not open over it.
    limits: { run: { no_progress: 1e9, no_progress_threshold: 1e9, retries: 1e9 }, phase: {} },
    cast: { worker: { agent: "still" } },
  });
}

export function stillRuntime(journal: Journal, onEntry: Runtime["onEntry"]): Runtime {
  return {
    journal: {
      append: (events) => journal.append(events),
      putBlob: (bytes) => journal.putBlob(bytes),
    },
    clock: {
      now: () => new Date().toISOString(),
      monotonicMs: () => performance.now(),
      after: (ms, callback) => {
        const timer = setTimeout(callback, ms);
        return () => clearTimeout(timer);
      },
    },
    agents: {
      turn: async () => ({
        kind: "ended",
        stop: "end_turn",
        said: "",
        says: {},
        claim: undefined,
        promised: false,
        announcedMore: false,
        confidence: null,
        usage: { tokens: 1, calls: 1 },
        outside: [],
        warnings: [],
        notes: [],
        question: null,
      }),
      sweep: async () => 0,
    },
    receipts: {
      reserve: () => undefined,
      keep: () => undefined,
      read: () => null,
      drop: () => undefined,
    },
    workspace: {
      tip: async () => tip,
      openLayer: async () => "/",
      changesOf: async () => ({ paths: [], violations: [], ignored: 0, tree: sha }),
      apply: async () => null,
      preview: async () => null,
      revert: async () => ({ applied: null, branch: null, conflict: [] }),
      mergeChild: async () => null,
      commitFiles: async () => null,
      restore: async () => null,
      quarantine: async () => undefined,
      inspect: async () => ({ layer: "absent", commit: null }),
      checkout: async () => "/",
      dropCheckout: async () => undefined,
      foldersOf: (folder) => [folder],
      requireIntact: () => Promise.resolve(),
      treeOf: async () => sha,
      differences: async () => [],
      pathsAt: async () => [],
      textAt: async () => null,
      isLater: async () => null,
      hasCommit: async () => false,
      touchedIn: async () => [],
      stampOf: async () => null,
      rewrittenIn: async () => [],
      dependenciesIn: async () => null,
      land: async () => ({ landed: false, because: "nothing_to_land", detail: "" }),
      summary: async () => ({ files: 0, insertions: 0, deletions: 0, commits: [] }),
    },
    verifier: {
      check: async () => [],
      prove: async () => ({ holds: true, failures: [], checks: [] }),
      inspectProtected: async () => ({ content: "", changes: [] }),
      composeBaseFiles: async ({ base }) => ({ from: base, paths: [], without: [] }),
      checkClaims: async () => [],
    },
    functions: { run: {}, proof: {}, phases: {}, tasks: {} },
    children: { run: async () => ({ ok: true, facts: {}, detail: "" }) },
    requests: {
      pending: async () => [],
      forget: async () => undefined,
      watch: () => () => undefined,
    },
    buildPrompt: async () => ({
      prompt: "",
      returns: null,
      promise: null,
      cast: { agent: "still" },
    }),
    onEntry,
    onLiveEvent: () => undefined,
  };
}
