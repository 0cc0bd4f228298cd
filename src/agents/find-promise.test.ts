import { describe, expect, test } from "vitest";
import { announcesMore, findPromise } from "./find-promise.ts";

const prompt = `Goal: make it work.
When everything holds, say <promise>DONE</promise> and nothing after it.
Answer with:
<promise>DONE</promise>
Work in small steps.`;

describe("the promise was said", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["alone", "<promise>DONE</promise>"],
    ["in a sentence", "All tests pass, finished <promise>DONE</promise>"],
    ["in another case", "<promise>done</promise>"],
    ["with the tag in capitals", "<PROMISE>Done</PROMISE>"],
    ["with blanks around it", "<promise>\n  DONE  </promise>"],
    ["in bold", "**<promise>DONE</promise>**"],
    [
      "alone on its line as the prompt shows it",
      "I wrote the file and ran the tests.\n<promise>DONE</promise>",
    ],
    ["after a block of code", "```ts\nconst a = 1;\n```\n<promise>DONE</promise>"],
    ["after a quotation", "> make it work\n\nIt works. <promise>DONE</promise>"],
    ["between two quoted words", 'I set "a" to 1 <promise>DONE</promise> and "b" to 2'],
    ["after contractions", "It's what wasn't there. <promise>DONE</promise> That's it."],
    ["after an echo of the prompt", `${prompt}\n\nI did it.\n<promise>DONE</promise>`],
    ["after inline code", "`npm test` passes: <promise>DONE</promise>"],
    ["in a list", "- wrote it\n- tested it\n- <promise>DONE</promise>"],
    ["indented under a paragraph", "The work:\n    <promise>DONE</promise>"],
    ["in the first person, now", "Everything holds, so I declare <promise>DONE</promise>"],
    ["after a sentence with a condition", "If you need more, let me know. <promise>DONE</promise>"],
    [
      "after an account of what was done",
      "After the fix all 12 tests pass. Finished: <promise>DONE</promise>",
    ],
    ["before a period", "All criteria are met <promise>DONE</promise>."],
    ["as something that can be said now", "I can now say <promise>DONE</promise>"],
    [
      "after other words of what will be",
      "There will be no more turns, so I say: <promise>DONE</promise>",
    ],
    [
      "once more after it was spoken of",
      "I said I would not say <promise>DONE</promise> early. It holds. <promise>DONE</promise>",
    ],
  ];
  test.each(cases)("%s", (_, text) => {
    expect(findPromise(text, "DONE", [prompt]).promised).toBe(true);
  });
});

describe("the promise was not said", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["no tag", "DONE"],
    ["another token", "<promise>ALMOST</promise>"],
    ["a longer token", "<promise>NOT DONE</promise>"],
    ["no closing tag", "<promise>DONE"],
    ["spoken of as something to come", "Once all tests pass I'll say <promise>DONE</promise>."],
    ["something that will be said", "<promise>DONE</promise> will be my last words."],
    ["refused for now", "Two tests fail, so I will not say <promise>DONE</promise> yet."],
    ["something that cannot be said", "I can't output <promise>DONE</promise>, the build is red."],
    [
      "something to be done before it",
      "The docs are missing; I must write them before saying <promise>DONE</promise>",
    ],
    ["an instruction without its ticks", "When finished say <promise>DONE</promise>"],
    ["an instruction over two lines", "When finished say\n<promise>DONE</promise>"],
    ["an instruction to somebody", "Say <promise>DONE</promise> at the end."],
    ["what one was told to do", "My orders are to reply with <promise>DONE</promise>."],
    ["a condition", "If all tests pass: <promise>DONE</promise>"],
    ["a condition behind it", "<promise>DONE</promise> once the build is green."],
    ["the tag by its name", "The completion tag is <promise>DONE</promise>."],
    ["what it means", "<promise>DONE</promise> means that everything holds."],
    ["a rule in a list", "Rules:\n- end with <promise>DONE</promise>"],
    ["in a fenced block", "```\n<promise>DONE</promise>\n```"],
    ["in a block that is never closed", "```json\n<promise>DONE</promise>"],
    ["in a block of tildes", "~~~\n<promise>DONE</promise>\n~~~"],
    ["in a fenced block inside a longer fence", "````\n```\n<promise>DONE</promise>\n```\n````"],
    ["in inline code", "I am to say `<promise>DONE</promise>` at the end."],
    ["in inline code of two ticks", "Say ``<promise>DONE</promise>`` at the end."],
    ["in an indented block", "The tag is:\n\n    <promise>DONE</promise>\n\nNot yet."],
    ["in a quoted line", "> <promise>DONE</promise>"],
    ["in a nested quoted line", "> > say <promise>DONE</promise>"],
    ["in double quotes", 'You asked me to say "<promise>DONE</promise>" later.'],
    ["in curly quotes", "You asked for “<promise>DONE</promise>”."],
    ["in single quotes", "You asked for '<promise>DONE</promise>'."],
    ["in a pre element", "<pre><promise>DONE</promise></pre>"],
    [
      "an echo of the line that asks for it",
      "When everything holds, say <promise>DONE</promise> and nothing after it.",
    ],
    [
      "an echo inside a longer line",
      "The task: When everything holds, say <promise>DONE</promise> and nothing after it. Understood.",
    ],
    ["an echo of a bare tag with its neighbour", "Answer with:\n<promise>DONE</promise>"],
    ["an echo of the whole prompt", prompt],
    ["an echo with the blanks changed", prompt.replaceAll("\n", "\n\n  ")],
  ];
  test.each(cases)("%s", (_, text) => {
    expect(findPromise(text, "DONE", [prompt]).promised).toBe(false);
  });
});

