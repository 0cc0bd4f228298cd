// diff: renders the page of what a run changed, file by file. Notes on lines stay in the tab until
// they are sent together.

import type { DiffFile } from "../../../../commands/dashboard/diff-files.ts";
import type { DiffLine } from "../../../../views/facts/hunks.ts";
import { diffTable } from "../../../../views/web/diff-table.ts";
import { type Child, el, type Element, foreignText } from "../../../../views/web/element.ts";
import { emptyState, commandBox } from "../../../../views/web/components.ts";
import { type Icon, icon } from "../../../../views/web/icons.ts";
import { formatNumber, plural } from "../../../../views/web/format-numbers.ts";
import { copyText, sendRequest } from "../actions.ts";
import { actionButton, button } from "../controls.ts";
import { loadFile } from "../loading.ts";
import { draw, type LineNote, state } from "../store.ts";
import { runHead } from "./run-head.ts";

/** The server refuses longer notes. */
const noteCharsMax = 4_000;

const marks: Readonly<Record<DiffFile["mark"], readonly [Icon, string]>> = {
  scope: ["tick", "dim"],
  protected: ["shield", "c-you"],
  look: ["you", "c-you"],
  refused: ["bad", "c-bad"],
};

export function diffPage(): Child {
  const top = runHead("diff");
  if ("instead" in top) return top.instead;
  const { diff } = state;
  if (diff === null) return [top.head, el("p.dim.gap-top", "…")];
  if (diff.problem !== null) {
    return [
      top.head,
      emptyState(
        { icon: icon("diff"), title: "There is nothing to compare", text: diff.problem },
        commandBox(`git reflog`, copyText),
      ),
    ];
  }

  const file = diff.files.find(({ path }) => path === state.file);
  if (file === undefined) {
    return [
      top.head,
      emptyState({
        icon: icon("diff"),
        title: "Nothing changed yet",
        text: "A turn that is still at work is not in here; what it changes appears when its work is kept.",
      }),
    ];
  }

  return [
    top.head,
    el(
      "div.diff-view",
      el(
        "select.field.file-choice",
        {
          "aria-label": "File",
          onChange: (event: Event) => void loadFile((event.target as HTMLSelectElement).value),
        },
        diff.files.map((item) =>
          el(
            "option",
            { value: item.path, selected: item.path === state.file },
            `${shortenPath(item.path)}  ${countText(item)}, ${item.word}`,
          ),
        ),
      ),
      el(
        "nav.files",
        { "aria-label": "Files" },
        diff.files.map(fileButton),
        diff.unlistedFiles > 0
          ? el(
              "p.tiny.dim.pad",
              `${formatNumber(diff.unlistedFiles)} more files: autopilot diff --stat`,
            )
          : null,
      ),
      el("div", { style: { "min-width": "0" } }, filePanel(file), notesTray()),
    ),
  ];
}

/** `src/views/web/style.ts` → `…/web/style.ts` */
const shortenPath = (path: string): string => path.replace(/^.*\/(?=[^/]*\/)/, "…/");
const countText = (file: DiffFile): string =>
  file.mark === "refused" || file.insertions === null
    ? ""
    : `+${file.insertions} −${file.deletions ?? 0}`;

function fileButton(file: DiffFile): Element {
  const [shape, colour] = marks[file.mark];
  const noteCount = state.notes.filter(({ path }) => path === file.path).length;
  return el(
    "button",
    {
      type: "button",
      "data-row": "",
      key: file.path,
      ...(file.path === state.file ? { "aria-current": "true" } : {}),
      onClick: () => void loadFile(file.path),
    },
    icon(shape, colour),
    el("span.cut", { title: file.path }, foreignText(shortenPath(file.path))),
    el("span.num.tiny.no-wrap", colouredCounts(file)),
    el("small", foreignText(file.word), noteCount === 0 ? "" : ` · ${plural(noteCount, "note")}`),
  );
}

function colouredCounts(file: DiffFile): Child {
  if (file.mark === "refused") return null;
  if (file.insertions === null) return el("span.dim", "binary");
  return [
    el("span.c-ok", `+${formatNumber(file.insertions)}`),
    " ",
    el("span.c-bad", `−${formatNumber(file.deletions ?? 0)}`),
  ];
}

function filePanel(file: DiffFile): Element {
  const [shape, colour] = marks[file.mark];
  return el(
    "div.panel.clip",
    el(
      "div.row.wrap",
      { style: { padding: "10px 14px", "border-bottom": "1px solid var(--line)" } },
      el("span.mono", { style: { "font-weight": "600" } }, foreignText(file.path)),
      el("span.grow"),
      el("span.row.tiny", { class: colour }, icon(shape), el("span", foreignText(file.word))),
    ),
    fileLines(file),
  );
}

function fileLines(file: DiffFile): Element {
  if (state.fileDiff === null) return el("p.dim.pad", "…");
  const canNote = state.diff?.noNotesBecause === null;

  if (state.fileDiff.lines.length > 0) {
    return diffTable(file.path, state.fileDiff, canNote ? { beginNote, notesUnder } : undefined);
  }

  const isRefused = file.mark === "refused";
  return el(
    "p.second.pad",
    isRefused
      ? "Nothing of that attempt is on the branch; only its name is known here."
      : "Git shows no lines for this file.",
  );
}

