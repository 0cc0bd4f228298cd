// child-runs: runs the child run of a `flow` step: another flow, with its own journal in the
// parent's folder and its own branch. It never lands itself.

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { dimensions } from "../contracts/budget.ts";
import type { EventOf } from "../contracts/event.ts";
import type { ChildAsks } from "../contracts/outcome.ts";
import { remainingAmount } from "../core/budget.ts";
import { ownValue } from "../core/own-values.ts";
import { hasFailed, isPausedFor, listOpenQuestions } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import type { ChildAnswer, ChildRuns } from "../engine/runtime.ts";
import type { LoadedFlow } from "../flows/load.ts";
import { canonicalJson } from "../kit/canonical-json.ts";
import { registryVersions } from "../playbooks/registry/registry.ts";
import type { CommandContext } from "../project/command-context.ts";
import { readRecordedPolicy } from "./draft/run-policy.ts";
import { sha256 } from "../project/sha256.ts";

/** An open run, as far as a parent needs it. */
export type OpenChild = {
  readonly view: () => RunView;
  readonly append: (
    event:
      | EventOf<"preview_acknowledged">
      | EventOf<"run_started">
      | EventOf<"block_answered">
      | EventOf<"run_resumed">,
  ) => Promise<void>;
  readonly drive: (options: { readonly cancel: AbortSignal }) => Promise<string>;
};

export type ChildParts = {
  readonly context: CommandContext;
  readonly folder: string;
  readonly view: () => RunView;
  readonly readBlob: (hash: string) => Promise<Buffer>;
  /** Writes a new journal with this first event and these blobs. */
  readonly beginChild: (
    folder: string,
    event: EventOf<"run_drafted">,
    blobs: readonly string[],
  ) => Promise<void>;
  readonly withChild: <Value>(
    folder: string,
    run: string,
    work: (child: OpenChild) => Promise<Value>,
  ) => Promise<Value>;
};

export function createChildren(parts: ChildParts): ChildRuns {
  return {
    async run({ attempt, flow, options, cancel, answered }) {
      // The id follows from the journal, so it is the same after every crash.
      const run = answered?.run ?? `${parts.view().drafted.run_id}-${crc32(attempt)}`;
      const folder = join(parts.folder, "children", run);
      if (!existsSync(join(folder, "journal.jsonl"))) {
        await draftChild(parts, { folder, run, attempt, flow, options });
      }

      return parts.withChild(folder, run, async (child) => {
        if (child.view().status === "draft") await startChild(child);
        if (answered !== undefined) await recordAnswer(child, answered);
        await resumeChild(child, answered?.actor);
        const why = await child.drive({ cancel });

        return buildChildResult({ run, view: child.view(), why, answered });
      });
    },
  };
}

async function startChild(child: OpenChild): Promise<void> {
  const common = { actor: "system", ack: child.view().drafted.ack } as const;
  await child.append({ ...common, event: "preview_acknowledged", reason_code: "ack_recorded" });
  await child.append({
    ...common,
    event: "run_started",
    reason_code: "run_started",
    from_state: "draft",
    to_state: "running",
  });
}

type ChildEnd = {
  readonly run: string;
  readonly view: RunView;
  /** Why the child rests. */
  readonly why: string;
  readonly answered: ChildAnswer | undefined;
};

/**
 * Builds the step's result from the child's state: what it used since the last answer, its
 * question, its commits.
 */
function buildChildResult({
  run,
  view,
  why,
  answered,
}: ChildEnd): Awaited<ReturnType<ChildRuns["run"]>> {
  const { status, verdict, tip, ledger, drafted, detail } = view;
  const { tokens, calls, usd, estimated } = ledger.run;
  const chargedBefore = answered?.spent ?? { tokens: 0, calls: 0, usd: 0 };
  const openQuestion = findOpenQuestion(view);
  const ending =
    status === "completed"
      ? (verdict ?? "")
      : [why, detail].filter((part) => part !== null).join(", ");

  return {
    usage: {
      tokens: tokens - chargedBefore.tokens,
      calls: calls - chargedBefore.calls,
      usd: usd - chargedBefore.usd,
      minutes: 0, // not charged: the parent's own clock ran meanwhile
      source: estimated > 0 ? "estimated" : "reported",
    },
    ...(openQuestion === null
      ? {}
      : { asks: { run, ...openQuestion, spent: { tokens, calls, usd } } }),
    ok: status === "completed",
    facts: { run, status, verdict: verdict ?? "none", commit: tip.commit },
    detail:
      openQuestion === null ? `child run ${run}: ${ending}` : `child run ${run} has a question`,
    ...(drafted.flow.lands_nothing === true
      ? {}
      : { work: { since: drafted.base.commit, commit: tip.commit } }),
  };
}

/**
 * Records the answer of the parent's user, once; a question that was settled meanwhile stays
 * settled.
 */
async function recordAnswer(
  child: OpenChild,
  { block, answer, issues, actor }: ChildAnswer,
): Promise<void> {
  if (ownValue(child.view().blocks, block) === undefined) return;
  const issueFields = issues === undefined ? {} : { issues: [...issues] };
  const request = `parent:${child.view().seq}`;
  await child.append({
    event: "block_answered",
    actor,
    reason_code: "block_answered",
    request,
    block,
    answer,
    ...issueFields,
  });
}

/**
 * Resumes a child that was paused because of its parent's pause or question. A pause of the child's
 * own remains.
 */
