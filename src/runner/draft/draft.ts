// draft: makes an objective into a run that waits for acknowledgement. Everything is validated before anything is written.

import { unknownLimits } from "../../flows/unknown-limits.ts";
import { createHash } from "node:crypto";
import type { EventOf } from "../../contracts/event.ts";
import { confidenceFloors } from "../../contracts/objective.ts";
import { definedFields } from "../../core/drafts.ts";
import { canonicalJson } from "../../kit/canonical-json.ts";
import { addIgnoreLines } from "../../workspace/owned.ts";
import { calledBy } from "./called-flows.ts";
import { assignAgents, inferredAgent, unusedRoleWarnings } from "./assign-agents.ts";
import { readChecks } from "./collect-checks.ts";
import { loadPlaybook } from "../../playbooks/registry/table.ts";
import { loadedFlow } from "./load-checked-flow.ts";
import { registryVersions } from "../../playbooks/registry/registry.ts";
import { nonBlank } from "../../playbooks/contract/non-blank.ts";
import type { GoInput } from "../../playbooks/contract/go-input.ts";
import { type ProjectPaths, newRunId, runFolder, writeCurrent } from "../../project/runs/project-paths.ts";
import { refuseInside } from "../../project/inside-repository.ts";
import { readObjective } from "./objective.ts";
import { flowLimits, unusedLimitWarnings } from "./flow-limits.ts";
import { beginRun } from "../begin-run.ts";
import { refuseSecondRun, whileNoOtherStarts } from "../../project/runs/open-runs.ts";
import { openedRepository, surveying } from "../../project/runs/opened-repository.ts";
import { flowOptions, unusedPolicyWarnings } from "./flow-options.ts";
import { actorOf, type CommandContext } from "../../project/command-context.ts";
import { policyOf } from "./policy.ts";
import { product } from "../../project/runs/product.ts";
import { refuse } from "../../project/reply.ts";
import { settingsOf } from "../../project/config/settings.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { tryIsolation } from "./try-isolation.ts";

export type Drafted = { readonly run: string; readonly warnings: readonly string[]; readonly uncommitted: readonly string[] };

