import { lazy, Suspense, useMemo } from 'react';
import { canBeFramed, Framed } from './framed.js';
import { Markdown } from './markdown.js';
import { visible } from './visible.js';
import { NotShown } from './not-shown.js';
import { bytes } from './numbers.js';
import { Picture } from './picture.js';
import { TwoWays } from './two-ways.js';
import { UnifiedDiff } from './unified-diff.js';

const Pdf = lazy(() => import('./pdf/pdf.js'));
const Notebook = lazy(() => import('./notebook/notebook.js'));

/** How much of a text is read to be shown. */
export const mostTextBytes = 1024 * 1024;
/** How much is read of what is shown whole or not at all. */
const mostWholeBytes = 32 * 1024 * 1024;
const mostLineChars = 4_000;
const mostLines = 5_000;
const mostCells = 40;
const mostCsvRows = 500;

const pictures: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

export interface Shown {
  name: string;
  sizeBytes: number;
  /** As much of it as is shown. */
  content: Uint8Array<ArrayBuffer>;
  /** Where the API has it to download. */
  download: string;
  /** Where the API sends it for a frame, if it may be such a document. */
  view?: string;
  /** Whether it is a patch as Git writes it. */
  isPatch?: boolean;
}

/** As much of a file as is shown of one of its name. */
export async function beginningOf(name: string, content: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const type = typeOf(name);
  const isWhole = type === 'pdf' || type === 'ipynb' || pictures[type] !== undefined;
  const most = isWhole ? mostWholeBytes : mostTextBytes;
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of content) {
    parts.push(part);
    size += part.byteLength;
    if (size >= most) break;
  }
  const beginning = await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer();
  return new Uint8Array(beginning).subarray(0, most);
}

function typeOf(name: string): string {
  return name.split('.').at(-1)?.toLowerCase() ?? '';
}

/** A file as what it is: a document, picture, PDF, notebook or table, Markdown, or text with its lines numbered. */
export function Preview({ file }: { file: Shown }) {
  if (file.view === undefined || !canBeFramed(file)) return <Read file={file} />;
  return <Framed name={file.name} address={file.view} source={<Read file={file} />} />;
}

function Read({ file }: { file: Shown }) {
  const type = typeOf(file.name);
  const picture = pictures[type];
  const isWhole = file.content.byteLength === file.sizeBytes;
  if (picture !== undefined && isWhole) {
    return <Picture content={file.content} type={picture} alt={visible(file.name)} />;
  }
  if (type === 'pdf' && isWhole) {
    return (
      <Suspense>
        <Pdf content={file.content} download={file.download} />
      </Suspense>
    );
  }
  if (!isWhole && (picture !== undefined || type === 'pdf')) {
    return (
      <NotShown why={`It has ${bytes(file.sizeBytes)}, which is too much to be shown here.`} download={file.download} />
    );
  }
  const text = textOf(file.content.subarray(0, isWhole && type === 'ipynb' ? mostWholeBytes : mostTextBytes));
  if (text === undefined) return <NotShown why="It is no text." download={file.download} />;
  if (type === 'ipynb' && isWhole) {
    return (
      <Suspense>
        <Notebook text={text} instead={<Lines text={text.slice(0, mostTextBytes)} />} />
      </Suspense>
    );
  }
  const shown = Math.min(file.content.byteLength, mostTextBytes);
  return (
    <>
      {shown === file.sizeBytes ? null : (
        <p className="preview-note">
          The first {bytes(shown)} of {bytes(file.sizeBytes)}.
        </p>
      )}
      {type === 'md' ? (
        <div className="report">
          <Markdown text={text} />
        </div>
      ) : type === 'csv' || type === 'tsv' ? (
        <Csv text={text} separator={type === 'csv' ? ',' : '\t'} />
      ) : file.isPatch === true && isWhole ? (
        <TwoWays
          called="Changes"
          shown={<UnifiedDiff text={text} none="It changes no files." />}
          source={<Lines text={text} />}
        />
      ) : (
        <Lines text={text} />
      )}
    </>
  );
}

/** The text of bytes; undefined where they are none. */
export function textOf(content: Uint8Array): string | undefined {
  if (content.subarray(0, 8_000).includes(0)) return undefined;
  return new TextDecoder().decode(content);
}

function Lines({ text }: { text: string }) {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return (
    <div className="diff">
      {lines.slice(0, mostLines).map((line, index) => (
        <div key={index} className="diff-row">
          <span className="diff-number">{index + 1}</span>
          <code translate="no" className="diff-text">
            {visible(line.slice(0, mostLineChars))}
          </code>
        </div>
      ))}
      {lines.length > mostLines ? <p className="empty-line">and {lines.length - mostLines} more lines</p> : null}
    </div>
  );
}

/** The rows of a table of values, with quotes as RFC 4180 has them. */
export function rowsOfCsv(text: string, separator: string, most: number): string[][] {
  const rows: string[][] = [];
  let [row, cell, quoted]: [string[], string, boolean] = [[], '', false];
  const endCell = () => {
    row.push(cell);
    cell = '';
  };
  for (let at = 0; at < text.length && rows.length < most; at += 1) {
    const character = text.charAt(at);
    if (quoted) {
      if (character !== '"') cell += character;
      else if (text.charAt(at + 1) === '"') {
        cell += '"';
        at += 1;
      } else quoted = false;
    } else if (character === '"' && cell === '') quoted = true;
    else if (character === separator) endCell();
    else if (character === '\n') {
      endCell();
      rows.push(row);
      row = [];
    } else if (character !== '\r') cell += character;
  }
  if (rows.length < most && (cell !== '' || row.length > 0)) {
    endCell();
    rows.push(row);
  }
  return rows;
}

function Csv({ text, separator }: { text: string; separator: string }) {
  const { head, rows, numbers } = useMemo(
    () => tableOf(rowsOfCsv(text, separator, mostCsvRows + 1)),
    [text, separator],
  );
  return (
    <div className="table-scroll">
      <table className="table table-values">
        <thead>
          <tr>
            {head.slice(0, mostCells).map((cell, index) => (
              <th key={index} scope="col" className={numbers[index] ? 'number' : undefined}>
                <bdi>{visible(cell.slice(0, 200))}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.slice(0, mostCells).map((cell, column) => (
                <td key={column} className={numbers[column] ? 'number' : undefined}>
                  <bdi>{visible(cell.slice(0, 200))}</bdi>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === mostCsvRows ? <p className="empty-line">The first {mostCsvRows} rows.</p> : null}
    </div>
  );
}

/** A table with its head, and which of its columns have numbers alone. */
function tableOf([head = [], ...rows]: readonly string[][]) {
  const numbers = head.map((_name, column) => {
    const values = rows.map((row) => row[column] ?? '').filter((cell) => cell !== '');
    return values.length > 0 && values.every((cell) => /^-?[\d.,]+(e[+-]?\d+)?$/i.test(cell));
  });
  return { head, rows, numbers };
}
