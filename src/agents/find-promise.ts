// find-promise: finds out whether an agent made the completion promise (`<promise>TOKEN</promise>`
// in its text), and whether it announced more work right after it. Pure: text in, facts out.
//
// A promise proves nothing. It is one of several things that must hold, and it is read strictly: an
// agent that merely talks about the promise has not made it.

import { extractOwnText } from "./own-text.ts";

export type PromiseFacts = { readonly promised: boolean; readonly announcedMore: boolean };

const textCharsMax = 64 * 1024;
const clauseCharsMax = 600;

/** `prompts`: every prompt of the turn; text that the agent repeats from there is not its own. */
export function findPromise(said: string, token: string, prompts: readonly string[]): PromiseFacts {
  const agentText = extractOwnText(said, prompts);
  const lastPromise = [...agentText.matchAll(createTagPattern(token))].findLast(
    ({ index, 0: tag }) => {
      const before = agentText.slice(Math.max(0, index - clauseCharsMax), index);
      const after = agentText.slice(index + tag.length, index + tag.length + clauseCharsMax);
      return (
        !isPostponed(before) && !isMention(readSentenceBefore(before), readSentenceAfter(after))
      );
    },
  );
  if (lastPromise === undefined) return { promised: false, announcedMore: false };

  return {
    promised: true,
    announcedMore: announcesMore(agentText.slice(lastPromise.index + lastPromise[0].length)),
  };
}

/**
 * Whether the text just before the tag says that it comes later, not yet, or not at all: "I will
 * not say".
 */
const isPostponed = (before: string): boolean =>
  /\b(?:will|shall|would|could|(?:wo|would|could|ca|do|did|should|must)n't|cannot|not|never|going to|before|until|unless)\b(?![^.!?\n]{0,80}\bnow\b)[^.!?,;:\n]{0,40}\b(?:say|saying|output|emit|print|write|give|reply|answer|respond|send|signal|claim|declare)\b(?: with| by saying)?[\s:]{0,9}$/i.test(
    before.replaceAll("’", "'").replaceAll("'ll", " will"),
  );

/** The text of the same sentence around the tag; a single line break does not end a sentence. */
const readSentenceBefore = (text: string): string =>
  removeMarkup(text)
    .split(/[.!?](?=\s)|\n\s*\n|\n\s*[-*]\s/)
    .at(-1)
    ?.trim() ?? "";
const readSentenceAfter = (text: string): string =>
  (removeMarkup(text).split(/[.!?](?=\s|$)|\n/)[0] ?? "").trim();
const removeMarkup = (text: string): string => text.replaceAll("’", "'").replaceAll(/[*_#]+/g, "");

/** A word of saying or ending, as a pattern: `reply with only`. */
const sayingVerb =
  "(?:say|saying|says|said|output|emit|print|write|type|give|reply|answer|respond|return|send|signal|claim|declare|finish|end|conclude|close|add|include|use|using)(?: (?:with|by saying|only|just|exactly|it with|the (?:tag|token|word|words|phrase|marker)))*";

/**
 * Whether the sentence speaks about the tag instead of making the promise: it tells the reader to
 * say it, makes it conditional, or names it. In the first person, now and unconditionally, it is
 * meant.
 */
function isMention(before: string, after: string): boolean {
  if (
    /^(?:[-*\d.)\s]*)(?:when|whenever|once|if|as soon as|unless|until|only when|only if)\b/i.test(
      before,
    )
  ) {
    return true;
  }

  if (new RegExp(`\\b${sayingVerb}[\\s:,]*$`, "i").test(before)) {
    return !new RegExp(
      `\\bI(?: am|'m| can| may| do| hereby| now| therefore| thus| so)*(?: \\w+ly)? ${sayingVerb}[\\s:,]*$`,
      "i",
    ).test(before);
  }

  if (/\b(?:tag|token|marker|phrase|string|keyword)(?: is| was| being)?[\s:=]*$/i.test(before)) {
    return true;
  }

  return /^(?:is|means|will be|would be|would|should|must|when|once|if|only when|only if|as soon as|after all|at the end|tags?\b|tokens?\b)\b/i.test(
    after,
  );
}

function createTagPattern(token: string): RegExp {
  const words = token
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));

  return new RegExp(`<promise>\\s*${words.join("\\s+")}\\s*</promise>`, "giu");
}

/**
 * Whether the text that follows a promise reports work the agent has still to do. Each clause is
 * judged on its own.
 */
