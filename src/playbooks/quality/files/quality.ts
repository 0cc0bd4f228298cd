import { gateLogPath, progressPath, runStatePath } from "../views/run-state-names.ts";
import type { Face } from "../../contract/face.ts";
import { foreignQuality } from "./quality-foreign.ts";
import { openQualityFace } from "./quality-open.ts";
import { prepareQuality } from "./quality-prepare.ts";
import { takeUpQuality } from "./quality-take-up.ts";

/** The quality run's face: the log and the pages that the runner keeps under quality/, beside what agents write there. */
export const qualityFace: Face = {
  owned: [runStatePath, progressPath, "quality/history/**", gateLogPath],
  prepare: prepareQuality,
  takeUp: takeUpQuality,
  open: openQualityFace,
  foreign: foreignQuality,
};
