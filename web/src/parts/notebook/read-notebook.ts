const mostCells = 300;
const mostOutputs = 30;
const mostPictures = 40;
const mostPictureChars = 8 * 1024 * 1024;
const mostTextChars = 20_000;

/** A picture that a cell has drawn. */
interface Drawn {
  kind: 'picture';
  type: 'image/png' | 'image/jpeg';
  content: Uint8Array<ArrayBuffer>;
}

export type Output = { kind: 'text' | 'error'; text: string } | Drawn;

export interface Cell {
  kind: 'markdown' | 'code' | 'raw';
  /** The how manieth run a code cell's outputs are of. */
  run: number | undefined;
  source: string;
  outputs: Output[];
  /** How many of its outputs are not among them. */
  left: number;
}

interface NotebookCells {
  cells: Cell[];
  /** How many cells are not among them. */
  left: number;
}

/** The cells of a Jupyter notebook of format 4; undefined where a text is none. */
export function readNotebook(text: string): NotebookCells | undefined {
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch {
    return undefined;
  }
  const cells = fieldsOf(whole)['cells'];
  if (!Array.isArray(cells)) return undefined;
  const pictures = { left: mostPictures };
  return {
    cells: cells.slice(0, mostCells).map((cell) => cellOf(fieldsOf(cell), pictures)),
    left: Math.max(0, cells.length - mostCells),
  };
}

function cellOf(cell: Fields, pictures: { left: number }): Cell {
  const { cell_type: type, execution_count: run, outputs } = cell;
  const all: unknown[] = Array.isArray(outputs) ? outputs : [];
  return {
    kind: type === 'markdown' || type === 'code' ? type : 'raw',
    run: typeof run === 'number' ? run : undefined,
    source: textOf(cell['source']),
    outputs: all.slice(0, mostOutputs).flatMap((output) => outputOf(fieldsOf(output), pictures)),
    left: Math.max(0, all.length - mostOutputs),
  };
}

function outputOf(output: Fields, pictures: { left: number }): Output[] {
  if (output['output_type'] === 'stream') {
    return [{ kind: output['name'] === 'stderr' ? 'error' : 'text', text: plain(textOf(output['text'])) }];
  }
  if (output['output_type'] === 'error') {
    const { ename, evalue, traceback } = output;
    const lines: unknown[] = Array.isArray(traceback) ? traceback : [];
    const said = textOf(lines.flatMap((line) => [line, '\n']));
    return [{ kind: 'error', text: plain(said === '' ? `${textOf(ename)}: ${textOf(evalue)}` : said) }];
  }
  const data = fieldsOf(output['data']);
  for (const type of ['image/png', 'image/jpeg'] as const) {
    const content = data[type] === undefined || pictures.left === 0 ? undefined : bytesOf(data[type]);
    if (content === undefined) continue;
    pictures.left -= 1;
    return [{ kind: 'picture', type, content }];
  }
  const text = plain(textOf(data['text/plain']));
  return text === '' ? [] : [{ kind: 'text', text }];
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** A text, which a notebook may have line by line, so far as it is shown. */
function textOf(value: unknown): string {
  const parts: unknown[] = Array.isArray(value) ? value : [value];
  let text = '';
  for (const part of parts) {
    if (typeof part === 'string') text += part;
    if (text.length > mostTextChars) return `${text.slice(0, mostTextChars)} …`;
  }
  return text;
}

/** A text without the codes by which a terminal colours it. */
function plain(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/\u001b\[[\d;]{0,40}m/g, '');
}

function bytesOf(value: unknown): Uint8Array<ArrayBuffer> | undefined {
  const parts: unknown[] = Array.isArray(value) ? value : [value];
  const text = parts.filter((part) => typeof part === 'string').join('');
  if (text === '' || text.length > mostPictureChars) return undefined;
  try {
    return Uint8Array.from(atob(text.replaceAll(/\s/g, '')), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
