// quality: the quality playbook: the log and pages the runner owns under quality/, and its hooks.

import { qualityOwnedPaths } from "../views/quality-names.ts";
import type { Playbook } from "../../contract/playbook.ts";
import { findForeignQuality } from "./quality-foreign.ts";
import { openQualityPlaybook } from "./quality-open.ts";
import { prepareQuality } from "./quality-prepare.ts";
import { prepareQualityResume } from "./quality-prepare-resume.ts";

export const qualityPlaybook: Playbook = {
  ownedPaths: qualityOwnedPaths,
  prepare: prepareQuality,
  prepareResume: prepareQualityResume,
  open: openQualityPlaybook,
  findForeign: findForeignQuality,
};
