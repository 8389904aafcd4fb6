import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { Component, type ReactNode } from 'react';

/** From here on a text is shown as it is: parsing it would keep the page busy. */
const mostChars = 20_000;

/**
 * A text that an agent or a person wrote. No markup of HTML is read from it, and it loads nothing: pictures are links,
 * and links leave this page alone.
 */
export function Markdown({ text }: { text: string }) {
  const plain = (
    <p className="plain">
      {visible(text.slice(0, mostChars))}
      {text.length > mostChars ? ' …' : ''}
    </p>
  );
  if (text.length > mostChars) return plain;
  return (
    <Unbroken instead={plain} key={text}>
      <div className="markdown" dir="auto">
        <ReactMarkdown remarkPlugins={[remarkGfm]} components={components} urlTransform={safeAddress}>
          {visible(text)}
        </ReactMarkdown>
      </div>
    </Unbroken>
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

/** Characters that are not seen, or that turn the order of others, as what they are. */
export function visible(text: string): string {
  return text.replaceAll(
    /(?![\t\n\r])[\p{Cc}\p{Zl}\p{Zp}]|(?!\p{Emoji_Component})\p{Cf}/gu,
    (character) => `‹${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`,
  );
}

/** A text that breaks its own rendering is shown as it is. */
class Unbroken extends Component<{ instead: ReactNode; children: ReactNode }, { broken: boolean }> {
  override state = { broken: false };
  static getDerivedStateFromError() {
    return { broken: true };
  }
  override render() {
    return this.state.broken ? this.props.instead : this.props.children;
  }
}
