import type { ReactNode } from 'react';
import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';

/** Markdown as it looks; without HTML, pictures, or links that open here. */
export default function RichText({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={[remarkGfm]} components={components} urlTransform={safeAddress}>
      {text}
    </ReactMarkdown>
  );
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
