// staged-detect: detects which staged flow a project is in, and at which step. Reads only.

import type { Flow } from "../../../contracts/flow.ts";
import { type CurrentStep, stagedStatePath } from "../../../contracts/staged-state.ts";
import { declaredPhases } from "../../../core/selectors.ts";
import { parseStagedState, type ParsedStagedState } from "../views/parse-staged-state.ts";
import { loadFlow } from "../../../flows/load.ts";
import { findProofFile, describePartial, type FlowScan, scanFlow } from "./staged-scan.ts";
import { readStagedText } from "./staged-file.ts";
import { findSource, type StagedTree, readStagedTree } from "./staged-tree.ts";

export type DetectedStep = {
  readonly flow: string;
  /** The id of the step, or `done`. */
  readonly step: string;
  readonly name: string;
  /** What shows that the project is at this step. */
  readonly because: string;
  /** The state file, if there is one that can be read. */
  readonly stateFile: ParsedStagedState | null;
  readonly tree: StagedTree;
};

/** If the state file and the folders agree, that is the step. If they do not, the folders count. */
export async function detectStaged(root: string): Promise<DetectedStep> {
  const tree = await readStagedTree(root);
  const file = await readStagedText(root);
  const stateFile = file === null || !("text" in file) ? null : parseStagedState(file.text);
  const current = stateFile?.state.current ?? null;
  const recordedFlow = current === null ? null : await loadStagedFlow(root, current.flow);
  if (stateFile !== null && current !== null && recordedFlow !== null) {
    const scan = await scanFlow(recordedFlow, tree, stateFile.state);
    const agrees =
      scan.entered === null ? current.step === "done" : String(current.step) === scan.entered.id;
    if (agrees) {
      return buildDetected(recordedFlow, scan, describeAgreement(current, scan), {
        stateFile,
        tree,
      });
    }
  }

  const byFolders = await detectByFolders(root, tree, stateFile);
  if (current === null) return byFolders;
  const contradiction = `${stagedStatePath} says ${current.flow} step ${current.step} ${current.name}, and the folders say otherwise`;

  return { ...byFolders, because: `${contradiction}: ${byFolders.because}` };
}

/**
 * The state file and the folders name the same step. If the file says "not started" but some of its
 * documents exist, that is reported.
 */
function describeAgreement({ step, name, status }: CurrentStep, { partial }: FlowScan): string {
  if (partial === null) return `${stagedStatePath} says so, and the folders agree`;
  if (status !== "not_started") {
    return `${stagedStatePath} says so, and the folders agree: ${describePartial(partial)}`;
  }

  return `${stagedStatePath} says that step ${step} ${name} has not started; the folders say that it was begun (${describePartial(partial)}), and they hold`;
}

/** Chooses the flow by which folders exist, and the step by which documents are missing. */
async function detectByFolders(
  root: string,
  tree: StagedTree,
  stateFile: ParsedStagedState | null,
): Promise<DetectedStep> {
  const source = await findSource(root);
  const record = stateFile?.state ?? null;
  const context = { stateFile, tree };

  if (source !== null && !tree.hasDocuments) {
    const flow = await requireStagedFlow(root, "existing-code");
    return buildDetected(
      flow,
      await scanFlow(flow, tree, record),
      `there is source (${source}) and no document in _docs/`,
      context,
    );
  }

  const isExistingCode = source !== null && tree.has("02_document") && !tree.has("00_problem");
  const flow = await requireStagedFlow(root, isExistingCode ? "existing-code" : "greenfield");
  const scan = await scanFlow(flow, tree, record);
  const whyGreenfield =
    source === null
      ? "there is no source"
      : "there is a problem in _docs/00_problem/, or no document of the code";

  const whyFlow = isExistingCode
    ? `there is source (${source}) and _docs/02_document/, and no _docs/00_problem/`
    : whyGreenfield;

  const whyStep =
    scan.entered === null ? "" : `; the first step that is not proved: ${scan.because}`;
  return buildDetected(flow, scan, `${whyFlow}${whyStep}`, context);
}

function buildDetected(
  flow: Flow,
  { entered }: FlowScan,
  because: string,
  context: Pick<DetectedStep, "stateFile" | "tree">,
): DetectedStep {
  const lastName = declaredPhases(flow, "phases")?.at(-1)?.name ?? "";
  return {
    flow: flow.flow,
    step: entered?.id ?? "done",
    name: entered?.name ?? lastName,
    because,
    ...context,
  };
}

/** A flow of the staged playbook; null if there is none of that name. */
export async function loadStagedFlow(root: string, name: string): Promise<Flow | null> {
  const loaded = await loadFlow(root, name);
  return loaded.kind === "loaded" && loaded.flow.playbook === "staged" ? loaded.flow : null;
}

async function requireStagedFlow(root: string, name: string): Promise<Flow> {
  const flow = await loadStagedFlow(root, name);
  if (flow === null) {
    throw new Error(
      `the flow ${name} here isn't a staged flow: remove or fix .autopilot/flows/${name}`,
    );
  }

  return flow;
}

/**
 * One sentence on how the state file and the folders differ; null if they agree or there is no
 * file.
 */
export function describeDisagreement(
  flow: Flow,
  scan: FlowScan,
  record: ParsedStagedState["state"] | null,
): string | null {
  const current = record?.current ?? null;
  if (current === null || current.flow !== flow.flow) return null;
  const scannedStep = scan.entered?.id ?? "done";
  if (String(current.step) === scannedStep) {
    return scan.partial === null || current.status !== "not_started"
      ? null
      : `${describeAgreement(current, scan)}.`;
  }

  const proofFile = scan.proved.includes(String(current.step))
    ? findProofFile(flow, String(current.step))
    : null;
  const proofText = proofFile === null ? scan.because : `${proofFile} is there`;
  const scannedText =
    scannedStep === "done" ? "that all is done" : `step ${scannedStep} ${scan.entered?.name ?? ""}`;

  return `${stagedStatePath} says step ${current.step} ${current.name}; the folders say ${scannedText} (${proofText}), and they hold.`;
}
