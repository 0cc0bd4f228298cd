// inbox: one question a card: what waiting costs, what is claimed, what was found, the answers. Choosing and sending are two acts.

import type { Attention } from "../../../../views/facts/attention.ts";
import { type Child, el, type Element, foreignText } from "../../../../views/web/element.ts";
import { emptyState, commandBox, definitionList, notice, timeElement } from "../../../../views/web/components.ts";
import { icon, stateIcon } from "../../../../views/web/icons.ts";
import { elapsedText } from "../../../../views/web/page-figures.ts";
import { copy, send } from "../actions.ts";
import { acting, h1 } from "../controls.ts";
import { draw, href, now, state } from "../store.ts";

const answerCharsMax = 40;

const attentionId = ({ key, id }: Attention): string => `${key} ${id}`;

export function inboxPage(): Child {
  const { overview } = state;
  if (overview === null) return h1("Inbox");
  const asks = overview.attention;
  if (state.question === null || !asks.some((ask) => attentionId(ask) === state.question))
    state.question = asks[0] === undefined ? null : state.question === "" ? "" : attentionId(asks[0]);
  return [
    el(
      "div.head",
      el(
        "div",
        h1("Inbox"),
        asks.length === 0
          ? null
          : el("p", "One question a card; what holds up most comes first. Whatever does not depend on the answer goes on."),
      ),
    ),
    el(
      "div.cols.gap-top",
      el(
        "div",
        asks.length === 0
          ? emptyState({
              icon: icon("ok"),
              title: "Nothing waits for you",
              text: "Questions, verdicts and approvals come here, one a card.",
            })
          : asks.map(card),
      ),
      el(
        "aside",
        { "aria-label": "Answered today" },
        overview.answered.length === 0
          ? null
          : [
              el("h2", "Answered today"),
              el(
                "div.panel.gap-top",
                overview.answered.map(({ at, question, answer, actor, project }) =>
                  el(
                    "div.item.small",
                    { key: at + question },
                    el("div", foreignText(question)),
                    el("div.tiny.dim", "“", foreignText(answer), `” · ${actor.replace(/^operator:/, "")} · ${project} · `, timeElement(at)),
                  ),
                ),
              ),
            ],
      ),
    ),
  ];
}

function card(ask: Attention): Element {
  const id = attentionId(ask);
  const isOn = state.question === id;
  return el(
    `article.card${isOn ? ".on" : ""}`,
    { key: id, "aria-label": `${ask.kind}, ${ask.project}` },
    el(
      "h2",
      el(
        "button.card-head",
        { type: "button", "data-row": "", "aria-expanded": String(isOn), onClick: () => choose(isOn ? "" : id) },
        stateIcon("you"),
        el("b", foreignText(ask.question)),
        el("span.age.num.tiny.c-you.no-wrap", `waits ${elapsedText(ask.asked_at, now())}`),
        el(
          "span.about.tiny.dim",
          el("span.hidden-text", "needs you. "),
          `${ask.kind} · `,
          foreignText(ask.project),
          el("span.wide-only", " · ", foreignText(ask.goal.slice(0, 100))),
        ),
      ),
    ),
    isOn ? body(ask, id) : null,
  );
}

function choose(id: string): void {
  state.question = id;
  draw();
}

function body(ask: Attention, id: string): Element {
  return el(
    "div.body",
    state.stale === id
      ? notice(
          { icon: stateIcon("you"), kind: "you" },
          "The question changed while you read it. Your answer was not taken.",
          el("div.second", "What is asked now stands above; your words are kept below."),
        )
      : null,
    el("div.small", el("span.dim", "While you wait: "), el("strong", foreignText(ask.impact))),
    ask.why === null ? null : el("div.second", foreignText(ask.why)),
    ask.show.length === 0
      ? null
      : el(
          "div.row.top",
          stateIcon("ok"),
          el(
            "div.grow",
            el("span.hidden-text", "The runner found: "),
            definitionList(ask.show.map(([name, value]) => [foreignText(name), foreignText(value)])),
          ),
        ),
    ask.kind === "Paused" ? paused(ask) : ask.kind === "Task" ? adjusted(ask) : answers(ask, id),
  );
}

const paused = (ask: Attention): Child => [
  ...ask.commands.slice(0, 4).map((item) => commandBox(item, copy)),
  el(
    "div.row.wrap",
    acting("Resume", () => void send({ do: "resume", key: ask.key }), "first"),
    el("a.button.quiet", { href: href("run", ask.key) }, "Open the run"),
  ),
];

