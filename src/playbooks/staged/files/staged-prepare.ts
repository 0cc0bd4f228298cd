// staged-prepare: prepares a run of a staged flow: its options follow from the state file and from
// the documents that exist.

import { listSome } from "../../../kit/list-some.ts";
import { compileScope } from "../../../workspace/layers/scope-globs.ts";
import type { Flow, Scalar } from "../../../contracts/flow.ts";
import { stagedStatePath } from "../../../contracts/staged-state.ts";
import { declaredPhases, phaseRule } from "../../../core/selectors.ts";
import { listProofsOfDone } from "../../../engine/survey.ts";
import { isResearchDecided } from "../views/staged-decisions.ts";
import { parseStagedState, type ParsedStagedState } from "../views/parse-staged-state.ts";
import { renderStagedSummary } from "../views/staged-summary.ts";
import { type Finding, findingText } from "../../../kit/finding.ts";
import { git } from "../../../workspace/git/git.ts";
import { findGitPlaces } from "../../../workspace/git/git-places.ts";
import { openUserView } from "../../../workspace/git/user-view.ts";
import { refuse } from "../../../project/respond.ts";
import { requireSettings } from "../../../project/config/settings.ts";
import type { PreparedRun, PrepareInput } from "../../contract/playbook.ts";
import { findIgnoreRule, listRequiredPaths } from "../../contract/ignored-paths.ts";
import { type DetectedStep, detectStaged, describeDisagreement } from "./staged-detect.ts";
import { readStagedText } from "./staged-file.ts";
import { isSkipped, scanFlow } from "./staged-scan.ts";

const findingsShownMax = 8;
const filesShownMax = 5;
/**
 * Higher than usual, unless the config sets them: every step has its own retries and then asks a
 * person, so the breaker is a last resort.
 */
const stagedBreakerDefaults = { no_progress_threshold: 20, same_error_threshold: 20 };

export async function prepareStaged({
  context,
  paths,
  input,
  loadFlow,
}: PrepareInput): Promise<PreparedRun> {
  const { flow } = await loadFlow(input.flow ?? "");
  await refuseIgnoredDocuments(paths.root, flow);
  await refuseUncommittedDocuments(paths.root);
  refuseScopeWithoutDocs(input.scope);
  const file = await requireStagedText(paths.root);
  const parsed = file === null ? null : parseStagedState(file.text, stagedStatePath);
  const record = parsed?.state ?? null;
  const detected = await detectStaged(paths.root);
  const scan = await scanFlow(flow, detected.tree, record);

  // Shown before anything can be refused.
  const summary = record === null ? [] : renderStagedSummary(record);
  for (const line of summary) context.show(line);

  const startsNewTask = scan.entered === null && Object.hasOwn(flow.options ?? {}, "new_task");
  if (scan.entered === null && !startsNewTask) {
    refuse("ok", {
      state: "idle",
      message: `Every step of ${flow.flow} is done already; nothing was begun.`,
      remediation: ["autopilot go --flow existing-code takes new tasks"],
    });
  }

  const contradiction = startsNewTask ? null : describeDisagreement(flow, scan, record);
  const contradictions = contradiction === null ? [] : [contradiction];
  const { config } = requireSettings(context, paths, input);
  const isChosen = input.options?.["chosen"] !== undefined;

  return {
    options: {
      ...recordedOptions(flow, startsNewTask ? null : record),
      ...(startsNewTask ? { new_task: true } : {}),
      ...optionalSteps(flow, config.with ?? []),
      ...(isChosen ? {} : { chosen: describeChosen(flow.flow, detected) }),
    },
    documents: file === null ? [] : [{ path: stagedStatePath, text: file.text }],
    limits: chooseLimits(config.limits ?? {}),
    warnings: [...contradictions, ...describeFindings(parsed?.findings ?? [])],
  };
}

/** The state file; null if there is none. */
async function requireStagedText(root: string): Promise<{ readonly text: string } | null> {
  const file = await readStagedText(root);
  if (file !== null && "why" in file) {
    return refuse("file_invalid", {
      message: `${file.why}.`,
      remediation: [`mv ${stagedStatePath} elsewhere`],
    });
  }

  return file;
}

function optionalSteps(flow: Flow, configuredSteps: readonly string[]): Record<string, Scalar> {
  const options: Record<string, Scalar> = {};
  for (const name of configuredSteps) {
    if (Object.hasOwn(flow.options ?? {}, name)) options[name] = "do";
  }

  return options;
}

