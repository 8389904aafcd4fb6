import type { PDFDocumentProxy, PDFPageProxy, RenderTask } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { useEffect, useRef, useState } from 'react';
import { visible } from '../visible.js';
import { NotShown } from '../not-shown.js';
import { count } from '../numbers.js';
import { TookTooLong, within } from '../within.js';
import { openPdf } from './open-pdf.js';

/** How many pages are drawn at once. */
const mostPages = 4;
/** How many points a drawn page has. */
const mostPoints = 6_000_000;
const mostPointsHigh = 6_000;
const mostTextChars = 20_000;
const openMs = 20_000;
const drawMs = 15_000;

/**
 * A PDF, some pages at a time. One that cannot be shown says so, beside its download.
 *
 * @param download where the API has it
 */
export default function Pdf({ content, download }: { content: Uint8Array; download: string }) {
  const [pdf, setPdf] = useState<PDFDocumentProxy>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let isOver = false;
    const opened = openPdf(content);
    within(openMs, opened.document).then(
      (document) => isOver || setPdf(document),
      (error: unknown) => {
        opened.close();
        if (!isOver) setProblem(problemOf(error));
      },
    );
    return () => {
      isOver = true;
      opened.close();
    };
  }, [content]);
  if (problem !== undefined) return <NotShown why={problem} download={download} />;
  return pdf === undefined ? <p className="empty-line">It is being opened.</p> : <Pages pdf={pdf} />;
}

function problemOf(error: unknown): string {
  if (error instanceof TookTooLong) return 'This PDF cannot be shown: it takes too long to be read.';
  if (error instanceof Error && error.name === 'PasswordException') {
    return 'This PDF cannot be shown here: it is protected by a password.';
  }
  return 'This PDF cannot be shown: it is broken, or no PDF at all.';
}

function Pages({ pdf }: { pdf: PDFDocumentProxy }) {
  const [first, setFirst] = useState(1);
  const last = Math.min(first + mostPages - 1, pdf.numPages);
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return (
    <div className="pdf">
      {pdf.numPages > mostPages ? <Pager first={first} last={last} of={pdf.numPages} go={setFirst} /> : null}
      {numbers.map((number) => (
        <Page key={number} pdf={pdf} number={number} />
      ))}
    </div>
  );
}

function Pager({ first, last, of, go }: { first: number; last: number; of: number; go: (page: number) => void }) {
  const isPage = (page: number) => Number.isInteger(page) && page >= 1 && page <= of;
  return (
    <nav className="pdf-pager" aria-label="Pages">
      <button
        type="button"
        className="button"
        disabled={first === 1}
        onClick={() => go(Math.max(1, first - mostPages))}
      >
        Earlier
      </button>
      <button type="button" className="button" disabled={last === of} onClick={() => go(last + 1)}>
        Later
      </button>
      <span>
        Pages {count(first)} to {count(last)} of {count(of)}
      </span>
      <label className="field">
        From page{' '}
        <input
          key={first}
          className="input"
          type="number"
          min={1}
          max={of}
          defaultValue={first}
          onChange={({ target }) => {
            if (isPage(target.valueAsNumber)) go(target.valueAsNumber);
          }}
        />
      </label>
    </nav>
  );
}

function Page({ pdf, number }: { pdf: PDFDocumentProxy; number: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const over = new AbortController();
    const isOver = () => over.signal.aborted;
    let task: RenderTask | undefined;
    const draw = async () => {
      const page = await pdf.getPage(number);
      if (isOver() || !canvas.current) return;
      task = drawingOf(page, canvas.current);
      await task.promise;
      const read = await textOf(page);
      if (!isOver()) setText(read);
    };
    within(drawMs, draw()).catch((error: unknown) => {
      task?.cancel();
      if (isOver()) return;
      setProblem(
        error instanceof TookTooLong
          ? 'This page takes too long to be drawn.'
          : 'This page is broken and cannot be drawn.',
      );
    });
    return () => {
      over.abort();
      task?.cancel();
    };
  }, [pdf, number]);
  return (
    <figure className="pdf-page">
      {problem === undefined ? <canvas ref={canvas} aria-hidden /> : <p className="empty-line">{problem}</p>}
      <div className="visually-hidden">{visible(text)}</div>
      <figcaption className="quiet">Page {count(number)}</figcaption>
    </figure>
  );
}

/** Draws a page as wide as there is room, with so many points at the most: a page says itself how large it is. */
function drawingOf(page: PDFPageProxy, canvas: HTMLCanvasElement): RenderTask {
  const { width, height } = page.getViewport({ scale: 1 });
  const room = (canvas.parentElement?.clientWidth ?? 800) * Math.min(window.devicePixelRatio, 2);
  const scale = Math.min(room / width, mostPointsHigh / height, Math.sqrt(mostPoints / (width * height)));
  const viewport = page.getViewport({ scale });
  canvas.width = Math.max(1, Math.floor(viewport.width));
  canvas.height = Math.max(1, Math.floor(viewport.height));
  return page.render({ canvas, viewport });
}

/** The words of a page, for those who do not see it. */
async function textOf(page: PDFPageProxy): Promise<string> {
  const { items } = await page.getTextContent();
  let text = '';
  for (const item of items) {
    if (!('str' in item)) continue;
    text += item.hasEOL ? `${item.str}\n` : item.str;
    if (text.length > mostTextChars) return text.slice(0, mostTextChars);
  }
  return text;
}