test("a fence that the prompt has too is still a fence, and an echo that lost its ticks is still an echo", () => {
  const fenced =
    "Only when it is met, say `<promise>DONE</promise>` on its own line.\n```json\n{}\n```";
  expect(findPromise("So:\n```\n<promise>DONE</promise>\n```\n", "DONE", [fenced]).promised).toBe(
    false,
  );

  expect(
    findPromise("Only when it is met, say <promise>DONE</promise> on its own line.", "DONE", [
      fenced,
    ]).promised,
  ).toBe(false);

  expect(findPromise("```json\n{}\n```\n<promise>DONE</promise>", "DONE", [fenced]).promised).toBe(
    true,
  );
});

test("a token may hold blanks and signs that mean something to a pattern", () => {
  expect(
    findPromise("<promise>all  (really) done.</promise>", "ALL (REALLY) DONE.", []).promised,
  ).toBe(true);

  expect(
    findPromise("<promise>all really done!</promise>", "ALL (REALLY) DONE.", []).promised,
  ).toBe(false);
});

test("only what stands after the last promise can announce more", () => {
  expect(findPromise("Next I will write b. <promise>DONE</promise>", "DONE", [])).toEqual({
    promised: true,
    announcedMore: false,
  });

  expect(findPromise("<promise>DONE</promise> Next I will write b.", "DONE", [])).toEqual({
    promised: true,
    announcedMore: true,
  });

  expect(
    findPromise('<promise>DONE</promise>\n```json\n{ "remaining": ["TODO"] }\n```', "DONE", [])
      .announcedMore,
  ).toBe(false);
});

describe("more work is announced", () => {
  const cases = [
    "Next I will add the tests.",
    "Next, I'll update the docs",
    "I’ll continue with the second criterion.",
    "I will now fix the lint errors",
    "I am going to refactor this in the next turn.",
    "I'm going to write b next",
    "We still need to handle errors.",
    "I still need to write the migration",
    "The docs still have to be updated.",
    "Two tests are still failing.",
    "Remaining: update README",
    "Remaining work: the parser.",
    "The remaining steps are b and c.",
    "What remains is the documentation.",
    "Three tasks remain.",
    "It remains to be tested on Windows.",
    "TODO: error handling",
    "There are TODOs in a.ts",
    "There is more work in the parser.",
    "There is a lot left to do.",
    "Left: the parser.",
    "Next steps: write the tests",
    "The next step is to add tests.",
    "Next: tests.",
    "Let me now add the tests.",
    "Let's continue with the parser.",
    "Moving on to the second criterion.",
    "The retry is not yet implemented.",
    "I haven't yet run the tests.",
    "Error handling is not implemented.",
    "The docs need to be updated.",
    "The parser needs more work.",
    "Error handling will be added later.",
    "Everything is done except the docs.",
    "Nothing remains apart from the tests.",
    "All tests pass, but I will refactor it next.",
    "The migration is incomplete.",
    "This part is WIP.",
    "**Next steps:**\n- write tests",
    "Follow-up needed: b",
    "I plan to clean it up afterwards.",
  ];
  test.each(cases)("%s", (text) => {
    expect(announcesMore(text)).toBe(true);
  });
});

describe("nothing more is announced", () => {
  const cases = [
    "",
    "\n\n",
    "Nothing remains.",
    "Nothing remains to be done.",
    "After that you will still have to restart the server.",
    "There is nothing left to do.",
    "No remaining work.",
    "No further steps are needed.",
    "No more work is needed.",
    "No TODOs left.",
    "There are no remaining tasks.",
    "There are no TODOs in the code.",
    "Remaining: none.",
    "Remaining work: none",
    "Next steps: none",
    "TODO: nothing",
    "0 tasks remaining",
    "All remaining tests pass now.",
    "I fixed the remaining issues.",
    "I removed the TODO from a.ts.",
    "The API remains unchanged.",
    "Nothing else needs to be done.",
    "All done, thank you!",
    "All tests pass and the build is green.",
    "You can now run npm start.",
    "Next, you can deploy it.",
    "Let me know if you want anything changed.",
    "If you need anything else, I will help.",
    "I will stop here.",
    "I'll not change anything further.",
    "The todo list app works as asked.",
    "There isn't anything left.",
    "No follow-up needed.",
    "The work is complete.",
    "I added the tests and updated the docs.",
    "Every file was written; every check passes.",
    "The next button now works.",
    "Without any remaining failures, the suite is green.",
  ];
  test.each(cases)("%s", (text) => {
    expect(announcesMore(text)).toBe(false);
  });
});

test("a tick left alone in one paragraph does not swallow the promise in another", () => {
  expect(
    findPromise("It's a ` tick.\n\n<promise>DONE</promise>\n\nAnother ` tick.", "DONE", [])
      .promised,
  ).toBe(true);
});
