// roadmap-preview: previews a roadmap draft: the phases it would run and their estimated cost.

import type { Estimate } from "../../../views/preview.ts";
import { alignColumns } from "../../../views/align-columns.ts";
import { oneLine } from "../../../views/wording.ts";
import { completedPhases, selectPhases } from "../documents/order.ts";
import { readCostConstants } from "../../../project/config/cost-constants.ts";
import { readRoadmapDocuments } from "./roadmap-documents.ts";
import { estimateRoadmap } from "./roadmap-estimate.ts";
import { loadCompletion } from "./completed-phases.ts";
import { requireSettings } from "../../../project/config/settings.ts";
import type { PreviewInput, PlaybookPreview } from "../../contract/playbook.ts";

const phasesMax = 15;
const nameCharsMax = 60;

export async function preview({ context, paths, view }: PreviewInput): Promise<PlaybookPreview> {
  const recorded = loadCompletion(paths);
  const documents = readRoadmapDocuments(paths.root, ({ id, checked }) => recorded.get(id) ?? checked);
  if (documents === null) return { summary: [], estimate: null };
  const completed = completedPhases(documents.phases, recorded);
  const { options } = view.drafted;
  const expression = options["complete"] === true ? "all" : String(options["phases"] ?? "next");
  const selection = selectPhases(expression, documents.phases, completed);
  const ids = ("ids" in selection ? selection.ids : []).filter((id) => !completed.has(id));
  const rows = ids.slice(0, phasesMax).flatMap((id) => {
    const phase = documents.phases.find((candidate) => candidate.id === id);
    if (phase === undefined) return [];
    const withCommand = phase.success_criteria.filter(({ command }) => command !== null).length;
    const criteria =
      phase.success_criteria.length === 0
        ? "no criteria yet"
        : `${withCommand} of ${phase.success_criteria.length} criteria have a command`;
    return [[id, oneLine(phase.name, nameCharsMax), `${criteria}${documents.plans.has(id) ? ", planned" : ""}`]];
  });
  const more = ids.length > phasesMax ? [`… ${ids.length - phasesMax} more`] : [];
  const { tokens, minutes, usd, basis } = await estimateRoadmap(
    paths,
    documents,
    ids,
    readCostConstants(requireSettings(context, paths).config.limits ?? {}),
  );
  const estimate: Estimate = { tokens, minutes, usd, basis };
  return { summary: [...alignColumns(rows), ...more], estimate };
}
