// Writes the built-in flows and their prompts into src/flows/catalog/embedded.ts, so that a bundle of one file holds them.
// Run it after every change under src/flows/catalog; a test compares.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parse } from "yaml";

const catalog = join(dirname(fileURLToPath(import.meta.url)), "..", "src", "flows", "catalog");

/** The text of embedded.ts as it ought to be. */
export function embeddedText() {
  const names = readdirSync(catalog, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  const flows = names.map((name) => {
    const prompts = readdirSync(join(catalog, name, "prompts"))
      .filter((file) => file.endsWith(".md"))
      .sort();
    const lines = prompts.map(
      (file) => `      ${keyOf(file)}:\n        ${quoted(textOf(name, "prompts", file))},\n`,
    );
    const flow = textOf(name, "flow.yaml");
    const data = JSON.stringify(parse(flow, { version: "1.2", schema: "core" }));
    return `  ${keyOf(name)}: {\n    flow: ${quoted(flow)},\n    data: ${quoted(data)},\n    prompts: {\n${lines.join("")}    },\n  },\n`;
  });
  return `// Written by scripts/embed-flows.mjs from the flow.yaml and prompts/*.md beside it. Edit those,
// then run it again.

/** With the data of the flow as JSON, so that its text need not be parsed at every start. */
export type EmbeddedFlow = {
  readonly flow: string;
  readonly data: string;
  readonly prompts: Readonly<Record<string, string>>;
};

export const embedded: Readonly<Record<string, EmbeddedFlow>> = {
${flows.join("")}};
`;
}

/** A name as a key: in quotes only where it needs them. */
export const keyOf = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

/** A string literal in the quotes that need fewer escapes: what the formatter wants to see. */
export function quoted(text) {
  const isSingle = text.split('"').length > text.split("'").length;
  if (!isSingle) return JSON.stringify(text);
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

// Git may check text files out with CRLF; the embedded text is the same everywhere.
const textOf = (...path) => readFileSync(join(catalog, ...path), "utf8").replaceAll("\r\n", "\n");

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(join(catalog, "embedded.ts"), embeddedText());
}
