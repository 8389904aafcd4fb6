import type { ReactNode } from 'react';
import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';

/** Markdown as it looks; without HTML, pictures, or links that open here. */
export default function RichText({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={[remarkGfm, asItIs]} components={components} urlTransform={safeAddress}>
      {text}
    </ReactMarkdown>
  );
}

/** So many pieces of a text are drawn each by itself; one of more is shown as it is. */
const mostPieces = 1_500;

interface Piece {
  type: string;
  value?: string;
  children?: Piece[];
  data?: { hProperties: { className: string } };
}

function asItIs() {
  return (tree: Piece, { value }: { value: unknown }) => {
    const pieces = [tree];
    for (let at = 0; at < pieces.length && at <= mostPieces; at += 1) pieces.push(...(pieces[at]?.children ?? []));
    if (pieces.length <= mostPieces) return;
    const text: Piece = { type: 'text', value: String(value) };
    tree.children = [{ type: 'paragraph', children: [text], data: { hProperties: { className: 'plain' } } }];
  };
}

const components = {
  a: ({ href, children }: { href?: string | undefined; children?: ReactNode }) =>
    href === undefined || href === '' ? (
      <span>{children}</span>
    ) : (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ),
  img: ({ alt, src }: { alt?: string | undefined; src?: unknown }) => (
    <span className="quiet">
      [{alt === undefined || alt === '' ? 'picture' : alt}
      {typeof src === 'string' ? `: ${src.slice(0, 200)}` : ''}]
    </span>
  ),
};

function safeAddress(address: string): string {
  return /^(https?:|mailto:)/i.test(address) ? address : '';
}
