// after-each-file: set up by vitest before every test file; see after-file.ts.

import { afterAll } from "vitest";
import { endFile } from "./after-file.ts";

afterAll(endFile);
