// make-draft: makes an objective into a run that waits for acknowledgement. Everything is validated
// before anything is written.

import type { LoadedFlow } from "../../flows/load.ts";
import { findUnknownLimits } from "../../flows/unknown-limits.ts";
import type { Config } from "../../contracts/config.ts";
import type { Cast, EventOf } from "../../contracts/event.ts";
import type { Flow } from "../../contracts/flow.ts";
import { confidenceFloors, type Objective } from "../../contracts/objective.ts";
import { definedFields } from "../../core/drafts.ts";
import { canonicalJson } from "../../kit/canonical-json.ts";
import type { Repository } from "../../workspace/git/repository.ts";
import { addIgnoreLines } from "../../workspace/owned-paths.ts";
import { loadCalledFlows } from "./called-flows.ts";
import type { InferredAgent } from "./choose-unnamed-agent.ts";
import { assignAgents, inferAgent, listUnusedRoleWarnings } from "./assign-agents.ts";
import { collectChecks } from "./collect-checks.ts";
import { loadPlaybook } from "../../playbooks/registry/table.ts";
import { loadCheckedFlow } from "./load-checked-flow.ts";
import { registryVersions } from "../../playbooks/registry/registry.ts";
import { nonBlank } from "../../playbooks/contract/non-blank.ts";
import type { GoInput } from "../../playbooks/contract/go-input.ts";
import type { PreparedRun } from "../../playbooks/contract/playbook.ts";
import {
  type ProjectPaths,
  claimRunId,
  runFolder,
  writeCurrent,
} from "../../project/runs/project-paths.ts";
import { resolveObjective, type ResolvedObjective } from "./resolve-objective.ts";
import { computeFlowLimits, listUnusedLimitWarnings } from "./flow-limits.ts";
import { beginRun } from "../begin-run.ts";
import { refuseSecondRun, whileNoOtherStarts } from "../../project/runs/open-runs.ts";
import { requireRepository, startSurvey } from "../../project/runs/require-repository.ts";
import { computeFlowOptions, listUnusedPolicyWarnings } from "./flow-options.ts";
import { toActor, type CommandContext } from "../../project/command-context.ts";
import { buildPolicy } from "./run-policy.ts";
import {
  findStartFolder,
  readFromFolder,
  refuseDocumentsBelowRoot,
  listStartFolderWarnings,
} from "./start-folder.ts";
import { product } from "../../project/runs/product.ts";
import { refuse } from "../../project/respond.ts";
import { requireSettings } from "../../project/config/settings.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { tryIsolation } from "./try-isolation.ts";
import { sha256 } from "../../project/sha256.ts";

export type NewDraft = {
  readonly run: string;
  readonly warnings: readonly string[];
  readonly uncommitted: readonly string[];
};

export async function makeDraft(
  context: CommandContext,
  paths: ProjectPaths,
  input: GoInput,
): Promise<NewDraft> {
  const settings = requireSettings(context, paths, input);
  const loaded = await loadCheckedFlow(context, input.flow ?? "objective");
  const { flow } = loaded;
  const folder = findStartFolder(context, paths);
  if (flow.playbook !== undefined) refuseDocumentsBelowRoot(folder);
  const calledFlows = await loadCalledFlows(flow, (name) => loadCheckedFlow(context, name));
  const playbook = await loadPlaybook(flow.playbook);
  const checkout = await requireRepository(paths.root);
  const repository =
    input.base === undefined ? checkout : { ...checkout, branch: null, head: input.base };
  const survey = isOwnRun(input)
    ? startSurvey(checkout, playbook?.ownedPaths)
    : () => Promise.resolve({ warnings: [], uncommitted: [] });

  const prepared = await playbook?.prepare?.({
    context,
    paths,
    input,
    loadFlow: (name) => loadCheckedFlow(context, name),
  });

  const {
    objective,
    inferred_defaults,
    warnings: objectiveWarnings,
  } = requireObjective(input, prepared, { config: settings.config, flow, folder });

  await refuseSecondRun(context, paths, flow, { self: null, isNew: input.new === true });
  const assignment = await assignRoles(context, {
    config: settings.config,
    flow,
    agent: input.agent,
  });
  const commands = [...(settings.config.checks?.commands ?? []), ...(prepared?.checks ?? [])];
  const collected = await collectChecks(repository, objective, {
    ...settings.config.checks,
    commands,
  });

  await refuseUnknownLimit(paths.root, settings.config);
  // Documents only tighten, so their limits replace the config's.
  const tunedLimits = { ...settings.config.limits, ...prepared?.limits };
  await tryIsolation(settings.isolation, paths);

  const content = buildContent({
    input,
    settings,
    loaded,
    called: calledFlows,
    prepared,
    objective,
    inferred_defaults,
    assignment,
    collected,
    tunedLimits,
  });

  const blobs = [
    ...[loaded.prompts, ...calledFlows.map((item) => item.prompts)].flatMap((texts) =>
      Object.values(texts),
    ),
    ...assignment.scripts,
    ...(prepared?.documents ?? []).map(({ text }) => text),
  ];

  const { uncommitted, warnings: surveyWarnings } = await survey();
  await addIgnoreLines(repository.commonDir);
  const run = await writeDraft(context, paths, { input, repository, content, blobs });

  return {
    run,
    uncommitted,
    warnings: [
      ...settings.warnings,
      ...(prepared?.warnings ?? []),
      ...listUnusedLimitWarnings(flow, tunedLimits),
      ...listUnusedRoleWarnings(settings.config, Object.keys(assignment.cast)),
      ...listUnusedPolicyWarnings(flow, objective),
      ...objectiveWarnings,
      ...listStartFolderWarnings(folder, { isScopeTyped: !inferred_defaults.includes("scope") }),
      ...listInferredAgentWarnings(assignment.inferred),
      ...surveyWarnings,
      ...collected.warnings.map(
        ({ file, reason }) => `${file} was not understood, so its checks are not run: ${reason}`,
      ),
      ...listEndedQuarantineWarnings(settings.config),
    ],
  };
}

