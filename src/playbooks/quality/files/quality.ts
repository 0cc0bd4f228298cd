// quality: the quality playbook: the log and pages the runner owns under quality/, and its hooks.

import { gateLogPath, progressPath, runStatePath } from "../views/run-state-names.ts";
import type { Playbook } from "../../contract/playbook.ts";
import { findForeignQuality } from "./quality-foreign.ts";
import { openQualityPlaybook } from "./quality-open.ts";
import { prepareQuality } from "./quality-prepare.ts";
import { prepareQualityResume } from "./quality-prepare-resume.ts";

export const qualityPlaybook: Playbook = {
  ownedPaths: [runStatePath, progressPath, "quality/history/**", gateLogPath],
  prepare: prepareQuality,
  prepareResume: prepareQualityResume,
  open: openQualityPlaybook,
  findForeign: findForeignQuality,
};
