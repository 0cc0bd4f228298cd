// entry: the entry of the built program for every command but the fast `status`. The start script
// calls `start`; tests import `main`, which does not start anything by itself.

import { startProcess } from "./start-process.ts";
import { main } from "./main.ts";

export { main };
export const start = (): void => startProcess(main);
