// roadmap-prepare-resume: checks before a roadmap run is resumed that its specification is unchanged, or that the user accepts the change.

import { createHash } from "node:crypto";
import type { Scalar } from "../../../contracts/flow.ts";
import { specHash, describeMismatch } from "./spec.ts";
import { findingText } from "../../../kit/finding.ts";
import { readDocument } from "../../contract/read-document.ts";
import { toActor } from "../../../project/command-context.ts";
import { getRedaction } from "../../../project/secrets/context-redaction.ts";
import { refuse } from "../../../project/respond.ts";
import type { PreparedResume, PrepareResumeInput } from "../../contract/playbook.ts";
import { stateFile } from "../../../contracts/roadmap-places.ts";
import { readProjectState } from "./roadmap-states.ts";

/** Also records if state.json cannot be read: it is regenerated from the journal. */
export async function prepareRoadmapResume(input: PrepareResumeInput): Promise<PreparedResume> {
  const specResult = checkSpec(input);
  const stateResult = await checkState(input);
  return {
    ...specResult,
    events: [...stateResult.events, ...specResult.events],
    warnings: [...stateResult.warnings, ...specResult.warnings],
  };
}

async function checkState({ paths }: PrepareResumeInput): Promise<PreparedResume> {
  const { exists, source, findings } = await readProjectState(paths.root);
  if (!exists || source === stateFile) return { events: [], warnings: [] };
  const problem = findings.length === 0 ? "it cannot be read" : findings.slice(0, 2).map(findingText).join("; ");
  const event = {
    event: "document_differed",
    path: stateFile,
    field: "the whole file",
    found: problem.slice(0, problemCharsMax),
    kept: "what the journal tells; the file is kept in the run's folder",
    because: "the journal is the truth",
  } as const;
  return { events: [event], warnings: [`${stateFile} cannot be read and is rebuilt from the journal: ${problem}`] };
}

const problemCharsMax = 500;

function checkSpec({ context, paths, view, flags }: PrepareResumeInput): PreparedResume {
  const { options, documents = [], run_id } = view.drafted;
  const [specPath, lockedHash, roadmapPath] = ["spec_path", "spec_hash", "roadmap_path"].map((name) => findText(options, name));
  const { redactor } = getRedaction(context, paths.root);
  const document = specPath === null || specPath === undefined ? null : readDocument(paths.root, specPath);
  const bytes = document === null || "findings" in document ? null : document.bytes;
  const changed = documents
    .filter(
      ({ path, hash }) =>
        path !== specPath && path !== view.drafted.resumes?.path && hashDocument(paths.root, path, redactor.text) !== hash,
    )
    .map(({ path }) => `${path} changed since the run began; it goes on with its recorded copy.`);
  if (specPath === null || specPath === undefined || lockedHash === null || lockedHash === undefined)
    return { events: [], warnings: changed };
  const currentHash = bytes === null ? "not there" : specHash(bytes);
  const mismatch = describeMismatch(specPath, lockedHash, currentHash);
  if (mismatch === null) return { events: [], warnings: changed };
  const refusalContext = {
    run_id,
    state: view.status,
    data: { path: specPath, recorded: lockedHash, found: bytes === null ? null : currentHash },
  };
  if (bytes === null)
    return refuse("spec_hash_mismatch", {
      ...refusalContext,
      message: `The specification ${specPath} was ${lockedHash} when the run began and cannot be read now.`,
      remediation: [`put ${specPath} back, then autopilot resume`],
    });
  if (!flags.has("accept-spec-change"))
    return refuse("spec_hash_mismatch", {
      ...refusalContext,
      message: mismatch,
      remediation: [
        `autopilot resume --accept-spec-change goes on with it as it is now`,
        `put ${specPath} back as it was, then autopilot resume`,
      ],
    });
  const text = bytes.toString("utf8");
  const isRoadmap = specPath === roadmapPath;
  const recordedDocuments = documents.map((one) =>
    one.path === specPath && !isRoadmap ? { path: one.path, hash: sha256(redactor.text(text)) } : { ...one },
  );
  return {
    events: [
      {
        event: "policy_changed",
        path: specPath,
        recorded: lockedHash.replace(/^sha256:/, ""),
        found: currentHash.replace(/^sha256:/, ""),
        adopted: true,
        options: { spec_hash: currentHash },
        documents: recordedDocuments,
        actor: toActor(context),
        reason_code: "spec_change_accepted",
      },
    ],
    blobs: isRoadmap ? [] : [text],
    warnings: [
      `${describeAccepted(specPath, lockedHash, currentHash)}${isRoadmap ? " Its phases stay as they were read." : ""}`,
      ...changed,
    ],
  };
}

const findText = (options: Readonly<Record<string, Scalar>>, name: string): string | null => {
  const value = Object.hasOwn(options, name) ? options[name] : undefined;
  return typeof value === "string" && value !== "" ? value : null;
};

/** The hash of the redacted text, as it is recorded; null if the document cannot be read. */
function hashDocument(root: string, path: string, redact: (text: string) => string): string | null {
  const document = readDocument(root, path);
  return document === null || "findings" in document ? null : sha256(redact(document.bytes.toString("utf8")));
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

export const describeAccepted = (path: string, lockedHash: string, currentHash: string): string =>
  `The changed specification ${path} was accepted: the run was locked to ${lockedHash} and is locked to ${currentHash} now.`;
