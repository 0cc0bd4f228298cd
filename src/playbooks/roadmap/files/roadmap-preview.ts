// roadmap-preview: previews a roadmap draft: the phases it would run and their estimated cost.

import type { RoadmapPhase } from "../../../contracts/roadmap.ts";
import type { Estimate } from "../../../views/preview.ts";
import { alignColumns } from "../../../views/align-columns.ts";
import { oneLine } from "../../../views/wording.ts";
import { selectCompletedPhases, selectPhases } from "../documents/order.ts";
import { readCostConstants } from "../../../project/config/cost-constants.ts";
import { readRoadmapDocuments } from "./roadmap-documents.ts";
import { estimateRoadmap } from "./roadmap-estimate.ts";
import { loadCompletion } from "./completed-phases.ts";
import { requireSettings } from "../../../project/config/settings.ts";
import type { PreviewInput, PlaybookPreview } from "../../contract/playbook.ts";

const phasesShownMax = 15;
const nameCharsMax = 60;

export async function previewRoadmap({
  context,
  paths,
  view,
}: PreviewInput): Promise<PlaybookPreview> {
  const recordedCompletion = loadCompletion(paths);
  const documents = readRoadmapDocuments(
    paths.root,
    ({ id, checked }) => recordedCompletion.get(id) ?? checked,
  );
  if (documents === null) return { summary: [], estimate: null };
  const completed = selectCompletedPhases(documents.phases, recordedCompletion);
  const { options } = view.drafted;
  const expression = options["complete"] === true ? "all" : String(options["phases"] ?? "next");
  const selection = selectPhases(expression, documents.phases, completed);
  const ids = ("ids" in selection ? selection.ids : []).filter((id) => !completed.has(id));
  const shownPhases = ids
    .slice(0, phasesShownMax)
    .map((id) => documents.phases.find((phase) => phase.id === id));

  const rows = shownPhases
    .filter((phase) => phase !== undefined)
    .map((phase) => [
      phase.id,
      oneLine(phase.name, nameCharsMax),
      describeCriteria(phase, documents.plans.has(phase.id)),
    ]);

  const hiddenText = ids.length > phasesShownMax ? [`… ${ids.length - phasesShownMax} more`] : [];
  const constants = readCostConstants(requireSettings(context, paths).config.limits ?? {});
  const { tokens, minutes, usd, basis } = await estimateRoadmap(paths, documents, ids, constants);
  const estimate: Estimate = { tokens, minutes, usd, basis };

  return { summary: [...alignColumns(rows), ...hiddenText], estimate };
}

function describeCriteria(
  { success_criteria: criteria }: RoadmapPhase,
  isPlanned: boolean,
): string {
  const withCommand = criteria.filter(({ command }) => command !== null).length;
  const criteriaText =
    criteria.length === 0
      ? "no criteria yet"
      : `${withCommand} of ${criteria.length} criteria have a command`;

  return isPlanned ? `${criteriaText}, planned` : criteriaText;
}
