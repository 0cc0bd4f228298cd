// entry: where every command starts except those with their own entry. The stub starts it; other importers get `main`, which starts
// nothing.

import { startProcess } from "./start-process.ts";
import { main } from "./main.ts";

export { main };
export const start = (): void => startProcess(main);
