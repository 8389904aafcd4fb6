import { Component, lazy, type ReactNode, Suspense } from 'react';
import { visible } from './visible.js';

const load = () => import('./rich-text.js');
const RichText = lazy(load);

/** Loads what draws markdown before it is needed. */
export function loadMarkdown(): void {
  load().catch(() => undefined);
}

/** From here on a text is shown as it is: parsing it would keep the page busy. */
const mostChars = 20_000;

/**
 * A text that an agent or a person wrote. No markup of HTML is read from it, and it loads nothing: pictures are links,
 * and links leave this page alone. Until what draws it is there, and where it is not to be had, it is plain.
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
      <Suspense fallback={plain}>
        <div className="markdown" dir="auto">
          <RichText text={visible(text)} />
        </div>
      </Suspense>
    </Unbroken>
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
