import { useEffect, useMemo } from 'react';

/** A picture of bytes that are at hand. */
export function Picture({ content, type, alt }: { content: Uint8Array<ArrayBuffer>; type: string; alt: string }) {
  const address = useMemo(() => URL.createObjectURL(new Blob([content], { type })), [content, type]);
  useEffect(() => () => URL.revokeObjectURL(address), [address]);
  return <img className="preview-picture" src={address} alt={alt} />;
}
