import type { Attachment } from '@suzumio/protocol/artifacts';
import { oneLine } from './body.js';

/**
 * The lines of a message's attachments. They lack the prefix of bodies, so no body can forge one; the name, which its
 * author chose, comes last, so that it cannot be mistaken for anything else.
 */
export function renderAttachments(attachments: readonly Attachment[]): string[] {
  return attachments.map(({ id, name, kind, files, sizeBytes, redacted }) => {
    const what = kind === 'directory' ? `directory of ${String(files)} file${files === 1 ? '' : 's'}, ` : '';
    return `[attached ${id}, ${redacted ? 'redacted, ' : ''}${what}${String(sizeBytes)} bytes: ${oneLine(name)}]`;
  });
}

/** The size of these lines in a prompt, their line feeds included. */
export function renderedAttachmentsBytes(attachments: readonly Attachment[]): number {
  return renderAttachments(attachments).reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
}
