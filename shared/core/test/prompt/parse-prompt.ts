/** A frame as a reader finds it in a prompt. */
export interface ParsedFrame {
  id: string;
  sender: string;
  to: string;
  priority: string;
  /** Absent for plain mail to an agent or a channel, and for a reply. */
  kind: string | undefined;
  replyTo: string | undefined;
  threadId: string;
  at: string;
  body: string;
  leftOutBytes: number;
  attached: { id: string; files: number | undefined; sizeBytes: number; name: string }[];
}

/** A prompt as a reader finds it: what stands above the mail, and the mail. */
export interface ParsedPrompt {
  above: string[];
  announced: number;
  left: number;
  frames: ParsedFrame[];
  skills: ParsedSkill[];
}

/** A skill as a reader finds it. */
export interface ParsedSkill {
  name: string;
  text: string;
}

const heading = /^# Unread mail: (\d+)(?:, (\d+) more for your next turn)?$/;
const opening =
  /^\[(\S+) from (\S+) to (\S*), (P[0-3])(?:, (task|broadcast|event)|, in reply to (\S+))?, thread (\S+), (\S+)\]$/;
const attachedLine = /^\[attached (\S+), (?:directory of (\d+) files?, )?(\d+) bytes: (.*)\]$/;

/** Reads a prompt by its documented format alone. Whatever has no place in the format is an error. */
export function parsePrompt(prompt: string): ParsedPrompt {
  const lines = prompt.split('\n');
  if (lines.pop() !== '') throw new Error('the prompt does not end with a line feed');
  const at = lines.findLastIndex((line) => heading.test(line));
  const [, announced, left = '0'] = heading.exec(lines[at] ?? '') ?? [];
  const rest = lines.slice(at + 1);
  const frames: ParsedFrame[] = [];
  while (rest.length > 0) frames.push(takeFrame(rest));
  const above = lines.slice(0, at);
  return { above, announced: Number(announced), left: Number(left), frames, skills: skillsIn(above) };
}

/** The skills that a prompt announces, read from the heading on; none where there is no such heading. */
function skillsIn(above: readonly string[]): ParsedSkill[] {
  const at = above.findLastIndex((line) => /^# Skills: \d+$/.test(line));
  if (at < 0) return [];
  const rest = above.slice(at + 1);
  return Array.from({ length: Number(above[at]?.slice('# Skills: '.length)) }, () => {
    const [, name = ''] = /^\[skill (\S+)\]$/.exec(take(rest)) ?? [];
    const text: string[] = [];
    while (rest[0]?.startsWith('> ')) text.push(take(rest).slice(2));
    if (name === '' || take(rest) !== `[end of skill ${name}]`) throw new Error(`not the end of the skill ${name}`);
    return { name, text: text.join('\n') };
  });
}

function takeFrame(lines: string[]): ParsedFrame {
  const [, id = '', sender = '', to = '', priority = '', kind, replyTo, threadId = '', at = ''] =
    opening.exec(take(lines)) ?? [];
  if (id === '') throw new Error('not the beginning of a frame');
  const body: string[] = [];
  while (lines[0]?.startsWith('| ')) body.push(take(lines).slice(2));
  let last = take(lines);
  const cut = /^\[cut (\S+): (\d+) bytes left out, messages\.read has the whole\]$/.exec(last);
  if (cut?.[1] === id) last = take(lines);
  const attached: ParsedFrame['attached'] = [];
  for (let found; (found = attachedLine.exec(last)); last = take(lines)) {
    const [, artifact = '', files, sizeBytes, name = ''] = found;
    attached.push({
      id: artifact,
      files: files === undefined ? undefined : Number(files),
      sizeBytes: Number(sizeBytes),
      name,
    });
  }
  if (last !== `[end ${id}]`) throw new Error(`not the end of ${id}: ${last}`);
  return {
    id,
    sender,
    to,
    priority,
    kind,
    replyTo,
    threadId,
    at,
    body: body.join('\n'),
    leftOutBytes: Number(cut?.[2] ?? 0),
    attached,
  };
}

function take(lines: string[]): string {
  const line = lines.shift();
  if (line === undefined) throw new Error('the prompt ends within a frame');
  return line;
}
