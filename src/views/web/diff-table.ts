// diff-table: renders the changed lines of a file as a table; in the dashboard, a person can write
// notes on them.

import type { DiffLine, FileDiff } from "../facts/hunks.ts";
import { type Child, el, type Element, foreignText } from "./element.ts";

type NoteControls = {
  readonly beginNote: (line: DiffLine, index: number) => void;
  readonly notesUnder: (line: DiffLine, index: number) => Child;
};

export function diffTable(path: string, { lines, cut }: FileDiff, notes?: NoteControls): Element {
  return el(
    "table.diff",
    { "aria-label": `Changes of ${path}` },
    el(
      "tbody",
      lines.map((line, index) => [
        lineRow(line, index, notes),
        notes?.notesUnder(line, index) ?? null,
      ]),
      cut
        ? el(
            "tr.hunk",
            el(
              "td",
              { colspan: "5" },
              "There is more than a page can show: git diff shows all of it.",
            ),
          )
        : null,
    ),
  );
}

const markTexts: Readonly<Record<string, string>> = { "+": "+", "-": "−" };
/** For a screen reader, which doesn't read colours or signs. */
const spokenMarks: Readonly<Record<string, string>> = { "+": "added: ", "-": "removed: " };
const rowClasses = { "+": "add", "-": "del", " ": "", "@": "hunk", "!": "hunk" } as const;

function lineRow(line: DiffLine, index: number, notes: NoteControls | undefined): Element {
  const { mark, text } = line;
  if (mark === "@" || mark === "!") {
    return el(
      "tr.hunk",
      { key: `h${index}` },
      el("td", { colspan: "5" }, foreignText(text === "" ? "…" : text)),
    );
  }

  const number = line.newNumber ?? line.oldNumber ?? 0;
  return el(
    "tr",
    { class: rowClasses[mark], key: `l${index}` },
    el("td.ln.o", { "aria-hidden": "true" }, line.oldNumber ?? ""),
    el("td.ln", line.newNumber ?? ""),
    notes === undefined
      ? null
      : el(
          "td.ad",
          el(
            "button",
            {
              type: "button",
              "data-note": String(index),
              "aria-label": `Note on line ${number}`,
              onClick: () => notes.beginNote(line, index),
            },
            "+",
          ),
        ),
    el(
      "td.mk",
      markTexts[mark] ?? "",
      mark === " " ? null : el("span.hidden-text", spokenMarks[mark]),
    ),
    el("td.tx", foreignText(text)),
  );
}
