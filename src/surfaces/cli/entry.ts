// entry: where every command begins but those that have an entry of their own.

import { begin } from "./begin.ts";
import { main } from "./main.ts";

begin(main);
