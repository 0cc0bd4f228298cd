// frame: the frame of every page: navigation, connection state, banners, toasts and dialogs.

import { emptyState, commandBox, noticeBox } from "../../../views/web/components.ts";
import { type Child, el, type Element, foreignText } from "../../../views/web/element.ts";
import { icon, stateIcon, stateLabel } from "../../../views/web/icons.ts";
import { formatShortTime } from "../../../views/web/format-numbers.ts";
import { copyText, sendRequest, unlockWithCode } from "./actions.ts";
import { isUnlocked } from "./api.ts";
import { actionButton, button, pageHeading } from "./controls.ts";
import { retryNow } from "./loading.ts";
import {
  isAboutRun,
  pageNames,
  type PageName,
  type RailState,
  renderRail,
  railTabs,
} from "../rail.ts";
import { draw, pageLink, state } from "./store.ts";
import { toggleUpdates, toggleTheme } from "./keys.ts";

export const pageTitle = (page: PageName): string => pageNames[page][0];

const pageAddress = (page: PageName): string =>
  isAboutRun(page) && state.key !== null ? pageLink(page, state.key) : pageLink(page);

const railState = (): RailState => ({
  page: state.page,
  waits: state.overview?.attention.length ?? 0,
  addressOf: pageAddress,
});

export function frame(content: Child): Element {
  return el(
    "div.frame",
    el("a.skip", { href: "#main", onClick: skipToContent }, "To the content"),
    renderRail(railState(), hasFleetPage(), [
      connectionLabel(),
      el(
        "div.row.keep",
        button("Theme", toggleTheme, "quiet"),
        button(el("kbd", "?"), () => openDialog("keys"), "quiet", { "aria-label": "Keys, help" }),
      ),
    ]),
    el("main", { id: "main", tabindex: "-1" }, banners(), content),
    railTabs(railState(), moreButton()),
    state.toast === null ? null : el("div.toast", { role: "status" }, foreignText(state.toast)),
    dialogs(),
  );
}

