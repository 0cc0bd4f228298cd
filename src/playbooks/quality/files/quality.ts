// quality: the quality playbook: the log and pages the runner owns under quality/, and its hooks.

import { gateLogPath, progressPath, runStatePath } from "../views/run-state-names.ts";
import type { Playbook } from "../../contract/playbook.ts";
import { foreignQuality } from "./quality-foreign.ts";
import { openQualityPlaybook } from "./quality-open.ts";
import { prepareQuality } from "./quality-prepare.ts";
import { prepareQualityResume } from "./quality-prepare-resume.ts";

/** The quality run's playbook: the log and the pages that the runner keeps under quality/, beside what agents write there. */
export const qualityPlaybook: Playbook = {
  owned: [runStatePath, progressPath, "quality/history/**", gateLogPath],
  prepare: prepareQuality,
  prepareResume: prepareQualityResume,
  open: openQualityPlaybook,
  foreign: foreignQuality,
};