async function resumeChild(child: OpenChild, actor = "system"): Promise<void> {
  const { status, reason, decided, seq } = child.view();
  if (status !== "paused" || (reason !== "operator_paused" && decided !== true)) return;
  const request = `parent:${seq}`;
  await child.append({
    event: "run_resumed",
    actor,
    reason_code: "operator_resumed",
    request,
    from_state: "paused",
    to_state: "running",
  });
}

/** Finds the question that a child waits for; null if it waits for anything else. */
function findOpenQuestion(run: RunView): Omit<ChildAsks, "run" | "spent"> | null {
  if (run.status !== "paused" || run.parked !== undefined || hasFailed(run)) return null;
  const block = listOpenQuestions(run).find((candidate) => isPausedFor(run, candidate));
  if (block === undefined) return null;
  const { question, options, recommend, free } = block;

  return {
    block: block.block,
    question,
    options: { ...options },
    ...(recommend === null ? {} : { recommend }),
    ...(free === true ? { free } : {}),
  };
}

type ChildDraft = {
  readonly folder: string;
  readonly run: string;
  /** The parent's attempt that called the flow. */
  readonly attempt: string;
  readonly flow: string;
  readonly options: Readonly<Record<string, string | number | boolean>>;
};

/**
 * Writes the child's draft: the called flow with the parent's objective, agents, checks and
 * remaining limits.
 */
async function draftChild(
  parts: ChildParts,
  { folder, run, attempt, flow: name, options }: ChildDraft,
): Promise<void> {
  const { drafted, tip } = parts.view();
  const { flow, prompts, hash } = await loadRecordedFlow(parts, name);
  const withoutLanding = flow.options?.["land"] === undefined ? {} : { land: false };

  const content = {
    flow,
    flow_hash: hash,
    ...(drafted.called === undefined
      ? {}
      : { called: structuredClone(drafted.called) as EventOf<"run_drafted">["called"] }),
    prompts: Object.fromEntries(
      Object.entries(prompts).map(([prompt, text]) => [prompt, sha256(text)]),
    ),
    registry: { ...registryVersions },
    objective: structuredClone(drafted.objective) as EventOf<"run_drafted">["objective"],
    options: { ...options, ...withoutLanding },
    budget: structuredClone(drafted.budget) as EventOf<"run_drafted">["budget"],
    limits: computeRemainingLimits(parts.view(), attempt),
    checks: structuredClone(drafted.checks) as EventOf<"run_drafted">["checks"],
    cast: structuredClone(drafted.cast) as EventOf<"run_drafted">["cast"],
    isolation: drafted.isolation,
    policy: { ...readRecordedPolicy(parts.view()), changed_tests: undefined }, // its parent takes its work
    config_hash: drafted.config_hash,
  };

  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const hashes = listInheritedBlobs(parts.view());
  const texts = await Promise.all(
    [...hashes].map(async (hash) => (await parts.readBlob(hash)).toString("utf8")),
  );

  await parts.beginChild(
    folder,
    {
      event: "run_drafted",
      actor: "system",
      reason_code: "run_drafted",
      run_id: run,
      product: drafted.product,
      ...content,
      base: { branch: null, commit: tip.commit, tree: tip.tree },
      ack: sha256(canonicalJson(content)),
      to_state: "draft",
    },
    [...Object.values(prompts), ...texts],
  );
}

/** Lists the blobs that the child's own children need: each journal is complete by itself. */
function listInheritedBlobs({ drafted }: RunView): ReadonlySet<string> {
  const scripts = Object.values(drafted.cast).flatMap(({ script, instead = [] }) => [
    script,
    ...instead.map((fallback) => fallback.script),
  ]);

  const prompts = (drafted.called ?? []).flatMap((called) => Object.values(called.prompts));
  return new Set([...scripts.filter((script) => script !== undefined), ...prompts]);
}

/**
 * Loads the flow as it was when the parent was drafted; for a parent from before flows were
 * recorded, as it is now.
 */
async function loadRecordedFlow(
  parts: ChildParts,
  name: string,
): Promise<Pick<LoadedFlow, "flow" | "prompts" | "hash">> {
  const recorded = parts.view().drafted.called?.find(({ flow }) => flow.flow === name);
  if (recorded === undefined) {
    const { loadCheckedFlow } = await import("./draft/load-checked-flow.ts"); // recorded flows don't need the flow parser
    return loadCheckedFlow(parts.context, name);
  }

  const prompts: Record<string, string> = {};
  for (const [file, hash] of Object.entries(recorded.prompts)) {
    prompts[file] = (await parts.readBlob(hash)).toString("utf8");
  }

  return {
    flow: structuredClone(recorded.flow) as LoadedFlow["flow"],
    prompts,
    hash: recorded.flow_hash,
  };
}

/** Limits a child to what its parent has left. */
function computeRemainingLimits(
  parent: RunView,
  attempt: string,
): EventOf<"run_drafted">["limits"] {
  const phase = parent.cursors[parent.open[attempt]?.cursor ?? ""]?.phase ?? "";
  const left = dimensions
    .map((dimension) => [dimension, remainingAmount(parent, phase, dimension)] as const)
    .filter(([, amount]) => Number.isFinite(amount));

  return {
    run: { ...parent.drafted.limits.run, ...Object.fromEntries(left) },
    phase: { ...parent.drafted.limits.phase },
  };
}