function chooseLimits(configuredLimits: Readonly<Record<string, number>>): Record<string, number> {
  const limits: Record<string, number> = {};
  for (const [name, limit] of Object.entries(stagedBreakerDefaults)) {
    if (!Object.hasOwn(configuredLimits, name)) limits[name] = limit;
  }

  return limits;
}

function describeFindings(findings: readonly Finding[]): readonly string[] {
  const shown = findings.slice(0, findingsShownMax).map(findingText);
  const hiddenCount = findings.length - findingsShownMax;
  if (hiddenCount <= 0) return shown;
  return [...shown, `… ${hiddenCount} more remarks on ${stagedStatePath}`];
}

/** Recorded as a decision: the user named the flow, and what the folders would have said. */
function describeChosen(flow: string, { flow: detectedFlow, step, because }: DetectedStep): string {
  return flow === detectedFlow
    ? "chosen with --flow"
    : `chosen with --flow (the folders say ${detectedFlow} step ${step}: ${because})`;
}

/** Options that follow from the file: research is decided, an optional step is skipped. */
function recordedOptions(
  flow: Flow,
  record: ParsedStagedState["state"] | null,
): Record<string, Scalar> {
  if (record === null) return {};
  const options: Record<string, Scalar> = {};
  if (Object.hasOwn(flow.options ?? {}, "research") && isResearchDecided(record.decisions)) {
    options["research"] = "decided";
  }

  for (const phase of declaredPhases(flow, "phases") ?? []) {
    const isOptional = phaseRule(flow, phase.id).optional === true;
    if (!isOptional || !isSkipped(flow, phase, record)) continue;

    const optionName = findSkipOption(flow, phase.id);
    if (optionName !== null) options[optionName] = "skip";
  }

  return options;
}

/** The option that skips an optional step: the one that presets the answer to its question. */
function findSkipOption(flow: Flow, phase: string): string | null {
  const presets = phaseRule(flow, phase).steps.flatMap(({ human }) => human?.preset ?? []);
  const conditions = presets.flatMap(({ when }) => Object.entries(when)); // option.ui: skip
  const skipFact = conditions.find(
    ([fact, value]) => fact.startsWith("option.") && value === "skip",
  )?.[0];

  return skipFact?.slice("option.".length) ?? null;
}

/** A run could never commit ignored documents. */
async function refuseIgnoredDocuments(root: string, flow: Flow): Promise<void> {
  const documentPaths = (declaredPhases(flow, "phases") ?? []).flatMap(({ id }) =>
    listRequiredPaths(listProofsOfDone(flow, id)),
  );
  const rule = await findIgnoreRule(root, documentPaths);
  if (rule === null) return;
  const { path, source, line, pattern } = rule;
  const isFolder = /^\/?_docs\b/.test(pattern);
  refuse("workspace_unusable", {
    message: `Git ignores ${isFolder ? "_docs/" : path} (${source}:${line}: ${pattern}), so what a run writes there could not be kept.`,
    remediation: [
      isFolder
        ? `take ${pattern} out of ${source}, commit, then autopilot go`
        : "echo '!/_docs/**' >> .gitignore && git add .gitignore && git commit -m 'keep the documents', then autopilot go",
    ],
    data: { path, source, line, pattern },
  });
}

/** A run starts from the last commit, so it would not see uncommitted documents. */
async function refuseUncommittedDocuments(root: string): Promise<void> {
  const places = findGitPlaces(root);
  if (places === null) return; // without a repository the run is refused elsewhere

  const format = ["--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"];
  const userView = await openUserView(places);
  const { out } = await git({ ...userView, args: ["status", ...format, "--", "_docs"] });
  const lines = out.toString("utf8").split("\0");
  const paths = lines.map((line) => line.slice(3)); // two letters, a space and the path
  const files = paths.filter((path) => path !== "" && !path.startsWith(stagedStatePath));
  if (files.length === 0) return;
  refuse("workspace_unusable", {
    message: `Not committed yet: ${listSome(files, filesShownMax)}. A run begins from the last commit and would not see them.`,
    remediation: ['git add _docs && git commit -m "documents", then autopilot go'],
  });
}

function refuseScopeWithoutDocs(scope: readonly string[] | undefined): void {
  if (scope === undefined || scope.length === 0) return;
  const words = scope.flatMap((text) => text.split(/[,;]/)).map((word) => word.trim());
  const isInScope = compileScope(words.filter((word) => word !== ""));
  if (isInScope("_docs/00_problem/problem.md")) return;

  refuse("objective_schema_invalid", {
    message: "scope: a staged flow writes its documents into _docs/, which this scope leaves out.",
    remediation: ['--scope "…,_docs/**"'],
    data: { field: "scope", missing_fields: [] },
  });
}