/** A task asks nothing: what to do is a command. */
const adjusted = (ask: Attention): Child => [
  ...ask.commands.slice(0, 4).map((item) => commandBox(item, copy)),
  el("div.row.wrap", el("a.button.quiet", { href: "#portfolio" }, "Open the portfolio")),
];

function answers(ask: Attention, id: string): Child {
  const picked = state.picks[id];
  const words = state.words[id] ?? "";
  const isVerdict = ask.kind === "Verdict";
  const needsWords = isVerdict && picked === "issues_found" && words.trim() === "";
  const idle = needsWords
    ? "Say what is wrong: one issue a line."
    : picked === undefined && (!ask.free || words.trim() === "")
      ? ask.options.length === 0
        ? "Write your answer first."
        : "Choose an answer first."
      : null;
  const label = idle !== null ? idle.replace(/\.$/, "") : picked === undefined ? "Send your words" : `Send “${askWords(ask, picked)}”`;
  return [
    el(
      "div.options",
      { role: "radiogroup", "aria-label": "Answer", onKeyDown: arrows },
      ask.options.map(({ key, text }, at) =>
        el(
          "button.option",
          {
            type: "button",
            role: "radio",
            key,
            "aria-checked": String(picked === key),
            tabindex: picked === key || (picked === undefined && at === 0) ? "0" : "-1",
            onClick: () => pick(id, key),
          },
          el("kbd", String(at + 1)),
          el("b", foreignText(text === "" ? key : text), ask.recommend === key ? el("span.dim", "  recommended") : null),
          text === "" || key === String(at + 1) ? null : el("span.dim.tiny", foreignText(key)),
        ),
      ),
    ),
    ask.free || isVerdict
      ? el(
          "label",
          el(
            "span.tiny.dim",
            isVerdict
              ? "Issues, one a line (for “issues_found”)"
              : ask.options.length === 0
                ? "Your answer"
                : "Your own words (instead of an option)",
          ),
          el("textarea.field", {
            rows: "2",
            maxlength: "8000",
            value: words,
            onInput: (event: Event) => write(id, (event.target as HTMLTextAreaElement).value),
          }),
        )
      : null,
    el(
      "div.row.wrap",
      acting(label, () => void give(ask, id), "first", idle),
      ask.key === "portfolio" ? null : el("a.button.quiet", { href: href("diff", ask.key) }, "See the diff"),
      ask.key === "portfolio"
        ? el("a.button.quiet", { href: "#portfolio" }, "Open the portfolio")
        : el("a.button.quiet", { href: href("run", ask.key) }, "Open the run"),
      el("span.grow"),
      el(
        "span.tiny.dim",
        { title: "If the question changes before you answer, the answer is refused and the new question is shown" },
        "counts for the question as shown, ",
        el("span.mono", ask.content.slice(0, 8)),
      ),
    ),
  ];
}

/** An answer as its button says it. */
function askWords(ask: Attention, picked: string): string {
  const text = ask.options.find(({ key }) => key === picked)?.text ?? "";
  const words = text === "" ? picked : text;
  return words.length <= answerCharsMax ? words : `${words.slice(0, answerCharsMax - 1)}…`;
}

function pick(id: string, key: string): void {
  state.picks[id] = key;
  draw();
}

function write(id: string, text: string): void {
  state.words[id] = text;
  draw();
}

async function give(ask: Attention, id: string): Promise<void> {
  const words = (state.words[id] ?? "").trim();
  const picked = state.picks[id];
  const issues = picked === "issues_found" ? words.split("\n").filter((line) => line.trim() !== "") : [];
  const body = {
    do: "answer",
    key: ask.key,
    block: ask.id,
    content: ask.content,
    text: picked ?? words,
    ...(issues.length === 0 ? {} : { issues }),
  };
  if (!(await send(body))) return;
  delete state.picks[id];
  delete state.words[id];
  state.question = null;
  document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  draw();
}

/** Arrows move inside the answers, as in any group of radios. */
function arrows(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  const group = event.currentTarget;
  if (step === undefined || !(group instanceof HTMLElement)) return;
  event.preventDefault();
  const all = [...group.querySelectorAll<HTMLElement>("[role=radio]")];
  const next = all[(all.indexOf(event.target as HTMLElement) + step + all.length) % all.length];
  next?.focus();
  next?.click();
}
