import { useEffect, useMemo } from 'react';
import { Markdown, visible } from './markdown.js';
import { bytes } from './numbers.js';

/** How much of a file is read to be shown. */
const mostShownBytes = 1024 * 1024;
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
}

/** As much of a file as is shown. */
export async function beginningOf(content: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of content) {
    parts.push(part);
    size += part.byteLength;
    if (size >= mostShownBytes) break;
  }
  const whole = await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer();
  return new Uint8Array(whole).subarray(0, mostShownBytes);
}

/** A file as what it is: a picture, a table, Markdown, or text with its lines numbered. */
export function Preview({ file }: { file: Shown }) {
  const type = file.name.split('.').at(-1)?.toLowerCase() ?? '';
  const picture = pictures[type];
  const isWhole = file.content.byteLength === file.sizeBytes;
  if (picture !== undefined && isWhole) return <Picture file={file} type={picture} />;
  const text = textOf(file.content);
  if (text === undefined) return <p className="empty-line">It is no text: download it to look at it.</p>;
  return (
    <>
      {isWhole ? null : (
        <p className="preview-note">
          The first {bytes(file.content.byteLength)} of {bytes(file.sizeBytes)}.
        </p>
      )}
      {type === 'md' ? (
        <div className="report">
          <Markdown text={text} />
        </div>
      ) : type === 'csv' || type === 'tsv' ? (
        <Csv text={text} separator={type === 'csv' ? ',' : '\t'} />
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

function Picture({ file, type }: { file: Shown; type: string }) {
  const address = useMemo(() => URL.createObjectURL(new Blob([file.content], { type })), [file, type]);
  useEffect(() => () => URL.revokeObjectURL(address), [address]);
  return <img className="preview-picture" src={address} alt={visible(file.name)} />;
}

function Lines({ text }: { text: string }) {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return (
    <div className="diff">
      {lines.slice(0, mostLines).map((line, index) => (
        <div key={index} className="diff-row">
          <span className="diff-number">{index + 1}</span>
          <code className="diff-text">{visible(line.slice(0, mostLineChars))}</code>
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
  const [head = [], ...rows] = useMemo(() => rowsOfCsv(text, separator, mostCsvRows + 1), [text, separator]);
  return (
    <div className="table-scroll">
      <table className="table table-values">
        <thead>
          <tr>
            {head.slice(0, mostCells).map((cell, index) => (
              <th key={index} scope="col">
                <bdi>{visible(cell.slice(0, 200))}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.slice(0, mostCells).map((cell, column) => (
                <td key={column} className={/^-?[\d.,]+$/.test(cell) ? 'number' : undefined}>
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