/**
 * Resolves the objective from the command line, the documents and the config, or refuses with the
 * field that is wrong.
 */
function requireObjective(
  input: GoInput,
  prepared: PreparedRun | undefined,
  {
    config,
    flow,
    folder,
  }: { readonly config: Config; readonly flow: Flow; readonly folder: string },
): Extract<ResolvedObjective, { readonly objective: Objective }> {
  const resolved = resolveObjective({
    input: addDocumentScope(addDocumentGoal(input, prepared?.goal), prepared?.scope),
    config,
    flow,
    estimate: prepared?.estimate,
    tokensUsedBefore: prepared?.resumes?.tokens,
  });
  if ("failure" in resolved) {
    const { message, field, missing_fields } = resolved.failure;
    return refuse("objective_schema_invalid", { message, data: { field, missing_fields } });
  }

  const isScopeTyped = !resolved.inferred_defaults.includes("scope");
  return { ...resolved, objective: readFromFolder(resolved.objective, folder, { isScopeTyped }) };
}

async function refuseUnknownLimit(root: string, config: Config): Promise<void> {
  const [unknown] = await findUnknownLimits(root, config.limits ?? {});
  if (unknown !== undefined) {
    refuse("config_invalid", {
      message: `limits.${unknown.name} in your config: ${unknown.message}`,
    });
  }
}

type ContentParts = {
  readonly input: GoInput;
  readonly settings: ReturnType<typeof requireSettings>;
  readonly loaded: LoadedFlow;
  readonly called: Awaited<ReturnType<typeof loadCalledFlows>>;
  readonly prepared: PreparedRun | undefined;
  readonly objective: Objective;
  readonly inferred_defaults: readonly string[];
  readonly assignment: Awaited<ReturnType<typeof assignRoles>>;
  readonly collected: Awaited<ReturnType<typeof collectChecks>>;
  /** The limits of the config and the documents. */
  readonly tunedLimits: NonNullable<Config["limits"]>;
};

function buildContent(parts: ContentParts): DraftContent {
  const {
    input,
    settings,
    loaded,
    called,
    prepared,
    objective,
    inferred_defaults,
    assignment,
    collected,
    tunedLimits,
  } = parts;

  return {
    flow: loaded.flow,
    flow_hash: loaded.hash,
    prompts: hashTexts(loaded.prompts),
    ...(called.length === 0
      ? {}
      : {
          called: called.map((item) => ({
            flow: item.flow,
            flow_hash: item.hash,
            prompts: hashTexts(item.prompts),
          })),
        }),
    registry: { ...registryVersions },
    objective,
    inferred_defaults: [...inferred_defaults, ...(assignment.inferred === null ? [] : ["agent"])],
    options: computeFlowOptions(loaded.flow, {
      input,
      objective,
      confidenceFloor: confidenceFloors[objective.risk_level],
      tuned: tunedLimits,
      prepared,
    }),
    budget: objective.max_budget,
    limits: computeFlowLimits(loaded.flow, objective, tunedLimits, {
      isBudgetGiven: !inferred_defaults.includes("max-budget"),
    }),
    checks: collected.checks,
    cast: assignment.cast,
    isolation: settings.isolation,
    policy: {
      ...buildPolicy(settings.config, collected.restores, input.land),
      ...definedFields({ dependencies_from: input.copyOf }),
      // Whoever takes the work of a task or a follow-up wouldn't look at the tests.
      ...(isOwnRun(input) ? { changed_tests: "hold" } : {}),
    },
    ...(prepared === undefined
      ? {}
      : { documents: prepared.documents.map(({ path, text }) => ({ path, hash: sha256(text) })) }),
    ...(prepared?.resumes === undefined ? {} : { resumes: prepared.resumes }),
    config_hash: settings.hash,
  };
}

