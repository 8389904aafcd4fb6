import { visible } from '../parts/visible.js';

/** As much of an answer is read and shown. */
const maxBytes = 64 * 1024;

/** As long is a stream followed, which has no end of its own. */
const maxStreamMs = 5_000;

/** An answer's status and type. */
export function statusOf(answer: Response): string {
  return `${answer.status} ${answer.statusText} ${answer.headers.get('content-type') ?? ''}`.trim();
}

/** The body of an answer as text: as much of it as is bounded. */
export async function shown(answer: Response, control: AbortController): Promise<HTMLElement[]> {
  const type = answer.headers.get('content-type') ?? '';
  if (!/^(text\/|application\/(problem\+)?json|image\/svg)/.test(type)) {
    control.abort();
    const size = answer.headers.get('content-length');
    return [line(`Not shown: it is a file${size === null ? '' : ` of ${size} bytes`}.`)];
  }
  const { text, cut } = await bounded(answer, type.startsWith('text/event-stream'));
  const block = document.createElement('pre');
  block.tabIndex = 0;
  block.textContent = visible(indented(text, type));
  return [block, ...(cut === undefined ? [] : [line(cut)])];
}

async function bounded(answer: Response, isStream: boolean): Promise<{ text: string; cut?: string }> {
  const reader = answer.body?.getReader();
  if (reader === undefined) return { text: '' };
  const decoder = new TextDecoder();
  let [text, bytes, isLate] = ['', 0, false];
  const timer = isStream ? setTimeout(() => endOf(reader, () => (isLate = true)), maxStreamMs) : undefined;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { text, ...(isLate ? { cut: `Followed for ${maxStreamMs / 1_000} seconds.` } : {}) };
      const rest = value.subarray(0, maxBytes - bytes);
      text += decoder.decode(rest, { stream: true });
      bytes += rest.length;
      if (bytes >= maxBytes) return { text, cut: `Only the first ${maxBytes / 1_024} KiB are shown.` };
    }
  } finally {
    clearTimeout(timer);
    endOf(reader, () => undefined);
  }
}

function endOf(reader: ReadableStreamDefaultReader, mark: () => void): void {
  mark();
  reader.cancel().catch(() => undefined);
}

function indented(text: string, type: string): string {
  if (!/^application\/(problem\+)?json/.test(type)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // It was cut.
    return text;
  }
}

function line(words: string): HTMLElement {
  const element = document.createElement('p');
  element.className = 'quiet';
  element.textContent = words;
  return element;
}
