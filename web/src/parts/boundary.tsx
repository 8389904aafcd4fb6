import { Component, type ReactNode } from 'react';
import { wordsOf } from '../api.js';

interface Props {
  /** Where the page is: elsewhere it is tried anew. */
  place: string;
  children: ReactNode;
}

/** Says what is wrong where a part of the page breaks, as on an answer of another version; the rest stays. */
export class Boundary extends Component<Props, { error: unknown; place: string }> {
  override state = { error: undefined as unknown, place: this.props.place };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  static getDerivedStateFromProps({ place }: Props, before: { place: string }) {
    return place === before.place ? null : { error: undefined, place };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <div className="empty" role="alert">
        <h1>This cannot be shown</h1>
        <p>The page came upon something that it does not know: perhaps the server is of another version by now.</p>
        <p className="quiet">
          <bdi>{wordsOf(error).slice(0, 500)}</bdi>
        </p>
        <button type="button" className="button" onClick={() => location.reload()}>
          Load anew
        </button>
      </div>
    );
  }
}
