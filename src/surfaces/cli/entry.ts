// entry: where every command begins but those that have their own entry. The stub starts it; whoever else loads it gets `main` and starts nothing.

import { begin } from "./begin.ts";
import { main } from "./main.ts";

export { main };
export const start = (): void => begin(main);