function skipToContent(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function connectionLabel(): Element {
  if (state.connection === "gone") return stateLabel("bad", "not connected");
  if (state.areUpdatesHeld) return stateLabel("paused", "held");
  return stateLabel(
    state.connection === "live" ? "ok" : "waits",
    state.connection === "live" ? "live" : "opening",
  );
}

const hasFleetPage = (): boolean => state.overview?.hasStore === true || state.page === "fleet";
/** The pages that have no place of their own at the lower edge of a phone. */
const listMorePages = (): readonly PageName[] => [
  "log",
  "diff",
  ...(hasFleetPage() ? ["fleet" as const] : []),
  "cost",
  "settings",
];

const moreButton = (): Element =>
  el(
    "button",
    {
      type: "button",
      "aria-haspopup": "dialog",
      onClick: () => openDialog("more"),
      ...(listMorePages().includes(state.page) ? { "aria-current": "page" } : {}),
    },
    icon("more"),
    "More",
  );

export function openDialog(dialog: NonNullable<typeof state.dialog>): void {
  state.dialog = dialog;
  draw();
}

/** The pages on which something can be changed; the others ask for no code. */
const actingPages: ReadonlySet<string> = new Set(["now", "inbox", "run", "diff", "portfolio"]);

function banners(): Child {
  const readOnlyReason = state.overview?.readOnlyBecause ?? null;
  const needsCode = readOnlyReason !== null && !isUnlocked() && actingPages.has(state.page);
  return [
    state.connection === "gone" ? serverGoneBanner() : null,
    needsCode ? readOnlyBanner(readOnlyReason) : null,
  ];
}

const serverGoneBanner = (): Element =>
  noticeBox(
    { icon: stateIcon("bad"), kind: "bad" },
    `The dashboard's server has not answered since ${formatShortTime(state.goneSince ?? "")}.`,
    el(
      "div.second",
      `What you see is as of then. Runs go on without it. Trying again in ${Math.max(0, state.retryInS)} s; nothing is lost.`,
    ),
    el("div.gap-top", commandBox("autopilot dashboard --open", copyText)),
    el("div.gap-top", button("Try now", retryNow)),
  );

const readOnlyBanner = (why: string): Element =>
  noticeBox(
    { icon: stateIcon("you"), kind: "you" },
    `Read-only: ${why}.`,
    el(
      "div.second",
      "Its agent runs as you and could read this page's token. To act from here, type the code from the terminal.",
    ),
    el(
      "form.row.wrap.gap-top",
      { onSubmit: submitCode },
      el("input.field.mono", {
        "aria-label": "Code from the terminal",
        placeholder: "code",
        maxlength: "6",
        autocomplete: "off",
        style: { width: "120px" },
        value: state.typedCode,
        onInput: (event: Event) =>
          void (state.typedCode = (event.target as HTMLInputElement).value),
      }),
      el("button.button", { type: "submit", "aria-label": "Unlock for this tab" }, "Unlock"),
      state.codeError === null ? null : el("span.c-bad", { role: "alert" }, state.codeError),
    ),
  );

function submitCode(event: Event): void {
  event.preventDefault();
  void unlockWithCode();
}

/** The page for a link whose token is not this server's. */
export const closedPage = (): Element =>
  el(
    "main.lone",
    pageHeading("This link does not open anything"),
    emptyState(
      {
        icon: icon("shield"),
        title: "The token in the address is not this server's",
        text: "A token ends with the server that made it. Nothing was shown and nothing was sent.",
      },
      commandBox("autopilot dashboard --open", copyText),
    ),
  );

/** A native dialog, opened when it is drawn. */
function dialogBox(title: string, ...content: readonly Child[]): Element {
  return el(
    "dialog",
    { "aria-label": title, key: title, ref: showDialog, onClose: () => closeDialog() },
    el(
      "div.row",
      el("h2", { style: { "font-size": "16px" } }, title),
      el("span.grow"),
      button("Close", () => closeDialog(), "quiet"),
    ),
    ...content,
  );
}

function showDialog(dialog: HTMLDialogElement | null): void {
  if (dialog !== null && !dialog.open) dialog.showModal();
}

function closeDialog(): void {
  state.dialog = null;
  state.typedRunId = "";
  draw();
}

function dialogs(): Child {
  if (state.dialog === "keys") return keysDialog();
  if (state.dialog === "stop") return stopDialog();
  if (state.dialog === "more") {
    return dialogBox(
      "More",
      el(
        "div.gap-top",
        ...listMorePages().map((page) =>
          el(
            "a.nav",
            { href: pageAddress(page), onClick: closeDialog, style: { height: "44px" } },
            icon(pageNames[page][1]),
            pageNames[page][0],
          ),
        ),
      ),
      el(
        "div.row.wrap.gap-top",
        button("Light or dark", toggleTheme),
        button(state.areUpdatesHeld ? "Go on with updates" : "Hold updates", toggleUpdates),
      ),
    );
  }

  return null;
}

function stopDialog(): Child {
  const run = state.head?.card.run ?? "";
  return dialogBox(
    "Stop this run for good",
    el(
      "p.second.gap-top",
      "Its agent is ended at once. The branch and the journal stay; a stopped run is never resumed.",
    ),
    el(
      "form",
      {
        onSubmit: (event: Event) => {
          event.preventDefault();
          if (state.typedRunId === run) void stopRun(run);
        },
      },
      el(
        "label",
        el("span.tiny.dim", "Type ", el("code", run), " to stop it"),
        el("input.field.mono", {
          value: state.typedRunId,
          autofocus: true,
          autocomplete: "off",
          onInput: (event: Event) => setConfirm((event.target as HTMLInputElement).value),
        }),
      ),
      run.startsWith(state.typedRunId)
        ? null
        : el("p.tiny.c-bad", { role: "alert" }, "That is not this run's id."),
      el(
        "div.row.gap-top",
        actionButton(
          "Stop the run",
          () => void stopRun(run),
          "first",
          state.typedRunId === run ? null : "Type the run's id first.",
        ),
        button("Keep it", closeDialog, "quiet"),
      ),
    ),
  );
}

function setConfirm(text: string): void {
  state.typedRunId = text;
  draw();
}

async function stopRun(run: string): Promise<void> {
  await sendRequest({ do: "stop", key: state.key ?? "", confirm: run });
  closeDialog(); // what the server said is behind the dialog
}

function keysDialog(): Child {
  const rows = [
    ["j k", "next, previous row"],
    ["Enter", "open"],
    ...Object.values(pageNames).map(([word, , letter]) => [`g ${letter}`, word] as const),
    ["1 … 9", "choose an answer"],
    ["[ ]", "previous, next file"],
    ["c", "note on the line"],
    ["/", "find in the log"],
    ["u", "hold or go on with updates"],
    ["t", "light or dark"],
    ["Esc", "leave a field, close"],
    ["?", "this"],
  ] as const;
  return dialogBox(
    "Keys",
    el(
      "div.key-list",
      rows.map(([keys, word]) =>
        el(
          "div",
          el("span", word),
          el(
            "span",
            keys.split(" ").map((key) => [" ", el("kbd", key)]),
          ),
        ),
      ),
    ),
    el(
      "p.tiny.dim",
      "Keys do nothing while you type. Nothing that grants, stops or spends has a key of its own. Settings switches single keys off.",
    ),
  );
}