function beginNote(line: DiffLine, at: number): void {
  const side = line.newNumber === null ? "old" : "new";
  state.openNote = {
    path: state.file ?? "",
    line: line.newNumber ?? line.oldNumber ?? 0,
    side,
    text: "",
    at,
    commit: state.fileDiff?.tip ?? "",
  };

  draw();
  requestAnimationFrame(() =>
    requestAnimationFrame(() =>
      document.querySelector<HTMLTextAreaElement>(".noted textarea")?.focus(),
    ),
  );
}

function notesUnder(_line: DiffLine, at: number): Child {
  const isHere = ({ path, at: position, commit }: LineNote): boolean =>
    path === state.file && position === at && commit === state.fileDiff?.tip;
  const lineNotes = state.notes.filter(isHere);
  return [
    ...lineNotes.map((note) =>
      el(
        "tr.noted",
        { key: `n${at} ${note.text}` },
        el(
          "td",
          { colspan: "5" },
          el(
            "div.note-box",
            el("div.tiny.dim", "Note, not sent yet"),
            el("div", foreignText(note.text)),
            el("button.link.tiny", { type: "button", onClick: () => removeNote(note) }, "Remove"),
          ),
        ),
      ),
    ),
    state.openNote?.path === state.file && state.openNote?.at === at ? noteForm(at) : null,
  ];
}

function removeNote(note: LineNote): void {
  state.notes = state.notes.filter((candidate) => candidate !== note);
  draw();
}

const noteForm = (at: number): Element =>
  el(
    "tr.noted",
    { key: `w${at}` },
    el(
      "td",
      { colspan: "5" },
      el("textarea.field", {
        "aria-label": "Note on this line",
        rows: "2",
        maxlength: String(noteCharsMax),
        value: state.openNote?.text ?? "",
        onInput: (event: Event) => setNoteText((event.target as HTMLTextAreaElement).value),
      }),
      el(
        "div.row.gap-top",
        button("Keep note", () => keepNote(at), "first"),
        button("Cancel", () => closeNoteForm(at), "quiet"),
      ),
    ),
  );

function setNoteText(text: string): void {
  if (state.openNote !== null) state.openNote = { ...state.openNote, text };
}

function keepNote(at: number): void {
  const { openNote } = state;
  if (openNote !== null && openNote.text.trim() !== "") {
    state.notes = [...state.notes, { ...openNote, text: openNote.text.trim() }];
  }

  closeNoteForm(at);
}

function closeNoteForm(at: number): void {
  state.openNote = null;
  draw();
  requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-note="${at}"]`)?.focus());
}

function notesTray(): Element {
  const { notes, diff } = state;
  const files = new Set(notes.map(({ path }) => path)).size;
  const closed = diff?.noNotesBecause ?? null;

  return el(
    notes.length === 0 ? "div.panel.tray.idle" : "div.panel.tray",
    { role: "region", "aria-label": "Notes" },
    el(
      "div",
      { style: { flex: "1 1 220px" } },
      el(
        "strong",
        notes.length === 0
          ? "No notes yet"
          : `${plural(notes.length, "note")} on ${plural(files, "file")}`,
      ),
      el(
        "div.tiny.dim",
        closed ??
          (notes.length === 0
            ? "Use + at a line, or press c on it. Notes are sent together."
            : `Sent together, for the next turn that changes something. They name commit ${listNotedCommits()
                .map((commit) => commit.slice(0, 10))
                .join(" and ")}.`),
      ),
    ),
    notes.length === 0
      ? null
      : button(
          "Clear",
          () => {
            state.notes = [];
            draw();
          },
          "quiet",
        ),
    actionButton(
      "Send as one answer",
      () => void sendNotes(),
      "first",
      closed ?? (notes.length === 0 ? "There is no note to send." : null),
    ),
  );
}

/** Usually one: the change may have moved on between two notes. */
const listNotedCommits = (): readonly string[] => [
  ...new Set(state.notes.map(({ commit }) => commit)),
];

/**
 * One request for each commit that notes are on. A note that is kept meanwhile stays until it is
 * sent itself.
 */
async function sendNotes(): Promise<void> {
  const key = state.key ?? ""; // another run may be opened meanwhile
  for (const commit of listNotedCommits()) {
    const sent = state.notes.filter((note) => note.commit === commit);
    const notes = sent.map(({ path, line, side, text }) => ({ path, line, side, text }));
    if (!(await sendRequest({ do: "note", key, commit, notes }))) break;
    state.notes = state.notes.filter((note) => !sent.includes(note));
  }

  draw();
}

export function nextFile(step: 1 | -1): void {
  const files = state.diff?.files ?? [];
  const index = files.findIndex(({ path }) => path === state.file);
  const next = files[Math.max(0, Math.min(files.length - 1, index + step))];
  if (next === undefined || next.path === state.file) return;
  void loadFile(next.path).then(() =>
    requestAnimationFrame(() =>
      document.querySelector<HTMLElement>(".files [aria-current]")?.focus(),
    ),
  );
}
