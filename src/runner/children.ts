// children: a `flow` step's child run: another flow, its own journal in the parent's folder, its own branch; it never lands itself.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { dimensions } from "../contracts/budget.ts";
import type { EventOf } from "../contracts/event.ts";
import type { ChildAsks } from "../contracts/outcome.ts";
import { remainingAmount } from "../core/budget.ts";
import { own } from "../core/record.ts";
import { hasFailed, isPausedFor, questionsOpen } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import type { ChildAnswered, Children } from "../engine/runtime.ts";
import type { LoadedFlow } from "../flows/load.ts";
import { canonicalJson } from "../kit/canonical-json.ts";
import { registryVersions } from "../playbooks/registry/registry.ts";
import type { CommandContext } from "../project/command-context.ts";
import { recordedPolicy } from "./draft/policy.ts";

/** An open run, as far as a parent needs it. */
export type ChildHand = {
  readonly view: () => RunView;
  readonly append: (
    event: EventOf<"preview_acknowledged"> | EventOf<"run_started"> | EventOf<"block_answered"> | EventOf<"run_resumed">,
  ) => Promise<void>;
  readonly drive: (options: { readonly cancel: AbortSignal }) => Promise<string>;
};

export type ChildParts = {
  readonly context: CommandContext;
  readonly folder: string;
  readonly view: () => RunView;
  readonly readBlob: (hash: string) => Promise<Buffer>;
  /** Writes a new journal with this first event and these blobs. */
  readonly begin: (folder: string, event: EventOf<"run_drafted">, blobs: readonly string[]) => Promise<void>;
  readonly hold: <Value>(folder: string, run: string, work: (hand: ChildHand) => Promise<Value>) => Promise<Value>;
};

export function childrenOf(parts: ChildParts): Children {
  return {
    async run({ attempt, flow, options, cancel, answered }) {
      const parent = parts.view().drafted;
      const run = answered?.run ?? `${parent.run_id}-${crc32(attempt)}`; // follows from the journal, so it is the same after every crash
      const folder = join(parts.folder, "children", run);
      if (!existsSync(join(folder, "journal.jsonl"))) await draft(parts, folder, run, attempt, flow, options);
      return parts.hold(folder, run, async (hand) => {
        const { ack } = hand.view().drafted;
        const common = { actor: "system", ack } as const;
        if (hand.view().status === "draft") {
          await hand.append({ ...common, event: "preview_acknowledged", reason_code: "ack_recorded" });
          await hand.append({ ...common, event: "run_started", reason_code: "run_started", from_state: "draft", to_state: "running" });
        }
        if (answered !== undefined) await takeAnswer(hand, answered);
        await goOn(hand, answered?.actor);
        const why = await hand.drive({ cancel });
        const { status, verdict, tip, ledger, drafted, detail } = hand.view();
        const { tokens, calls, usd, estimated } = ledger.run;
        const before = answered?.spent ?? { tokens: 0, calls: 0, usd: 0 };
        // Its minutes are not charged: the parent's own clock ran meanwhile.
        const usage = {
          tokens: tokens - before.tokens,
          calls: calls - before.calls,
          usd: usd - before.usd,
          minutes: 0,
          source: estimated > 0 ? "estimated" : "reported",
        } as const;
        const asks = asksOf(hand.view());
        return {
          usage,
          ...(asks === null ? {} : { asks: { run, ...asks, spent: { tokens, calls, usd } } }),
          ok: status === "completed",
          facts: { run, status, verdict: verdict ?? "none", commit: tip.commit },
          detail:
            asks !== null
              ? `child run ${run} has a question`
              : `child run ${run}: ${status === "completed" ? (verdict ?? "") : [why, detail].filter((part) => part !== null).join(", ")}`,
          ...(drafted.flow.lands_nothing === true ? {} : { work: { since: drafted.base.commit, commit: tip.commit } }),
        };
      });
    },
  };
}

/** The answer of its parent's user, given once; a question that was settled meanwhile stays settled. */
async function takeAnswer(hand: ChildHand, { block, answer, issues, actor }: ChildAnswered): Promise<void> {
  if (own(hand.view().blocks, block) === undefined) return;
  const more = issues === undefined ? {} : { issues: [...issues] };
  const request = `parent:${hand.view().seq}`;
  await hand.append({ event: "block_answered", actor, reason_code: "block_answered", request, block, answer, ...more });
}

