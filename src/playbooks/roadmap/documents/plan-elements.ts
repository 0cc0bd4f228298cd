// plan-elements: parses the child elements of a plan's task, such as `<verify>npm test</verify>`, as
// fields. Several may be on one line, and one may span many.

import type { Field } from "../../../documents/fields.ts";
import type { Line } from "../../../documents/markdown-lines.ts";
import type { Report } from "../../../documents/report.ts";

const names = "files|action|verify|done|depends_on|requirements";
const elementStart = new RegExp(String.raw`^\s*<(${names})>`, "i");
/** The title of a task, which is read elsewhere; other elements may follow it. */
const titleElement = /^\s*<(name|title)>.*?<\/\1>/i;

type OpenElement = Omit<Field, "lines"> & { readonly name: string; readonly lines: Line[] };

/**
 * The elements as fields, and the lines outside of them: bold words inside an element are not
 * fields. An element without an end is reported and left out.
 */
export function parseElements(
  lines: readonly Line[],
  path: string,
  report: Pick<Report, "error">,
): { readonly elements: readonly Field[]; readonly outside: readonly Line[] } {
  const elements: Field[] = [];
  const outside: Line[] = [];
  let open: OpenElement | null = null;

  for (const line of lines) {
    if (line.kind !== "text") {
      if (open === null) outside.push(line);
      else open.lines.push(line);
      continue;
    }

    const title = open === null ? titleElement.exec(line.text) : null;
    let column = title === null ? 0 : title[0].length; // up to here the line has been read
    let hasElement = false;
    let isAtStart = false;

    for (;;) {
      if (open === null) {
        const start: OpenElement | null = openElement(line, column);
        if (start === null) break;
        open = start;
        column = start.inlinePlace.column - 1;
        isAtStart = true;
      }

      hasElement = true;
      const text: string = line.text.slice(column);
      const end = findEnd(text, open.name);
      const inner = end < 0 ? text : text.slice(0, end);
      if (isAtStart) open = { ...open, inline: inner.trim() };
      else open.lines.push({ ...line, text: inner });
      isAtStart = false;

      if (end < 0) break;
      elements.push(open);
      column += end + `</${open.name}>`.length;
      open = null;
    }

    if (!hasElement) outside.push(line);
  }

  if (open !== null) {
    report.error(
      open.place,
      `${path}.${open.name}`,
      "unclosed_element",
      `found <${open.name}> without an end, expected </${open.name}>`,
    );
  }

  return { elements, outside };
}

/** The element that begins at a column of a line; null if none does. */
function openElement({ text, number }: Line, column: number): OpenElement | null {
  const rest = text.slice(column);
  const start = elementStart.exec(rest);
  if (start === null) return null;
  const [tag, nameAsWritten = ""] = start;
  const name = nameAsWritten.toLowerCase();

  return {
    name,
    label: name.replace("_", " "),
    place: { line: number, column: column + rest.search(/\S/) + 1 },
    inline: "",
    inlinePlace: { line: number, column: column + tag.length + 1 },
    lines: [],
  };
}

/**
 * Where an element ends in a text; -1 if it does not. Its content may name its own end tag, as a
 * command that searches for it does, so the last one counts, but only up to the next element.
 */
function findEnd(text: string, name: string): number {
  const lower = text.toLowerCase();
  const followed = new RegExp(String.raw`</${name}>(?=\s*<(?:${names})>)`);
  const next = followed.exec(lower);
  return next === null ? lower.lastIndexOf(`</${name}>`) : next.index;
}
