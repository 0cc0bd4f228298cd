// run-head: renders the head that the three pages about a run share (goal, state, controls, tabs),
// and what they show if the run is gone.

import { type Child, el, type Element, foreignText } from "../../../../views/web/element.ts";
import { emptyState, commandBox } from "../../../../views/web/components.ts";
import { icon, stateLabel } from "../../../../views/web/icons.ts";
import { copyText, sendRequest } from "../actions.ts";
import { actionButton, pageHeading } from "../controls.ts";
import { draw, pageLink, state } from "../store.ts";
import { runBranchName } from "../../../../contracts/run-branch.ts";

/** The head of a page about a run, or what is shown instead of the page. */
export function runHead(
  page: "run" | "log" | "diff",
): { readonly head: Child } | { readonly instead: Child } {
  if (state.missing !== null) return { instead: missingRunPage(state.missing) };
  if (state.head === null) {
    return {
      instead:
        state.overview !== null && state.overview.runs.length === 0
          ? noRunPage()
          : pageHeading("…"),
    };
  }

  const { card, branch, agents, isolation } = state.head;
  const tab = (name: "run" | "log" | "diff", word: string): Element =>
    el(
      "a",
      { href: pageLink(name, card.key), ...(page === name ? { "aria-current": "page" } : {}) },
      word,
    );

  return {
    head: [
      el(
        "nav.crumb",
        { "aria-label": "Where" },
        el("a", { href: "#now" }, foreignText(card.project)),
        " / ",
        el("span.mono", card.run),
      ),
      el(
        "div.head",
        { class: page === "run" ? "" : "brief" },
        el(
          "div",
          pageHeading(foreignText(card.goal)),
          el(
            "div.meta",
            stateLabel(card.shape, card.word),
            el("span", card.progressText === "" ? card.flow : `${card.flow}, ${card.progressText}`),
            el("span", [...new Set(agents.map(([, agent]) => agent))].join(" · ")),
            el("span", `isolation ${isolation.level}`),
            el("span.mono.wide-only", branch),
            card.foreign ? el("span.c-you", "from elsewhere: only read here") : null,
          ),
        ),
        el("div.row.wrap", controls()),
      ),
      el(
        "nav.run-tabs",
        { "aria-label": "Run" },
        tab("run", "Run"),
        tab("log", "Log"),
        tab("diff", "Diff"),
      ),
    ],
  };
}

function controls(): Child {
  const card = state.head?.card;
  if (card === undefined || !["running", "paused", "interrupted"].includes(card.state)) return null;
  const key = card.key;
  const isWorking = card.hasOwner && card.state === "running";
  const whyLive = card.hasOwner ? "It goes on by itself." : null;
  const whyNotResume = card.isHeldByQuestion
    ? "It waits for an answer; give it in the Inbox."
    : whyLive;

  return [
    isWorking
      ? actionButton(
          "Pause after the turn",
          () => void sendRequest({ do: "pause", key, now: false }),
        )
      : actionButton(
          "Resume",
          () => void sendRequest({ do: "resume", key }),
          "first",
          whyNotResume,
        ),
    actionButton("Stop…", () => {
      state.dialog = "stop";
      draw();
    }),
  ];
}

const missingRunPage = (key: string): Child => [
  pageHeading("This run is not here any more"),
  emptyState(
    {
      icon: icon("stopped"),
      title: key,
      text: "run_missing: there is no such run here. If it was discarded, its branch stays until you delete it.",
    },
    commandBox("autopilot runs", copyText),
    /^[\w.-]+$/.test(key) ? commandBox(`git log ${runBranchName(key)}`, copyText) : null, // a URL is untrusted
    el("p.gap-top", el("a.link", { href: "#now" }, "Back to what runs now")),
  ),
];

const noRunPage = (): Child => [
  pageHeading("No run yet"),
  emptyState(
    {
      icon: icon("logo"),
      title: "No run was ever started here",
      text: "Start one in the terminal; it can be followed here.",
    },
    commandBox('autopilot "what you want done"', copyText),
  ),
];