/** A child that its parent's pause or question held up continues with its parent. Its own holds remain. */
async function goOn(hand: ChildHand, actor = "system"): Promise<void> {
  const { status, reason, decided, seq } = hand.view();
  if (status !== "paused" || (reason !== "operator_paused" && decided !== true)) return;
  const request = `parent:${seq}`;
  await hand.append({ event: "run_resumed", actor, reason_code: "operator_resumed", request, from_state: "paused", to_state: "running" });
}

/** The question that a child waits for, if it waits for nothing else. */
function asksOf(run: RunView): Omit<ChildAsks, "run" | "spent"> | null {
  if (run.status !== "paused" || run.parked !== undefined || hasFailed(run)) return null;
  const open = questionsOpen(run);
  const asked = open.find((block) => isPausedFor(run, block)) ?? null;
  if (asked === null) return null;
  const { block, question, options, recommend, free } = asked;
  return { block, question, options: { ...options }, ...(recommend === null ? {} : { recommend }), ...(free === true ? { free } : {}) };
}

async function draft(
  parts: ChildParts,
  folder: string,
  run: string,
  attempt: string,
  name: string,
  options: Readonly<Record<string, string | number | boolean>>,
): Promise<void> {
  const { drafted, tip } = parts.view();
  const { flow, prompts, hash } = await recordedFlow(parts, name);
  const withoutLanding = flow.options?.["land"] === undefined ? {} : { land: false };
  const content = {
    flow,
    flow_hash: hash,
    ...(drafted.called === undefined ? {} : { called: structuredClone(drafted.called) as EventOf<"run_drafted">["called"] }),
    prompts: Object.fromEntries(Object.entries(prompts).map(([prompt, text]) => [prompt, sha256(text)])),
    registry: { ...registryVersions },
    objective: structuredClone(drafted.objective) as EventOf<"run_drafted">["objective"],
    options: { ...options, ...withoutLanding },
    budget: structuredClone(drafted.budget) as EventOf<"run_drafted">["budget"],
    limits: limitsLeft(parts.view(), attempt),
    checks: structuredClone(drafted.checks) as EventOf<"run_drafted">["checks"],
    cast: structuredClone(drafted.cast) as EventOf<"run_drafted">["cast"],
    isolation: drafted.isolation,
    policy: recordedPolicy(parts.view()),
    config_hash: drafted.config_hash,
  };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // The blobs for its own children are stored with it: each journal is complete by itself.
  const hashes = new Set([
    ...Object.values(drafted.cast).flatMap(({ script, instead = [] }) =>
      [script, ...instead.map((fallback) => fallback.script)].flatMap((fallback) => fallback ?? []),
    ),
    ...(drafted.called ?? []).flatMap((loadedFlow) => Object.values(loadedFlow.prompts)),
  ]);
  const texts = await Promise.all([...hashes].map(async (hash) => (await parts.readBlob(hash)).toString("utf8")));
  await parts.begin(
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

/** The flow as it was when the parent was drafted; a parent from before flows were kept uses the current one. */
async function recordedFlow(parts: ChildParts, name: string): Promise<Pick<LoadedFlow, "flow" | "prompts" | "hash">> {
  const kept = parts.view().drafted.called?.find(({ flow }) => flow.flow === name);
  if (kept === undefined) {
    const { loadedFlow } = await import("./draft/flows.ts"); // recorded flows don't need the flow parser
    return loadedFlow(parts.context, name);
  }
  const prompts: Record<string, string> = {};
  for (const [file, hash] of Object.entries(kept.prompts)) prompts[file] = (await parts.readBlob(hash)).toString("utf8");
  return { flow: structuredClone(kept.flow) as LoadedFlow["flow"], prompts, hash: kept.flow_hash };
}

/** A child may use what its parent has left, and no more. */
function limitsLeft(parent: RunView, attempt: string): EventOf<"run_drafted">["limits"] {
  const phase = parent.cursors[parent.open[attempt]?.cursor ?? ""]?.phase ?? "";
  const left = dimensions
    .map((dimension) => [dimension, remainingAmount(parent, phase, dimension)] as const)
    .filter(([, amount]) => Number.isFinite(amount));
  return { run: { ...parent.drafted.limits.run, ...Object.fromEntries(left) }, phase: { ...parent.drafted.limits.phase } };
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
