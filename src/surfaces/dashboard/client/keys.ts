// keys: keyboard control of the page. Keys are inactive while the user types or a dialog is open,
// and can be switched off.

import { isAboutRun, pageKeys, pageNames, type PageName } from "../rail.ts";
import { draw, pageLink, state, toast } from "./store.ts";
import { reloadPage } from "./loading.ts";

export function toggleTheme(): void {
  const root = document.documentElement;
  const isDark =
    (root.dataset["theme"] ??
      (matchMedia("(prefers-color-scheme:dark)").matches ? "dark" : "light")) === "dark";
  root.dataset["theme"] = isDark ? "light" : "dark";
  sessionStorage.setItem("autopilot.theme", root.dataset["theme"]);
}

export function restoreTheme(): void {
  const storedTheme = sessionStorage.getItem("autopilot.theme");
  if (storedTheme === "light" || storedTheme === "dark") {
    document.documentElement.dataset["theme"] = storedTheme;
  }
}

export function toggleUpdates(): void {
  state.areUpdatesHeld = !state.areUpdatesHeld;
  if (!state.areUpdatesHeld) void reloadPage();
  toast(state.areUpdatesHeld ? "Held: nothing on the page changes by itself" : "Live again");
}

const findPageByLetter = (letter: string): PageName | undefined =>
  pageKeys.find((page) => pageNames[page][2] === letter);
/** `g` and then a letter opens a page, if the letter comes within this time. */
const goSequenceMs = 1_200;
/** By then a page that was just opened is drawn. */
const pageDrawMs = 200;
let gPressedAt = 0;

type KeyTargets = {
  readonly nextFile: (step: 1 | -1) => void;
  readonly moveInLog: (step: 1 | -1) => boolean;
  readonly help: () => void;
};

export function listenToKeys({ nextFile, moveInLog, help }: KeyTargets): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const active = document.activeElement;
    const isTyping =
      active instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(active.tagName);
    if (event.key === "Escape" && isTyping) return active.blur();
    if (
      isTyping ||
      !state.hasSingleKeys ||
      document.querySelector("dialog[open]") !== null ||
      state.connection === "token"
    ) {
      return;
    }

    const { key } = event;
    const isAfterG = performance.now() - gPressedAt < goSequenceMs;
    gPressedAt = 0;
    const page = isAfterG ? findPageByLetter(key) : undefined;
    if (page !== undefined) {
      event.preventDefault();
      location.hash =
        state.key !== null && isAboutRun(page) ? pageLink(page, state.key) : pageLink(page);
      return;
    }

    if (handleKey(key, active, { nextFile, moveInLog, help })) event.preventDefault();
  });
}

function handleKey(
  key: string,
  active: Element | null,
  { nextFile, moveInLog, help }: KeyTargets,
): boolean {
  switch (key) {
    case "g":
      gPressedAt = performance.now();
      return true;
    case "j":
    case "k":
      return moveInLog(key === "j" ? 1 : -1) || moveFocus(key === "j" ? 1 : -1);
    case "?":
      help();
      return true;
    case "t":
      toggleTheme();
      return true;
    case "u":
      toggleUpdates();
      draw();
      return true;
    case "/":
      return focusSearch();
    case "[":
    case "]":
      if (state.page !== "diff") return false;
      nextFile(key === "]" ? 1 : -1);
      return true;
    case "c":
      return (
        state.page === "diff" &&
        press(
          active?.closest("tr")?.querySelector("[data-note]") ??
            document.querySelector("[data-note]"),
        )
      );
    default:
      return (
        state.page === "inbox" &&
        /^[1-9]$/.test(key) &&
        press(document.querySelectorAll(".card.on [role=radio]")[Number(key) - 1] ?? null)
      );
  }
}

function press(target: Element | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  target.click();
  target.focus();

  return true;
}

/** Moves the real focus, so that what is read out and what Enter opens are the same. */
function moveFocus(step: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")].filter(
    (row) => row.offsetParent !== null,
  );
  const index = rows.indexOf(
    document.activeElement?.closest<HTMLElement>("[data-row]") ?? document.body,
  );

  const end = rows.length - 1;
  const outside = step > 0 ? 0 : end;
  const next = rows[index < 0 ? outside : Math.max(0, Math.min(end, index + step))];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });

  return next !== undefined;
}

function focusSearch(): boolean {
  const field = document.getElementById("find");
  if (field === null) location.hash = state.key === null ? "#log" : pageLink("log", state.key);
  setTimeout(() => document.getElementById("find")?.focus(), field === null ? pageDrawMs : 0);

  return true;
}
