// Bundles the scripted model server and runs it in this process; its words stand in main.ts.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const folder = join(import.meta.dirname, "../../node_modules/.cache/autopilot-tests");
const file = join(folder, `model-server-${process.pid}.mjs`);
mkdirSync(folder, { recursive: true });
const bundle = await rolldown({
  input: join(import.meta.dirname, "main.ts"),
  platform: "node",
  logLevel: "silent",
});
await bundle.write({ file, format: "esm", codeSplitting: false });
await bundle.close();
await import(pathToFileURL(file).href).finally(() => rmSync(file));
