// Servers without a parser for a model's thoughts leave them in the text of its answers, between marks, or before one: their
// templates may have written the first mark. Each rule takes time in proportion to the text.

/** What an answer's text says, and what its model thought before that. */
export interface VisibleText {
  thoughts: string;
  text: string;
}

const word =
  '(?:think(?:ing)?(?:[_-]process)?|thoughts?(?:[_-]process)?|reason(?:ing)?|inner[_-](?:thoughts?|monologue)|scratchpad|antthinking)';
const opening = `<(?:[\\w-]{1,20}:)?${word}(?:\\s[^<>\\n]{0,200})?>|\\[${word}\\]|<[|｜]\\s?(?:begin[_▁]of[_▁]|start[_▁])?${word}\\s?[|｜]>|◁${word}▷|<\\|channel>\\s?thought\\b|<unused94>(?:thought\\b)?`;
const closing = `<\\/\\s?(?:[\\w-]{1,20}:)?${word}\\s?>|\\[\\/${word}\\]|<[|｜]\\s?(?:end[_▁]of[_▁]|end[_▁]|\\/)${word}\\s?[|｜]>|◁\\/${word}▷|<channel\\|>|<unused95>`;
const fence = '(?:^|(?<=\\n)) {0,3}(?:```|~~~)';

const openingHere = new RegExp(opening, 'iy');
const nextClosing = new RegExp(closing, 'gi');
const nextMark = new RegExp(`(${fence})|(${opening})|${closing}`, 'gi');
/** What may come before an answer, and its server should have kept to itself. */
const beginningHere = /<\|im_start\|>(?:assistant\b)?|<[|｜]assistant[|｜]>|<\|start\|>(?=<\|channel\|>)/iy;
const nextWord = /[^\s\uFEFF\u200B]/g;
/** What may come after it. */
const endMarks = [
  ...['<|im_end|>', '<|eot_id|>', '<|eom_id|>', '<|endoftext|>', '<|return|>', '<|end|>', '<|end_of_text|>'],
  ...['</s>', '<｜end▁of▁sentence｜>', '<end_of_turn>', '<turn|>', '<eos>', '\u200B', '\uFEFF'],
];

/**
 * Takes a model's thoughts out of its text: blocks at its beginning, also one that is never closed, or all that comes before a
 * mark that closes what nothing has opened. Marks within the text, in code, or in quotes are part of it.
 */
export function visibleText(written: string): VisibleText {
  const thoughts: string[] = [];
  const take = (thought: string) => thought.trim() !== '' && thoughts.push(thought.trim());
  const result = (text: string) => ({ thoughts: thoughts.join('\n\n'), text: withoutEnd(text) });
  const begin = afterBeginning(written, 0);
  let from = begin;
  for (let first = matchAt(openingHere, written, from); first; first = matchAt(openingHere, written, from)) {
    const start = from + first.length;
    const end = nextMatch(nextClosing, written, start);
    take(written.slice(start, end?.at));
    if (!end) return result('');
    from = afterBeginning(written, end.at + end.mark.length);
  }
  const lone = loneClosing(written, from);
  if (lone) {
    take(written.slice(from, lone.at));
    from = afterBeginning(written, lone.at + lone.mark.length);
  }
  const channels = inChannels(written, from);
  channels?.thoughts.forEach(take);
  return result(channels?.text ?? (from === begin ? written : written.slice(from)));
}

/** The last mark that closes what nothing has opened. */
function loneClosing(text: string, from: number): { at: number; mark: string } | undefined {
  nextMark.lastIndex = from;
  let found: { at: number; mark: string } | undefined;
  let open = 0;
  let inCode = false;
  for (let match = nextMark.exec(text); match; match = nextMark.exec(text)) {
    const [mark, isFence, isOpening] = match;
    if (isFence !== undefined) inCode = !inCode;
    else if (inCode || isOther(mark) || isMentioned(text, match.index, mark)) continue;
    else if (isOpening !== undefined) open += 1;
    else if (open > 0) open -= 1;
    else if (endsThought(text, match.index)) found = { at: match.index, mark };
  }
  return found;
}

/** Brackets are marks in capitals alone. */
const isOther = (mark: string) => mark.startsWith('[') && mark !== mark.toUpperCase();

