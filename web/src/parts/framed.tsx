import type { ReactNode } from 'react';
import { TwoWays } from './two-ways.js';
import { visible } from './visible.js';

/** Larger documents are shown as text: a frame draws all of one at once. */
const mostFramedBytes = 8 * 1024 * 1024;

/** Whether a file is a document that a frame can show. */
export function canBeFramed({ name, sizeBytes }: { name: string; sizeBytes: number }): boolean {
  return /\.(?:html?|svg)$/i.test(name) && sizeBytes <= mostFramedBytes;
}

/**
 * A document that an agent wrote, in a frame that lets it do nothing: the API sends it with the same sandbox, so that it
 * is in one wherever it is opened. Its source is beside it.
 *
 * @param address where the API sends it for a frame
 */
export function Framed({ name, address, source }: { name: string; address: string; source: ReactNode }) {
  return (
    <TwoWays
      called="As it looks"
      note={<span className="preview-note">In a sandbox: it runs no scripts, and loads nothing from elsewhere.</span>}
      source={source}
      shown={
        <iframe
          className="framed"
          title={`${visible(name)}, as it looks`}
          src={address}
          sandbox=""
          referrerPolicy="no-referrer"
        />
      }
    />
  );
}
