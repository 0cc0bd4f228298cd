// property-runs: how many cases a property is tried on that names no number itself: fewer in an everyday run of the suite.

import { configureGlobal } from "fast-check";

if (process.env["AUTOPILOT_TEST_LONG"] !== "all") configureGlobal({ numRuns: 40 });
