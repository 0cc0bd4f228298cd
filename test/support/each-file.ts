// each-file: set up by vitest before every test file. What the file leaves to be done is done at
// its end (see after-file.ts), and a property that names no number of cases is tried on fewer of
// them in an everyday run of the suite.

import { configureGlobal } from "fast-check";
import { afterAll } from "vitest";
import { endFile } from "./after-file.ts";
import { isLong } from "./sampled.ts";

afterAll(endFile);
if (!isLong) configureGlobal({ numRuns: 40 });