const quotes = '`"\'“‘«(';
/** How much of a line is read before a mark. */
const maxLineChars = 200;

/** Whether a mark is in quotes or in a code span. */
function isMentioned(text: string, at: number, mark: string): boolean {
  const [previous, next] = [text[at - 1] ?? '', text[at + mark.length] ?? ''];
  if (previous !== '' && next !== '' && quotes.includes(previous) && '`"\'”’»)'.includes(next)) return true;
  const line = text.slice(Math.max(0, at - maxLineChars), at);
  return (line.slice(line.lastIndexOf('\n') + 1).split('`').length - 1) % 2 === 1;
}

/** Whether what is before a mark may be a thought's end: a sentence's, a line's, or anything without a space between. */
function endsThought(text: string, at: number): boolean {
  const previous = text.slice(Math.max(0, at - maxLineChars), at);
  const end = previous.trimEnd();
  if (end === '' || end === previous) return !'(`'.includes(end.at(-1) ?? ' ');
  return previous.slice(end.length).includes('\n') || /[.!?…。！？)\]}"'”’*>]$/.test(end);
}

/** Texts of the channels of gpt-oss, whose server does not read them. Calls stay, with what names them. */
function inChannels(text: string, from: number): { thoughts: string[]; text: string } | undefined {
  if (/^<\|(?:channel|start)\|>/.test(text.slice(from, from + 12))) return partsOf(text.slice(from));
  // The same where the server has dropped the marks, and left their words.
  if (!/^analysis[A-Z][a-z'’]/.test(text.slice(from, from + 12))) return undefined;
  const end = ['assistantfinal', 'assistantcommentary'].map((one) => text.lastIndexOf(one)).filter((at) => at >= 0);
  const at = end.length === 0 ? text.length : Math.max(...end);
  const rest = text.slice(at + 'assistant'.length);
  return {
    thoughts: [text.slice(from + 'analysis'.length, at)],
    text: rest.startsWith('final') ? rest.slice('final'.length).trimStart() : rest,
  };
}

/** The longest words before a text of a channel. */
const maxHeaderChars = 300;

function partsOf(text: string): { thoughts: string[]; text: string } {
  const marks = /<\|(start|channel|message|end|call|return|constrain)\|>/g;
  const thoughts: string[] = [];
  const shown: string[] = [];
  let header = '';
  let isBody = false;
  let at = 0;
  const keep = (piece: string) => {
    if (!isBody) header = `${header} ${piece.trim()}`.slice(0, maxHeaderChars);
    else if (/\bto=/.test(header)) shown.push(`<|channel|>${header.trim()}<|message|>${piece}`);
    else if (/\banalysis\b/.test(header)) thoughts.push(piece);
    else shown.push(piece.trim());
  };
  for (let match = marks.exec(text); match; match = marks.exec(text)) {
    keep(text.slice(at, match.index));
    at = marks.lastIndex;
    const [, mark] = match;
    if (mark === 'message') isBody = true;
    else if (mark !== 'constrain') {
      if (isBody || mark === 'start') header = '';
      isBody = mark === 'end' || mark === 'return' || mark === 'call';
    }
  }
  keep(text.slice(at));
  const cut = !isBody && /\bto=/.test(header) ? [`<|channel|>${header.trim()}`] : [];
  return { thoughts, text: [...shown.filter((piece) => piece !== ''), ...cut].join('\n') };
}

function withoutEnd(text: string): string {
  let rest = text;
  for (;;) {
    const short = rest.trimEnd();
    const mark = endMarks.find((one) => short.endsWith(one));
    if (mark === undefined) return rest;
    rest = short.slice(0, -mark.length);
  }
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  const mark = pattern.exec(text)?.[0];
  return mark === undefined || isOther(mark) ? undefined : mark;
}

function nextMatch(pattern: RegExp, text: string, at: number): { at: number; mark: string } | undefined {
  pattern.lastIndex = at;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    if (!isOther(match[0])) return { at: match.index, mark: match[0] };
  }
  return undefined;
}

/** Where an answer's first word is. */
function afterBeginning(text: string, from: number): number {
  for (let at = from; ;) {
    nextWord.lastIndex = at;
    at = nextWord.exec(text)?.index ?? text.length;
    const mark = matchAt(beginningHere, text, at);
    if (mark === undefined) return at;
    at += mark.length;
  }
}
