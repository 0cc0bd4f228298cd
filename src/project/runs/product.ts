// product: the program's name and version, as journal and evidence record them.

import manifest from "../../../package.json" with { type: "json" };

export const version: string = manifest.version;
export const product = `autopilot ${manifest.version}`;
