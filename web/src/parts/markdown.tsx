import { Component, lazy, type ReactNode, Suspense } from 'react';
import { Cut } from './cut.js';
import { visible } from './visible.js';

const load = () => import('./rich-text.js');
const RichText = lazy(load);

/** Loads what draws markdown before it is needed. */
export function loadMarkdown(): void {
  load().catch(() => undefined);
}

/** From here on a text is shown as it is: parsing it would keep the page busy, for seconds where it is made to. */
const most = { chars: 20_000, delimiters: 1_500 };
/** Quotes and lists in each other, deeper than anybody writes. */
const nested = /^[\t ]*(?:(?:>|(?:[-+*]|\d{1,9}[.)])[\t ])[\t ]*){20}/m;

function isCostly(text: string): boolean {
  if (text.length > most.chars || nested.test(text)) return true;
  return (text.match(/[*_~[\]]/g)?.length ?? 0) > most.delimiters;
}

/**
 * A text that an agent or a person wrote. No markup of HTML is read from it, and it loads nothing: pictures are links,
 * and links leave this page alone. Until what draws it is there, and where it is not to be had, it is plain.
 */
export function Markdown({ text }: { text: string }) {
  if (isCostly(text)) return <Cut text={text} isProse />;
  const plain = <p className="plain">{visible(text)}</p>;
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