/** A run that a person began in their own checkout: no task of a portfolio, no follow-up. */
const isOwnRun = ({ base, isCopy }: GoInput): boolean => base === undefined && isCopy !== true;

const listInferredAgentWarnings = (inferred: InferredAgent | null): readonly string[] =>
  inferred === null ? [] : [`No agent was named, so ${inferred.name} was taken: ${inferred.why}.`];

/** Assigns the agents; roles without one get the only agent installed here, which is reported. */
async function assignRoles(
  context: CommandContext,
  {
    config,
    flow,
    agent,
  }: { readonly config: Config; readonly flow: Flow; readonly agent: string | undefined },
): Promise<{
  readonly cast: Record<string, Cast>;
  readonly scripts: readonly string[];
  readonly inferred: InferredAgent | null;
}> {
  const scripts: string[] = [];
  const storeScript = (text: string): Promise<string> => {
    scripts.push(text);
    return Promise.resolve(sha256(text));
  };

  const inferred = agent === undefined ? await inferAgent(context, config, flow) : null;
  const completeConfig = inferred === null ? config : { ...config, agent: inferred.name };
  return {
    cast: await assignAgents({ context, config: completeConfig, storeScript }, flow, agent),
    scripts,
    inferred,
  };
}

/** The part of a draft that its acknowledgement covers. */
type DraftContent = Omit<
  EventOf<"run_drafted">,
  "event" | "actor" | "reason_code" | "run_id" | "product" | "base" | "ack" | "to_state"
>;

type DraftParts = {
  readonly input: GoInput;
  readonly repository: Repository;
  readonly content: DraftContent;
  readonly blobs: readonly string[];
};

/** Journals the draft and makes it the current run; returns its id. */
async function writeDraft(
  context: CommandContext,
  paths: ProjectPaths,
  { input, repository, content, blobs }: DraftParts,
): Promise<string> {
  const { branch, head } = repository;
  // The run that a bare command means changes under the same lock as starting a run: no draft takes
  // that from an open run.
  return whileNoOtherStarts(paths, async () => {
    await refuseSecondRun(context, paths, content.flow, { self: null, isNew: input.new === true });
    const run = input.newId ?? claimRunId(paths, systemClock.now());

    const event: EventOf<"run_drafted"> = {
      event: "run_drafted",
      actor: toActor(context),
      reason_code: "run_drafted",
      run_id: run,
      product,
      ...content,
      base: { branch, commit: head.commit, tree: head.tree },
      ack: sha256(canonicalJson(content)),
      to_state: "draft",
    };

    await beginRun({ context, paths, folder: runFolder(paths, run), event, blobs });
    writeCurrent(paths, run);
    return run;
  });
}

const listEndedQuarantineWarnings = ({ checks }: Config): readonly string[] =>
  (checks?.quarantine ?? [])
    .filter(({ until }) => systemClock.now().slice(0, 10) > until)
    .map(
      ({ check, until }) => `The quarantine of ${check} ended with ${until}, so it counts again.`,
    );

/** Takes the goal from the documents, if the user named none. */
function addDocumentGoal(input: GoInput, goal: string | undefined): GoInput {
  if (
    goal === undefined ||
    nonBlank(input.words.join(" ")) !== null ||
    nonBlank(input.goal) !== null
  ) {
    return input;
  }

  return { ...input, goal };
}

const addDocumentScope = (input: GoInput, scope: readonly string[] | undefined): GoInput =>
  scope === undefined || (input.scope ?? []).some((pattern) => nonBlank(pattern) !== null)
    ? input
    : { ...input, scope };

const hashTexts = (prompts: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(prompts).map(([name, text]) => [name, sha256(text)]));