export function announcesMore(text: string): boolean {
  const plain = text
    .slice(0, textCharsMax)
    .replaceAll("’", "'")
    .replaceAll(/[*_#]+/g, "");

  if (
    /\b(?:nothing|none|all|everything)\b[^.!?\n]{0,60}\b(?:except|apart from|other than|besides)\b/i.test(
      plain,
    )
  ) {
    return true;
  }

  return plain
    .split(/[.!?]+(?=\s|$)|[;\n]|\b(?:but|however|although|though)\b/i)
    .some((clause) => isAnnouncement(clause.trim().slice(0, clauseCharsMax)));
}

function isAnnouncement(clause: string): boolean {
  if (clause === "" || invitations.some((pattern) => pattern.test(clause))) return false;
  if (denials.some((pattern) => pattern.test(clause))) return false;
  return announcements.some((pattern) => pattern.test(clause));
}

// Parts of the patterns below.
const intention =
  "(?:'ll| will| shall| am going to|'m going to| are going to|'re going to| plan to| intend to| want to| need to| have to| must)";
const workItem =
  "(?:work|steps?|tasks?|items?|parts?|pieces?|criteria|criterion|issues?|tests?|failures?|things?|todos?|phases?|files?|changes?|features?)";
const completionWord =
  "(?:done|finished|complete|completed|implemented|added|fixed|handled|addressed|written|updated|migrated|covered|tested|supported|working|ready)";

/**
 * Clauses that offer help or advise the reader: "let me know if …". That isn't work the agent still
 * has to do.
 */
const invitations: readonly RegExp[] = [
  /\blet me know\b|\b(?:up)?on request\b|\bfeel free\b|\bhappy to\b|\bglad to\b|\bif (?:you|needed|necessary|wanted|desired|requested|required|asked)\b|\bshould you\b|\bwhenever you\b/i,
  /\byou (?:can|could|may|might|should|will|would|want|need)\b(?!.*\bI\b)/i,
  new RegExp(
    `\\bI${intention} (?:not\\b|never\\b|no longer|stop|wait|leave|be (?:here|available|happy|glad|done)|end\\b|await)`,
    "i",
  ),
];

/** Clauses that deny open work: "nothing remains", "TODOs: none". */
const denials: readonly RegExp[] = [
  /\b(?:nothing|none|no one|nobody|neither|zero|0|without(?: any)?|not? (?:any|more|further|other|additional|remaining|outstanding|open|pending|next|known|todos?)|no)\b[^,]{0,60}\b(?:remain(?:s|ing)?|left|more|else|further|next steps?|todos?|to[- ]do|needs?|needed|outstanding|pending|missing|unfinished|incomplete|follow[- ]?ups?|steps?|work)\b/i,
  /\bno (?:todos?|remaining|outstanding|pending|open|further|more|next|follow[- ]?up)\b/i,
  /\b(?:remaining|todos?|to[- ]do|next steps?|left|outstanding|pending|next|more work|follow[- ]?ups?)\b[^:]{0,30}(?:\s+(?:is|are)|\s*[:=–-])\s*(?:none|nothing|0|zero|n\/a|no|empty|\[\s*\]|-|–|—)\s*$/i,
  /\b(?:all|every|fixed|finished|completed|implemented|resolved|removed|closed|cleared|handled|did|addressed|cleaned up|and) (?:of )?(?:the |its |those |these |that |my )?(?:remaining|outstanding|pending|todos?|left)\b/i,
  /\bremains? (?:unchanged|the same|green|intact|compatible|stable|as\b|untouched|valid|true|correct|available|in place|backwards?|passing|supported)/i,
  /\b(?:isn't|aren't|is not|are not|wasn't|were not|there's not|there isn't) (?:any|anything)\b/i,
];

/**
 * Clauses that announce work still to be done: "I will now fix …", "two tests still fail", "next
 * steps".
 */
const announcements: readonly RegExp[] = [
  new RegExp(`\\b(?:I|we)${intention} \\w+`, "i"),
  /\b(?:still|yet) (?:need|needs|have|has|must|to\b|remain|remains|missing|fail|fails|failing|broken|open|pending|outstanding|unfinished|incomplete|todo|want)/i,
  /\b(?:still|yet) to (?:be |do\b|come\b)/i,
  /\b(?:is|are|were|was) still \w+/i,
  new RegExp(`\\b(?:not|n't|never) (?:yet )?(?:been )?(?:fully )?${completionWord}\\b`, "i"),
  new RegExp(
    `\\b(?:haven't|hasn't|have not|has not|isn't|aren't|didn't|did not|not) yet\\b|\\byet to\\b`,
    "i",
  ),
  new RegExp(
    `\\b${workItem} (?:still )?remain(?:s|ing)?\\b|\\bremaining\\b\\s*${workItem}?\\s*(?:is|are|:|=|–|-|\\()`,
    "i",
  ),
  /\b(?:what|that|which|there|still|one|two|three|some|few|several) remains?\b|\bremains? to be\b|^\W*remaining\b/i,
  /\b(?:left|more|much|a lot|lots|work|things?|something) to (?:do|fix|implement|finish|write|add)\b|\bmore work\b|\b(?:is|are|work|steps?|tasks?) left\b|^\W*left\s*:/i,
  /\bTODOs?\b|\bFIXME\b|\bTBD\b|\bto[- ]do\s*:/,
  /\bnext steps?\b|\bnext up\b|\bup next\b|^\W*next\b\s*(?:[:,–-]|I\b|is\b|comes\b|(?:we|on)\b)|\bfollow[- ]?ups?\s*(?:is|are|:|work|needed|required|task)/i,
  /\b(?:needs?|have|has|ought) to be \w+(?:ed|n|ne)\b|\bneeds? (?:fixing|more|further|another|work|attention)\b/i,
  /\bwill (?:be (?:added|done|implemented|fixed|handled|completed|addressed|written|finished|migrated|tackled)|follow|come (?:next|later))\b/i,
  /\blet(?: me|'s| us) (?:now|also|next|first|then|continue|start|begin|move|fix|add|check|implement|finish|write|update|run|proceed|keep|turn)\b/i,
  /\b(?:moving on to|continuing (?:with|on|to)|proceeding (?:to|with)|now (?:starting|working|moving|onto|on to)|about to|going to|to be continued|starting on|working on (?:it|the next))\b/i,
  /\b(?:unfinished|incomplete|work in progress|WIP|half[- ]done|partially (?:done|complete|implemented))\b/i,
];
