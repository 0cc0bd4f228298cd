// roadmap-prepare-resume: checks before a roadmap run is resumed that its specification is
// unchanged, or that the user accepts the change.

import type { Scalar } from "../../../contracts/flow.ts";
import { hashSpec, describeMismatch } from "./spec.ts";
import { findingText } from "../../../kit/finding.ts";
import { readDocument } from "../../contract/read-document.ts";
import { toActor } from "../../../project/command-context.ts";
import { getRedaction } from "../../../project/secrets/context-redaction.ts";
import { refuse } from "../../../project/respond.ts";
import type { PreparedResume, PrepareResumeInput } from "../../contract/playbook.ts";
import { stateFile } from "../../../contracts/roadmap-places.ts";
import { readProjectState } from "./read-state-files.ts";
import { sha256 } from "../../../project/sha256.ts";

const problemCharsMax = 500;

/** Also reports if state.json cannot be read: it is regenerated from the journal. */
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
  const problem =
    findings.length === 0 ? "it cannot be read" : findings.slice(0, 2).map(findingText).join("; ");

  const event = {
    event: "document_differed",
    path: stateFile,
    field: "the whole file",
    found: problem.slice(0, problemCharsMax),
    kept: "what the journal tells; the file is kept in the run's folder",
    because: "the journal is the truth",
  } as const;

  return {
    events: [event],
    warnings: [`${stateFile} cannot be read and is rebuilt from the journal: ${problem}`],
  };
}

/**
 * Compares the specification with the one the run is locked to, and warns about other documents
 * that changed.
 */
function checkSpec(input: PrepareResumeInput): PreparedResume {
  const { paths, view, flags } = input;
  const specPath = findText(view.drafted.options, "spec_path");
  const lockedHash = findText(view.drafted.options, "spec_hash");
  const warnings = warnOfChangedDocuments(input, specPath);
  if (specPath === null || lockedHash === null) return { events: [], warnings };
  const document = readDocument(paths.root, specPath);
  const bytes = document === null || "findings" in document ? null : document.bytes;
  const currentHash = bytes === null ? "not there" : hashSpec(bytes);
  const mismatch = describeMismatch(specPath, lockedHash, currentHash);
  if (mismatch === null) return { events: [], warnings };

  const refusalContext = {
    run_id: view.drafted.run_id,
    state: view.status,
    data: { path: specPath, recorded: lockedHash, found: bytes === null ? null : currentHash },
  };

  if (bytes === null) {
    return refuse("spec_hash_mismatch", {
      ...refusalContext,
      message: `The specification ${specPath} was ${lockedHash} when the run began and cannot be read now.`,
      remediation: [`put ${specPath} back, then autopilot resume`],
    });
  }

  if (!flags.has("accept-spec-change")) {
    return refuse("spec_hash_mismatch", {
      ...refusalContext,
      message: mismatch,
      remediation: [
        `autopilot resume --accept-spec-change goes on with it as it is now`,
        `put ${specPath} back as it was, then autopilot resume`,
      ],
    });
  }

  const accepted = acceptSpecChange(input, { path: specPath, bytes, lockedHash, currentHash });
  return { ...accepted, warnings: [...accepted.warnings, ...warnings] };
}

type ChangedSpec = {
  readonly path: string;
  readonly bytes: Buffer;
  readonly lockedHash: string;
  readonly currentHash: string;
};

/**
 * Locks the run to the specification as it is now. If the roadmap itself is the specification, its
 * recorded phases stay.
 */
function acceptSpecChange(
  { context, paths, view }: PrepareResumeInput,
  changedSpec: ChangedSpec,
): PreparedResume {
  const { path, bytes, lockedHash, currentHash } = changedSpec;
  const { options, documents = [] } = view.drafted;
  const { redactor } = getRedaction(context, paths.root);
  const text = bytes.toString("utf8");
  const isRoadmap = path === findText(options, "roadmap_path");
  const newHash = isRoadmap ? null : sha256(redactor.text(text));

  const event = {
    event: "policy_changed",
    path,
    recorded: lockedHash.replace(/^sha256:/, ""),
    found: currentHash.replace(/^sha256:/, ""),
    adopted: true,
    options: { spec_hash: currentHash },
    documents: documents.map((document) =>
      document.path === path && newHash !== null ? { path, hash: newHash } : { ...document },
    ),
    actor: toActor(context),
    reason_code: "spec_change_accepted",
  } as const;

  const roadmapNote = isRoadmap ? " Its phases stay as they were read." : "";
  return {
    events: [event],
    blobs: isRoadmap ? [] : [text],
    warnings: [`${describeAccepted(path, lockedHash, currentHash)}${roadmapNote}`],
  };
}

/**
 * A warning for each recorded document that is not the same in the checkout, except the
 * specification and the state of a continued run.
 */
function warnOfChangedDocuments(
  { context, paths, view }: PrepareResumeInput,
  specPath: string | null,
): readonly string[] {
  const { documents = [], resumes } = view.drafted;
  const { redactor } = getRedaction(context, paths.root);
  return documents
    .filter(({ path }) => path !== specPath && path !== resumes?.path)
    .filter(({ path, hash }) => hashDocument(paths.root, path, redactor.text) !== hash)
    .map(({ path }) => `${path} changed since the run began; it goes on with its recorded copy.`);
}

/** A text option; null if it is missing or empty. */
const findText = (options: Readonly<Record<string, Scalar>>, name: string): string | null => {
  const value = Object.hasOwn(options, name) ? options[name] : undefined;
  return typeof value === "string" && value !== "" ? value : null;
};

/** The hash of the redacted text, as it is recorded; null if the document cannot be read. */
function hashDocument(root: string, path: string, redact: (text: string) => string): string | null {
  const document = readDocument(root, path);
  return document === null || "findings" in document
    ? null
    : sha256(redact(document.bytes.toString("utf8")));
}

export const describeAccepted = (path: string, lockedHash: string, currentHash: string): string =>
  `The changed specification ${path} was accepted: the run was locked to ${lockedHash} and is locked to ${currentHash} now.`;
