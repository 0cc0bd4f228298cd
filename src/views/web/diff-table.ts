// diff-table: the lines of a file's change, with room for notes where they can be made.

import type { DiffLine, FileDiff } from "../facts/hunks.ts";
import { type Child, el, type Element, foreignText } from "./element.ts";

type Noting = { readonly begin: (line: DiffLine, at: number) => void; readonly under: (line: DiffLine, at: number) => Child };

export function diffTable(path: string, { lines, cut }: FileDiff, noting?: Noting): Element {
  return el(
    "table.diff",
    { "aria-label": `Changes of ${path}` },
    el(
      "tbody",
      lines.map((line, index) => [lineRow(line, index, noting), noting?.under(line, index) ?? null]),
      cut ? el("tr.hunk", el("td", { colspan: "5" }, "There is more than a page can show: git diff shows all of it.")) : null,
    ),
  );
}

const shownMarks: Readonly<Record<string, string>> = { "+": "+", "-": "−" };
const classes = { "+": "add", "-": "del", " ": "", "@": "hunk", "!": "hunk" } as const;

function lineRow(line: DiffLine, at: number, noting: Noting | undefined): Element {
  const { mark, text } = line;
  if (mark === "@" || mark === "!")
    return el("tr.hunk", { key: `h${at}` }, el("td", { colspan: "5" }, foreignText(text === "" ? "…" : text)));
  const number = line.new ?? line.old ?? 0;
  return el(
    "tr",
    { class: classes[mark], key: `l${at}` },
    el("td.ln.o", { "aria-hidden": "true" }, line.old ?? ""),
    el("td.ln", line.new ?? ""),
    noting === undefined
      ? null
      : el(
          "td.ad",
          el(
            "button",
            { type: "button", "data-note": String(at), "aria-label": `Note on line ${number}`, onClick: () => noting.begin(line, at) },
            "+",
          ),
        ),
    el("td.mk", shownMarks[mark] ?? "", mark === " " ? null : el("span.hidden-text", mark === "+" ? "added: " : "removed: ")),
    el("td.tx", foreignText(text)),
  );
}
