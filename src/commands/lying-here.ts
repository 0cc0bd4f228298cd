import { join } from "node:path";
import type { Foreign } from "../playbooks/contract/face.ts";
import { faces } from "../playbooks/registry/table.ts";
import { isInTheWay } from "../project/runs/home.ts";
import { refuse } from "../project/reply.ts";
import { findingText } from "../kit/finding.ts";
import type { Place } from "../project/place.ts";

/** Something that a run could take up: another tool's run (`begun`), or documents that nobody has begun with. */
export type Lying = Foreign & { readonly isBegun: boolean };

/** What lies here for a run to take up, of every face there is. Reads only; nothing is drawn, nothing is decided. */
export async function lyingHere(place: Place, root: string): Promise<readonly Lying[]> {
  if (isInTheWay({ root, folder: join(root, ".autopilot") }))
    return refuse("workspace_unusable", {
      message: `A file lies where a folder is needed: ${join(root, ".autopilot")}. Runs are kept in a folder of that name.`,
      remediation: ["move it out of the way, then give the command again"],
    });
  const found: Lying[] = [];
  for (const load of Object.values(faces)) {
    const face = await load();
    const foreign = await face.foreign?.(place, root);
    if (foreign !== undefined && foreign !== null) {
      found.push({ ...foreign, isBegun: true });
      continue;
    }
    const documents = await face.documents?.(place, root);
    if (documents !== undefined && documents !== null) found.push({ ...documents, findings: [], isBegun: false });
  }
  return found;
}

/** The commands that take up what lies here, one for each; a bare one where there is nothing to choose. */
export function takenUpBy(lying: readonly Lying[]): readonly string[] {
  if (lying.length > 1) return lying.map(({ flow }) => `autopilot go --flow ${flow}`);
  return lying.map(({ isBegun }) => (isBegun ? "autopilot resume" : "autopilot go"));
}

/** The one thing there is to take up; refused where there are several, or where its files cannot be read. Null where there is none. */
export function theOne(lying: readonly Lying[]): Lying | null {
  const [only, ...others] = lying;
  if (only === undefined) return null;
  if (others.length > 0)
    return refuse("objective_schema_invalid", {
      message: `Several things could be taken up here: ${lying.map(({ standing }) => standing).join("; ")}. Say which.`,
      state: "idle",
      remediation: lying.map(({ flow, files }) => `autopilot go --flow ${flow}   (${files.join(", ")})`),
      data: { found: lying.map(shownAs), missing_fields: ["goal"] },
    });
  const errors = only.findings.filter(({ severity }) => severity === "error");
  if (errors.length > 0)
    return refuse("file_invalid", {
      message: `${only.files.join(", ")} cannot be taken up as it is: ${errors.length === 1 ? "one problem" : `${errors.length} problems`}.`,
      state: "idle",
      page: ["Problems", ...errors.map((error) => `  ✗ ${findingText(error)}`)],
      remediation: ["mend the lines named above", `autopilot go --flow ${only.flow} begins anew`],
      data: { problems: errors },
    });
  return only;
}

/** As programs see it. */
export const shownAs = ({ flow, files, standing, isBegun }: Lying): Record<string, unknown> => ({ flow, files, standing, begun: isBegun });
