// staged-detect: which staged flow a project is in, and at which step. First match wins; nothing is written, nothing executed.

import type { Flow } from "../../../contracts/flow.ts";
import { type CurrentStep, stagedStatePath } from "../../../contracts/staged-state.ts";
import { listedPhases } from "../../../core/selectors.ts";
import { readStagedState, type StagedRead } from "../views/staged-state-read.ts";
import { loadFlow } from "../../../flows/load.ts";
import { flowFile, describePart, type Scan, scanFlow } from "./staged-scan.ts";
import { readStagedText } from "./staged-file.ts";
import { readSource, type StagedTree, readStagedTree } from "./staged-tree.ts";

export type Detected = {
  readonly flow: string;
  readonly step: string;
  readonly name: string;
  readonly because: string;
  /** The state file, if there is one that can be read. */
  readonly read: StagedRead | null;
  readonly tree: StagedTree;
};

export async function detectStaged(root: string): Promise<Detected> {
  const tree = await readStagedTree(root);
  const found = await readStagedText(root);
  const read = found === null || !("text" in found) ? null : readStagedState(found.text);
  const current = read?.state.current ?? null;
  const recorded = current === null ? null : await stagedFlow(root, current.flow);
  if (read !== null && current !== null && recorded !== null) {
    const scan = await scanFlow(recorded, tree, read.state);
    const isSame = scan.entered === null ? current.step === "done" : String(current.step) === scan.entered.id;
    if (isSame) return at(recorded, scan, agreement(current, scan), { read, tree });
  }
  const scanned = await byFolders(root, tree, read);
  if (current === null) return scanned;
  const text = `${stagedStatePath} says ${current.flow} step ${current.step} ${current.name}, and the folders say otherwise`;
  return { ...scanned, because: `${text}: ${scanned.because}` };
}

/** Both name the same step. What its documents say of it is reported: one that the file says has not started may have been begun. */
function agreement({ step, name, status }: CurrentStep, { part }: Scan): string {
  if (part === null) return `${stagedStatePath} says so, and the folders agree`;
  if (status !== "not_started") return `${stagedStatePath} says so, and the folders agree: ${describePart(part)}`;
  return `${stagedStatePath} says that step ${step} ${name} has not started; the folders say that it was begun (${describePart(part)}), and they hold`;
}

/** The rules in their order. */
async function byFolders(root: string, tree: StagedTree, read: StagedRead | null): Promise<Detected> {
  const source = await readSource(root);
  const record = read?.state ?? null;
  const seen = { read, tree };
  if (source !== null && !tree.hasDocuments) {
    const flow = await mustHave(root, "existing-code");
    return at(flow, await scanFlow(flow, tree, record), `there is source (${source}) and no document in _docs/`, seen);
  }
  const isExisting = source !== null && tree.has("02_document") && !tree.has("00_problem");
  const flow = await mustHave(root, isExisting ? "existing-code" : "greenfield");
  const scan = await scanFlow(flow, tree, record);
  const why = isExisting
    ? `there is source (${source}) and _docs/02_document/, and no _docs/00_problem/`
    : source === null
      ? "there is no source"
      : "there is a problem in _docs/00_problem/, or no document of the code";
  return at(flow, scan, scan.entered === null ? why : `${why}; the first step that is not proved: ${scan.because}`, seen);
}

function at(flow: Flow, { entered }: Scan, because: string, seen: Pick<Detected, "read" | "tree">): Detected {
  const last = listedPhases(flow, "phases")?.at(-1)?.name ?? "";
  return { flow: flow.flow, step: entered?.id ?? "done", name: entered?.name ?? last, because, ...seen };
}

/** A flow whose runs are shown by the state file; null if there is none of that name. */
export async function stagedFlow(root: string, name: string): Promise<Flow | null> {
  const loaded = await loadFlow(root, name);
  return loaded.kind === "loaded" && loaded.flow.playbook === "staged" ? loaded.flow : null;
}

async function mustHave(root: string, name: string): Promise<Flow> {
  const flow = await stagedFlow(root, name);
  if (flow === null) throw new Error(`the flow ${name} here isn't a staged flow: remove or fix .autopilot/flows/${name}`);
  return flow;
}

/** Where the state file and the folders part, in a sentence; null if they agree or there is no file. */
export function disagreement(flow: Flow, scan: Scan, record: StagedRead["state"] | null): string | null {
  const current = record?.current ?? null;
  if (current === null || current.flow !== flow.flow) return null;
  const is = scan.entered?.id ?? "done";
  if (String(current.step) === is) return scan.part === null || current.status !== "not_started" ? null : `${agreement(current, scan)}.`;
  const file = flowFile(flow, String(current.step));
  const proved = scan.proved.includes(String(current.step)) && file !== null ? ` (${file} is there)` : ` (${scan.because})`;
  return `${stagedStatePath} says step ${current.step} ${current.name}; the folders say ${is === "done" ? "that all is done" : `step ${is} ${scan.entered?.name ?? ""}`}${proved}, and they hold.`;
}
