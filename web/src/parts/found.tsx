import type { FoundItem } from '@suzumio/sdk/client';
import { visible } from './visible.js';

type Pieces = Extract<FoundItem, { kind: 'mail' }>['found'];

/** A place in a text where something was found. */
export function FoundText({ found }: { found: Pieces }) {
  return (
    <bdi>
      {found.map(({ text, matched }, at) =>
        matched ? <mark key={at}>{visible(text)}</mark> : <span key={at}>{visible(text)}</span>,
      )}
    </bdi>
  );
}
