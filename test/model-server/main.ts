// main: the scripted model server as its own process. Prints {"url":…} and then a line for every
// call; ends when stdin does.
//   --port N   --script FILE (one script for every turn)   --key KEY (again and again)
// Run it through start.mjs: Node 20 cannot read TypeScript.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { openModelServer } from "./model-server.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    script: { type: "string" },
    key: { type: "string", multiple: true },
  },
});
const say = (value: unknown): boolean => process.stdout.write(`${JSON.stringify(value)}\n`);

const server = await openModelServer({
  port: Number(values.port),
  ...(values.script === undefined ? {} : { script: readFileSync(values.script, "utf8") }),
  ...(values.key === undefined ? {} : { keys: values.key }),
  onCall: say,
});
say({ url: server.url });
process.stdin.resume().once("end", () => void server.close().then(() => process.exit(0)));
