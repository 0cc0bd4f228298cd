// task-notation: reads a task's criteria and budget in the notation that people write them in.

import type { Criterion, PortfolioBudget } from "../../contracts/portfolio/portfolio-journal.ts";
import { readQuantity } from "../../kit/quantity.ts";

const commandSeparator = " :: ";

/**
 * `text :: command`, or a sentence that only a person can judge. A string says what is wrong with
 * it.
 */
export function parseCriterion(criterion: string): Criterion | string {
  const index = criterion.indexOf(commandSeparator);
  if (index < 0) return parseSentence(criterion);

  const text = criterion.slice(0, index).trim();
  const command = criterion.slice(index + commandSeparator.length).trim();
  if (text === "" || command === "") {
    return `the criterion "${criterion}" needs words before :: and a command after it`;
  }

  return { text, command };
}

function parseSentence(criterion: string): Criterion | string {
  if (/\S::\S/.test(criterion)) return `the criterion "${criterion}" needs spaces around ::`;

  const text = criterion.trim();
  return text === "" ? "a criterion is empty" : { text, command: null };
}

/**
 * `tokens=250k,usd=3`. A string says what is wrong. A value that isn't text gives no budget: the
 * schema reports it.
 */
export function parseBudget(text: unknown): PortfolioBudget | string {
  const budget: PortfolioBudget = {};
  if (typeof text !== "string") return budget;

  for (const part of text.split(",")) {
    if (part.trim() === "") continue;

    const [name = "", amount = "", ...more] = part.split("=").map((word) => word.trim());
    const value = readQuantity(amount);
    if ((name !== "tokens" && name !== "usd") || value === null || more.length > 0) {
      return `The budget "${part.trim()}" is not understood; expected tokens=250k,usd=3.`;
    }

    if (budget[name] !== undefined) {
      return `The budget has ${name} twice; expected tokens=250k,usd=3.`;
    }

    budget[name] = value;
  }

  return budget;
}
