// children: a `flow` step's child run: another flow, a journal of its own in the parent's folder, a branch of its own; it never lands itself.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { dimensions } from "../contracts/budget.ts";
import type { EventOf } from "../contracts/event.ts";
import { leftOf } from "../core/budget.ts";
import type { RunView } from "../core/state.ts";
import type { Children } from "../engine/runtime.ts";
import type { LoadedFlow } from "../flows/load.ts";
import { canonicalJson } from "../kit/canonical-json.ts";
import { registryVersions } from "../playbooks/registry/registry.ts";
import type { CommandContext } from "../project/command-context.ts";
import { recordedPolicy } from "./draft/policy.ts";

/** A run in hand, as far as a parent needs it. */
export type ChildHand = {
  readonly view: () => RunView;
  readonly append: (event: EventOf<"preview_acknowledged"> | EventOf<"run_started">) => Promise<void>;
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
    async run({ attempt, flow, options, cancel }) {
      const parent = parts.view().drafted;
      const run = `${parent.run_id}-${crc32(attempt)}`; // follows from the journal, so it is the same after every crash
      const folder = join(parts.folder, "children", run);
      if (!existsSync(join(folder, "journal.jsonl"))) await draft(parts, folder, run, attempt, flow, options);
      return parts.hold(folder, run, async (hand) => {
        const { ack } = hand.view().drafted;
        const common = { actor: "system", ack } as const;
        if (hand.view().status === "draft") {
          await hand.append({ ...common, event: "preview_acknowledged", reason_code: "ack_recorded" });
          await hand.append({ ...common, event: "run_started", reason_code: "run_started", from_state: "draft", to_state: "running" });
        }
        const why = await hand.drive({ cancel });
        const { status, verdict, tip, ledger, drafted, detail } = hand.view();
        const { tokens, calls, usd, estimated } = ledger.run;
        // Its minutes are not charged: the parent's own clock went on meanwhile.
        const usage = { tokens, calls, usd, minutes: 0, source: estimated > 0 ? "estimated" : "reported" } as const;
        return {
          usage,
          ok: status === "completed",
          facts: { run, status, verdict: verdict ?? "none", commit: tip.commit },
          detail: `child run ${run}: ${status === "completed" ? (verdict ?? "") : [why, detail].filter((one) => one !== null).join(", ")}`,
          ...(drafted.flow.lands_nothing === true ? {} : { work: { since: drafted.base.commit, commit: tip.commit } }),
        };
      });
    },
  };
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
  // What a child of its own would be told lies with it too: each journal is whole by itself.
  const hashes = new Set([
    ...Object.values(drafted.cast).flatMap(({ script, instead = [] }) =>
      [script, ...instead.map((one) => one.script)].flatMap((one) => one ?? []),
    ),
    ...(drafted.called ?? []).flatMap((one) => Object.values(one.prompts)),
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

/** The flow as it was when the parent was drafted; one that was drafted before flows were kept with it takes it as it is now. */
async function recordedFlow(parts: ChildParts, name: string): Promise<Pick<LoadedFlow, "flow" | "prompts" | "hash">> {
  const kept = parts.view().drafted.called?.find(({ flow }) => flow.flow === name);
  if (kept === undefined) {
    const { loadedFlow } = await import("./draft/flows.ts"); // no run needs the flow parser for what is recorded
    return loadedFlow(parts.context, name);
  }
  const prompts: Record<string, string> = {};
  for (const [file, hash] of Object.entries(kept.prompts)) prompts[file] = (await parts.readBlob(hash)).toString("utf8");
  return { flow: structuredClone(kept.flow) as LoadedFlow["flow"], prompts, hash: kept.flow_hash };
}

/** A child may use what its parent has left, and no more. */
function limitsLeft(parent: RunView, attempt: string): EventOf<"run_drafted">["limits"] {
  const phase = parent.walks[parent.open[attempt]?.walk ?? ""]?.phase ?? "";
  const left = dimensions
    .map((dimension) => [dimension, leftOf(parent, phase, dimension)] as const)
    .filter(([, amount]) => Number.isFinite(amount));
  return { run: { ...parent.drafted.limits.run, ...Object.fromEntries(left) }, phase: { ...parent.drafted.limits.phase } };
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
