// inbox: renders the page of open questions, one a card: what waiting costs, what the runner found,
// and the possible answers. Choosing an answer doesn't send it.

import type { AttentionItem } from "../../../../views/facts/attention.ts";
import type { Overview } from "../../../../commands/dashboard/overview.ts";
import { type Child, el, type Element, foreignText } from "../../../../views/web/element.ts";
import {
  emptyState,
  commandBox,
  definitionList,
  noticeBox,
  timeElement,
} from "../../../../views/web/components.ts";
import { icon, stateIcon } from "../../../../views/web/icons.ts";
import { formatElapsed } from "../../../../views/web/format-numbers.ts";
import { copyText, sendRequest } from "../actions.ts";
import { actionButton, pageHeading } from "../controls.ts";
import { draw, pageLink, serverNow, state } from "../store.ts";

/** Of an answer on the button that sends it. */
const answerCharsMax = 40;
const commandsMax = 4;

const attentionId = ({ key, id }: AttentionItem): string => `${key} ${id}`;

export function inboxPage(): Child {
  const { overview } = state;
  if (overview === null) return pageHeading("Inbox");
  const items = overview.attention;
  openFirstCard(items);

  return [
    el(
      "div.head",
      el(
        "div",
        pageHeading("Inbox"),
        items.length === 0
          ? null
          : el(
              "p",
              "One question a card; what holds up most comes first. Whatever does not depend on the answer goes on.",
            ),
      ),
    ),
    el(
      "div.cols.gap-top",
      el(
        "div",
        items.length === 0
          ? emptyState({
              icon: icon("ok"),
              title: "Nothing waits for you",
              text: "Questions, verdicts and approvals come here, one a card.",
            })
          : items.map(card),
      ),
      el(
        "aside",
        { "aria-label": "Answered today" },
        overview.answered.length === 0 ? null : answeredToday(overview.answered),
      ),
    ),
  ];
}

/**
 * Expands the first card, unless an open question is expanded already or the person has collapsed
 * them all ("").
 */
function openFirstCard([first, ...rest]: readonly AttentionItem[]): void {
  if (first === undefined) {
    state.question = null;
  } else if (
    state.question !== "" &&
    ![first, ...rest].some((item) => attentionId(item) === state.question)
  ) {
    state.question = attentionId(first);
  }
}

const answeredToday = (answered: Overview["answered"]): Child => [
  el("h2", "Answered today"),
  el(
    "div.panel.gap-top",
    answered.map(({ at, question, answer, actor, project }) =>
      el(
        "div.item.small",
        { key: at + question },
        el("div", foreignText(question)),
        el(
          "div.tiny.dim",
          "“",
          foreignText(answer),
          `” · ${actor.replace(/^operator:/, "")} · ${project} · `,
          timeElement(at),
        ),
      ),
    ),
  ),
];

function card(item: AttentionItem): Element {
  const id = attentionId(item);
  const isOpen = state.question === id;
  return el(
    `article.card${isOpen ? ".on" : ""}`,
    { key: id, "aria-label": `${item.kind}, ${item.project}` },
    el(
      "h2",
      el(
        "button.card-head",
        {
          type: "button",
          "data-row": "",
          "aria-expanded": String(isOpen),
          onClick: () => openCard(isOpen ? "" : id),
        },
        stateIcon("you"),
        el("b", foreignText(item.question)),
        el("span.age.num.tiny.c-you.no-wrap", `waits ${formatElapsed(item.asked_at, serverNow())}`),
        el(
          "span.about.tiny.dim",
          el("span.hidden-text", "needs you. "),
          `${item.kind} · `,
          foreignText(item.project),
          el("span.wide-only", " · ", foreignText(item.goal.slice(0, 100))),
        ),
      ),
    ),
    isOpen ? cardBody(item, id) : null,
  );
}

function openCard(id: string): void {
  state.question = id;
  draw();
}

function cardBody(item: AttentionItem, id: string): Element {
  return el(
    "div.body",
    state.changedQuestion === id
      ? noticeBox(
          { icon: stateIcon("you"), kind: "you" },
          "The question changed while you read it. Your answer was not taken.",
          el("div.second", "What is asked now stands above; your words are kept below."),
        )
      : null,
    el("div.small", el("span.dim", "While you wait: "), el("strong", foreignText(item.impact))),
    item.why === null ? null : el("div.second", foreignText(item.why)),
    item.show.length === 0
      ? null
      : el(
          "div.row.top",
          stateIcon("ok"),
          el(
            "div.grow",
            el("span.hidden-text", "The runner found: "),
            definitionList(
              item.show.map(([name, value]) => [foreignText(name), foreignText(value)]),
            ),
          ),
        ),
    actions(item, id),
  );
}

function actions(item: AttentionItem, id: string): Child {
  if (item.kind === "Paused") return pauseActions(item);
  return item.kind === "Task" ? taskActions(item) : answerForm(item, id);
}

const pauseActions = (item: AttentionItem): Child => [
  ...item.commands.slice(0, commandsMax).map((command) => commandBox(command, copyText)),
  el(
    "div.row.wrap",
    actionButton("Resume", () => void sendRequest({ do: "resume", key: item.key }), "first"),
    el("a.button.quiet", { href: pageLink("run", item.key) }, "Open the run"),
  ),
];

