// staged-prepare: what a run of a staged flow is drafted with: the state file as it is there, and what its record decides already.

import { globScope } from "../../../workspace/layers/scope.ts";
import type { Flow, Scalar } from "../../../contracts/flow.ts";
import { stagedStatePath } from "../../../contracts/staged-state.ts";
import { listedPhases, phaseRule } from "../../../core/selectors.ts";
import { findingProofs } from "../../../engine/survey.ts";
import { isResearchDecided } from "../views/staged-decisions.ts";
import { readStagedState, type StagedRead } from "../views/staged-state-read.ts";
import { stagedSummary } from "../views/staged-summary.ts";
import { findingText } from "../../../kit/finding.ts";
import { git } from "../../../workspace/git/git.ts";
import { findGitPlaces } from "../../../workspace/git/places.ts";
import { userViewCall } from "../../../workspace/git/user-view.ts";
import { refuse } from "../../../project/reply.ts";
import { settingsOf } from "../../../project/config/settings.ts";
import type { Prepared, PrepareInput } from "../../contract/playbook.ts";
import { ignoredAmong, pathsAsked } from "../../contract/ignored-paths.ts";
import { detectStaged, disagreement } from "./staged-detect.ts";
import { readStagedText } from "./staged-file.ts";
import { isLeftOut, scanFlow } from "./staged-scan.ts";

const findingsShownMax = 8;
const filesShownMax = 5;
/** Every step has its own retries and then asks a person, so the breaker only backs that up. */
const breaker = { no_progress_threshold: 20, same_error_threshold: 20 };

export async function prepareStaged({ context, paths, input, loadFlow }: PrepareInput): Promise<Prepared> {
  const { flow } = await loadFlow(input.flow ?? "");
  await refuseUnseen(paths.root, flow);
  refuseNarrow(input.scope);
  const found = await readStagedText(paths.root);
  if (found !== null && "why" in found)
    refuse("file_invalid", { message: `${found.why}.`, remediation: [`mv ${stagedStatePath} elsewhere`] });
  const read = found === null ? null : readStagedState(found.text, stagedStatePath);
  const detected = await detectStaged(paths.root);
  const scan = await scanFlow(flow, detected.tree, read?.state ?? null);
  // The summary comes first, every time.
  for (const line of read === null ? [] : stagedSummary(read.state)) context.show(line);
  const isNew = scan.entered === null && Object.hasOwn(flow.options ?? {}, "new_task");
  if (scan.entered === null && !isNew)
    refuse("ok", {
      state: "idle",
      message: `Every step of ${flow.flow} is done already; nothing was begun.`,
      remediation: ["autopilot go --flow existing-code takes new tasks"],
    });
  const apart = isNew ? null : disagreement(flow, scan, read?.state ?? null);
  const remarks = (read?.findings ?? []).map(findingText);
  const wanted = settingsOf(context, paths, input).config.with ?? [];
  return {
    options: {
      ...recordedOptions(flow, isNew ? null : (read?.state ?? null)),
      ...(isNew ? { new_task: true } : {}),
      ...Object.fromEntries(wanted.filter((name) => Object.hasOwn(flow.options ?? {}, name)).map((name) => [name, "do"])),
      ...(input.options?.["chosen"] === undefined ? { chosen: describeChosen(flow.flow, detected) } : {}),
    },
    documents: found === null ? [] : [{ path: stagedStatePath, text: found.text }],
    limits: breaker,
    warnings: [
      ...(apart === null ? [] : [apart]),
      ...remarks.slice(0, findingsShownMax),
      ...(remarks.length > findingsShownMax ? [`… ${remarks.length - findingsShownMax} more remarks on ${stagedStatePath}`] : []),
    ],
  };
}

function describeChosen(
  flow: string,
  { flow: found, step, because }: { readonly flow: string; readonly step: string; readonly because: string },
): string {
  return flow === found ? "chosen with --flow" : `chosen with --flow (the folders say ${found} step ${step}: ${because})`;
}

/** Options that follow from the file: research is over, an optional step is left out. */
function recordedOptions(flow: Flow, record: StagedRead["state"] | null): Record<string, Scalar> {
  if (record === null) return {};
  const options: Record<string, Scalar> = {};
  if (Object.hasOwn(flow.options ?? {}, "research") && isResearchDecided(record.decisions)) options["research"] = "decided";
  for (const phase of listedPhases(flow, "phases") ?? []) {
    const name = phaseRule(flow, phase.id).optional === true && isLeftOut(flow, phase, record) ? optionOfPhase(flow, phase.id) : null;
    if (name !== null) options[name] = "skip";
  }
  return options;
}

/** The option by which an optional step is left out: the one that its question is answered by. */
function optionOfPhase(flow: Flow, phase: string): string | null {
  const presets = phaseRule(flow, phase).steps.flatMap(({ human }) => human?.preset ?? []);
  const names = presets.flatMap(({ when }) => Object.entries(when).flatMap(([fact, value]) => (value === "skip" ? [fact] : [])));
  return names.find((fact) => fact.startsWith("option."))?.slice("option.".length) ?? null;
}

/** A run begins from the last commit: documents that are in none it would not see, and those git ignores it could never write. */
async function refuseUnseen(root: string, flow: Flow): Promise<void> {
  const asked = (listedPhases(flow, "phases") ?? []).flatMap(({ id }) => pathsAsked(findingProofs(flow, id)));
  const rule = await ignoredAmong(root, asked);
  if (rule !== null) {
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
  const places = findGitPlaces(root);
  if (places === null) return; // without a repository nothing begins anyhow
  const { out } = await git({
    ...userViewCall(places),
    args: ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--", "_docs"],
  });
  const files = out
    .toString("utf8")
    .split("\0")
    .map((line) => line.slice(3))
    .filter((path) => path !== "" && !path.startsWith(stagedStatePath));
  if (files.length === 0) return;
  const more = files.length > filesShownMax ? ` and ${files.length - filesShownMax} more` : "";
  refuse("workspace_unusable", {
    message: `Not committed yet: ${files.slice(0, filesShownMax).join(", ")}${more}. A run begins from the last commit and would not see them.`,
    remediation: ['git add _docs && git commit -m "documents", then autopilot go'],
  });
}

function refuseNarrow(scope: readonly string[] | undefined): void {
  if (scope === undefined || scope.length === 0) return;
  const patterns = scope.flatMap((text) => text.split(/[,;]/)).map((pattern) => pattern.trim());
  if (globScope(patterns.filter((pattern) => pattern !== ""))("_docs/00_problem/problem.md")) return;
  refuse("objective_schema_invalid", {
    message: "scope: a staged flow writes its documents into _docs/, which this scope leaves out.",
    remediation: ['--scope "…,_docs/**"'],
    data: { field: "scope", missing_fields: [] },
  });
}