export async function makeDraft(context: CommandContext, paths: ProjectPaths, input: GoInput): Promise<Drafted> {
  refuseInside(context, paths);
  const settings = settingsOf(context, paths, input);
  const { flow, prompts, hash } = await loadedFlow(context, input.flow ?? "objective");
  const called = await calledBy(flow, (name) => loadedFlow(context, name));
  const playbook = await loadPlaybook(flow.playbook);
  const checkout = await openedRepository(paths.root);
  const repository = input.base === undefined ? checkout : { ...checkout, branch: null, head: input.base };
  const isSurveyed = input.base === undefined && input.isCopy !== true;
  const survey = isSurveyed ? surveying(checkout, playbook?.ownedPaths) : () => Promise.resolve({ warnings: [], uncommitted: [] });
  const prepared = await playbook?.prepare?.({ context, paths, input, loadFlow: (name) => loadedFlow(context, name) });
  const { estimate, resumes } = prepared ?? {};
  const said = withScope(withGoal(input, prepared?.goal), prepared?.scope);
  const read = readObjective(said, settings.config, flow, estimate, resumes?.tokens);
  if ("failure" in read) {
    const { message, field, missing_fields } = read.failure;
    refuse("objective_schema_invalid", { message, data: { field, missing_fields } });
  }
  const { objective, inferred_defaults, warnings } = read;
  await refuseSecondRun(context, paths, flow, { self: null, isNew: input.new === true });
  const scripts: string[] = [];
  const only = await inferredAgent(context, input.agent, settings.config, flow);
  const config = only === null ? settings.config : { ...settings.config, agent: only.name };
  const cast = await assignAgents(context, input.agent, config, flow, (text) => {
    scripts.push(text);
    return Promise.resolve(sha256(text));
  });
  const commands = [...(settings.config.checks?.commands ?? []), ...(prepared?.checks ?? [])];
  const { checks, restores, warnings: unreadable } = await readChecks(repository, objective, { ...settings.config.checks, commands });
  const [unknown] = await unknownLimits(paths.root, settings.config.limits ?? {});
  if (unknown !== undefined) refuse("config_invalid", { message: `limits.${unknown.name} in your config: ${unknown.message}` });
  // Documents only tighten, so they are read before the config.
  const tuned = { ...settings.config.limits, ...prepared?.limits };
  const isolation = settings.isolation;
  await tryIsolation(isolation, paths);

  const draft = {
    flow,
    flow_hash: hash,
    prompts: hashesOf(prompts),
    ...(called.length === 0
      ? {}
      : { called: called.map((item) => ({ flow: item.flow, flow_hash: item.hash, prompts: hashesOf(item.prompts) })) }),
    registry: { ...registryVersions },
    objective,
    inferred_defaults: [...inferred_defaults, ...(only === null ? [] : ["agent"])],
    options: flowOptions(flow, input, objective, confidenceFloors[objective.risk_level], { tuned, prepared }),
    budget: objective.max_budget,
    limits: flowLimits(flow, objective, tuned, { isBudgetGiven: !inferred_defaults.includes("max-budget") }),
    checks,
    cast,
    isolation,
    policy: { ...policyOf(settings.config, restores, input.land), ...definedFields({ dependencies_from: input.copyOf }) },
    ...(prepared === undefined ? {} : { documents: prepared.documents.map(({ path, text }) => ({ path, hash: sha256(text) })) }),
    ...(prepared?.resumes === undefined ? {} : { resumes: prepared.resumes }),
    config_hash: settings.hash,
  };
  const blobs = [
    ...[prompts, ...called.map((item) => item.prompts)].flatMap((texts) => Object.values(texts)),
    ...scripts,
    ...(prepared?.documents ?? []).map(({ text }) => text),
  ];
  const { uncommitted, warnings: reported } = await survey();
  await addIgnoreLines(repository.commonDir);
  // The name a bare command means changes under the same lock as starting a run: no draft takes it from an open run.
  const run = await whileNoOtherStarts(paths, async () => {
    await refuseSecondRun(context, paths, flow, { self: null, isNew: input.new === true });
    const id = input.newId ?? newRunId(paths, systemClock.now());
    const event: EventOf<"run_drafted"> = {
      event: "run_drafted",
      actor: actorOf(context),
      reason_code: "run_drafted",
      run_id: id,
      product,
      ...draft,
      base: { branch: repository.branch, commit: repository.head.commit, tree: repository.head.tree },
      ack: sha256(canonicalJson(draft)),
      to_state: "draft",
    };
    await beginRun({ context, paths, folder: runFolder(paths, id), event, blobs });
    writeCurrent(paths, id);
    return id;
  });
  const unread = unreadable.map(({ file, reason }) => `${file} was not understood, so its checks are not run: ${reason}`);
  const assumed = only === null ? [] : [`No agent was named, so ${only.name} was taken: ${only.why}.`];
  const over = (settings.config.checks?.quarantine ?? [])
    .filter(({ until }) => systemClock.now().slice(0, 10) > until)
    .map(({ check, until }) => `The quarantine of ${check} ended with ${until}, so it counts again.`);
  return {
    run,
    uncommitted,
    warnings: [
      ...settings.warnings,
      ...(prepared?.warnings ?? []),
      ...unusedLimitWarnings(flow, tuned),
      ...unusedRoleWarnings(settings.config, Object.keys(cast)),
      ...unusedPolicyWarnings(flow, objective),
      ...warnings,
      ...assumed,
      ...reported,
      ...unread,
      ...over,
    ],
  };
}

/** The goal from the documents, if the user named none. */
function withGoal(input: GoInput, goal: string | undefined): GoInput {
  if (goal === undefined || nonBlank(input.words.join(" ")) !== null || nonBlank(input.goal) !== null) return input;
  return { ...input, goal };
}

const withScope = (input: GoInput, scope: readonly string[] | undefined): GoInput =>
  scope === undefined || (input.scope ?? []).some((pattern) => nonBlank(pattern) !== null) ? input : { ...input, scope };

const hashesOf = (prompts: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(prompts).map(([name, text]) => [name, sha256(text)]));

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