/** A task asks nothing: what to do is a command. */
const taskActions = (item: AttentionItem): Child => [
  ...item.commands.slice(0, commandsMax).map((command) => commandBox(command, copyText)),
  el("div.row.wrap", el("a.button.quiet", { href: "#portfolio" }, "Open the portfolio")),
];

function answerForm(item: AttentionItem, id: string): Child {
  const chosenKey = state.chosenOptions[id];
  const missing = describeMissing(item, id);
  const sendLabel =
    chosenKey === undefined ? "Send your words" : `Send “${optionLabel(item, chosenKey)}”`;

  const links =
    item.key === "portfolio"
      ? [el("a.button.quiet", { href: "#portfolio" }, "Open the portfolio")]
      : [
          el("a.button.quiet", { href: pageLink("diff", item.key) }, "See the diff"),
          el("a.button.quiet", { href: pageLink("run", item.key) }, "Open the run"),
        ];
  return [
    optionButtons(item, id),
    item.free || item.kind === "Verdict" ? textField(item, id) : null,
    el(
      "div.row.wrap",
      actionButton(
        missing?.replace(/\.$/, "") ?? sendLabel,
        () => void submit(item, id),
        "first",
        missing,
      ),
      ...links,
      el("span.grow"),
      el(
        "span.tiny.dim",
        {
          title:
            "If the question changes before you answer, the answer is refused and the new question is shown",
        },
        "counts for the question as shown, ",
        el("span.mono", item.content.slice(0, 8)),
      ),
    ),
  ];
}

/** Why the answer can't be sent yet; null if it can. */
function describeMissing(item: AttentionItem, id: string): string | null {
  const chosenKey = state.chosenOptions[id];
  const hasWords = (state.typedAnswers[id] ?? "").trim() !== "";
  if (item.kind === "Verdict" && chosenKey === "issues_found" && !hasWords) {
    return "Say what is wrong: one issue a line.";
  }

  if (chosenKey !== undefined || (item.free && hasWords)) return null;
  return item.options.length === 0 ? "Write your answer first." : "Choose an answer first.";
}

function optionButtons(item: AttentionItem, id: string): Element {
  const chosenKey = state.chosenOptions[id];
  return el(
    "div.options",
    { role: "radiogroup", "aria-label": "Answer", onKeyDown: moveByArrow },
    item.options.map(({ key, text }, index) =>
      el(
        "button.option",
        {
          type: "button",
          role: "radio",
          key,
          "aria-checked": String(chosenKey === key),
          tabindex: chosenKey === key || (chosenKey === undefined && index === 0) ? "0" : "-1",
          onClick: () => chooseOption(id, key),
        },
        el("kbd", String(index + 1)),
        el(
          "b",
          foreignText(text === "" ? key : text),
          item.recommend === key ? el("span.dim", "  recommended") : null,
        ),
        text === "" || key === String(index + 1) ? null : el("span.dim.tiny", foreignText(key)),
      ),
    ),
  );
}

function textField(item: AttentionItem, id: string): Element {
  return el(
    "label",
    el("span.tiny.dim", textFieldLabel(item)),
    el("textarea.field", {
      rows: "2",
      maxlength: "8000",
      value: state.typedAnswers[id] ?? "",
      onInput: (event: Event) => setWords(id, (event.target as HTMLTextAreaElement).value),
    }),
  );
}

function textFieldLabel(item: AttentionItem): string {
  if (item.kind === "Verdict") return "Issues, one a line (for “issues_found”)";
  return item.options.length === 0 ? "Your answer" : "Your own words (instead of an option)";
}

/** An option's text, cut to fit on the button that sends it. */
function optionLabel(item: AttentionItem, chosenKey: string): string {
  const text = item.options.find(({ key }) => key === chosenKey)?.text ?? "";
  const words = text === "" ? chosenKey : text;
  return words.length <= answerCharsMax ? words : `${words.slice(0, answerCharsMax - 1)}…`;
}

function chooseOption(id: string, key: string): void {
  state.chosenOptions[id] = key;
  draw();
}

function setWords(id: string, text: string): void {
  state.typedAnswers[id] = text;
  draw();
}

async function submit(item: AttentionItem, id: string): Promise<void> {
  const words = (state.typedAnswers[id] ?? "").trim();
  const chosenKey = state.chosenOptions[id];
  const issues =
    chosenKey === "issues_found" ? words.split("\n").filter((line) => line.trim() !== "") : [];

  const body = {
    do: "answer",
    key: item.key,
    block: item.id,
    content: item.content,
    text: chosenKey ?? words,
    ...(issues.length === 0 ? {} : { issues }),
  };
  if (!(await sendRequest(body))) return;
  delete state.chosenOptions[id];
  delete state.typedAnswers[id];
  state.question = null;
  document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  draw();
}

/** Arrow keys move inside the options, as in any group of radio buttons. */
function moveByArrow(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  const group = event.currentTarget;
  if (step === undefined || !(group instanceof HTMLElement)) return;
  event.preventDefault();
  const options = [...group.querySelectorAll<HTMLElement>("[role=radio]")];
  const next =
    options[
      (options.indexOf(event.target as HTMLElement) + step + options.length) % options.length
    ];
  next?.focus();
  next?.click();
}
