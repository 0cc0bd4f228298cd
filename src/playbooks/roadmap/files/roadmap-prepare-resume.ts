// roadmap-prepare-resume: whether a roadmap run may be resumed: its specification is the one it was locked to, or the user accepts the
// change.

import { createHash } from "node:crypto";
import type { Scalar } from "../../../contracts/flow.ts";
import { specHash, specMismatch } from "./spec.ts";
import { findingText } from "../../../kit/finding.ts";
import { readDocument } from "../../contract/read-document.ts";
import { actorOf } from "../../../project/command-context.ts";
import { redactionOf } from "../../../project/secrets/redaction-of.ts";
import { refuse } from "../../../project/reply.ts";
import type { PreparedResume, PrepareResumeInput } from "../../contract/playbook.ts";
import { stateFile } from "../../../contracts/roadmap-places.ts";
import { readStateHere } from "./roadmap-states.ts";

/** Checks its specification, and whether state.json can be read: it is regenerated from the journal, and its log says so. */
export async function prepareRoadmapResume(input: PrepareResumeInput): Promise<PreparedResume> {
  const locked = spec(input);
  const rebuilt = await rebuiltState(input);
  return { ...locked, events: [...rebuilt.events, ...locked.events], warnings: [...rebuilt.warnings, ...locked.warnings] };
}

async function rebuiltState({ paths }: PrepareResumeInput): Promise<PreparedResume> {
  const { isThere, from, findings } = await readStateHere(paths.root);
  if (!isThere || from === stateFile) return { events: [], warnings: [] };
  const found = findings.length === 0 ? "it cannot be read" : findings.slice(0, 2).map(findingText).join("; ");
  const event = {
    event: "document_differed",
    path: stateFile,
    field: "the whole file",
    found: found.slice(0, foundCharsMax),
    kept: "what the journal tells; the file is kept in the run's folder",
    because: "the journal is the truth",
  } as const;
  return { events: [event], warnings: [`${stateFile} cannot be read and is rebuilt from the journal: ${found}`] };
}

const foundCharsMax = 500;

function spec({ context, paths, view, flags }: PrepareResumeInput): PreparedResume {
  const { options, documents = [], run_id } = view.drafted;
  const [specPath, locked, roadmapPath] = ["spec_path", "spec_hash", "roadmap_path"].map((name) => findText(options, name));
  const { redactor } = redactionOf(context, paths.root);
  const now = specPath === null || specPath === undefined ? null : readDocument(paths.root, specPath);
  const bytes = now === null || "findings" in now ? null : now.bytes;
  const changed = documents
    .filter(
      ({ path, hash }) => path !== specPath && path !== view.drafted.resumes?.path && hashOf(paths.root, path, redactor.text) !== hash,
    )
    .map(({ path }) => `${path} changed since the run began; it goes on with its recorded copy.`);
  if (specPath === null || specPath === undefined || locked === null || locked === undefined) return { events: [], warnings: changed };
  const found = bytes === null ? "not there" : specHash(bytes);
  const mismatch = specMismatch(specPath, locked, found);
  if (mismatch === null) return { events: [], warnings: changed };
  const where = { run_id, state: view.status, data: { path: specPath, recorded: locked, found: bytes === null ? null : found } };
  if (bytes === null)
    return refuse("spec_hash_mismatch", {
      ...where,
      message: `The specification ${specPath} was ${locked} when the run began and cannot be read now.`,
      remediation: [`put ${specPath} back, then autopilot resume`],
    });
  if (!flags.has("accept-spec-change"))
    return refuse("spec_hash_mismatch", {
      ...where,
      message: mismatch,
      remediation: [
        `autopilot resume --accept-spec-change goes on with it as it is now`,
        `put ${specPath} back as it was, then autopilot resume`,
      ],
    });
  const text = bytes.toString("utf8");
  const isRoadmap = specPath === roadmapPath;
  const kept = documents.map((one) =>
    one.path === specPath && !isRoadmap ? { path: one.path, hash: sha256(redactor.text(text)) } : { ...one },
  );
  return {
    events: [
      {
        event: "policy_changed",
        path: specPath,
        recorded: locked.replace(/^sha256:/, ""),
        found: found.replace(/^sha256:/, ""),
        adopted: true,
        options: { spec_hash: found },
        documents: kept,
        actor: actorOf(context),
        reason_code: "spec_change_accepted",
      },
    ],
    blobs: isRoadmap ? [] : [text],
    warnings: [`${acceptedMessage(specPath, locked, found)}${isRoadmap ? " Its phases stay as they were read." : ""}`, ...changed],
  };
}

const findText = (options: Readonly<Record<string, Scalar>>, name: string): string | null => {
  const value = Object.hasOwn(options, name) ? options[name] : undefined;
  return typeof value === "string" && value !== "" ? value : null;
};

/** As it would be recorded; null if it cannot be read any more. */
function hashOf(root: string, path: string, redact: (text: string) => string): string | null {
  const read = readDocument(root, path);
  return read === null || "findings" in read ? null : sha256(redact(read.bytes.toString("utf8")));
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** How an accepted change is reported. */
export const acceptedMessage = (path: string, locked: string, found: string): string =>
  `The changed specification ${path} was accepted: the run was locked to ${locked} and is locked to ${found} now.`;
