/** The longest entry that is parsed, in bytes: its name and target have a few thousand characters at most. */
const maxEntryBytes = 64 * 1024;

const [quote, comma, backslash, open, close] = new TextEncoder().encode('",\\{}');

/** Whether a manifest begins as those of a version do. */
export function isOfVersion(manifest: Uint8Array, version: number): boolean {
  return startsWith(manifest, headOf(version));
}

/**
 * The entries of a manifest, each as its JSON. Parsed as a whole, a long manifest would take many times its bytes of memory, and one
 * that is hostile would end the process.
 *
 * @throws SyntaxError where it is not of this version, or its entries are not one behind the other, without spaces; TypeError where
 *   it is not UTF-8
 */
export function* entriesIn(manifest: Uint8Array, version: number): Generator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  if (!isOfVersion(manifest, version)) throw new SyntaxError(`It does not begin as manifests of version ${version}.`);
  let at = headOf(version).length;
  for (let isFirst = true; isFirst ? manifest[at] === open : manifest[at] === comma; isFirst = false) {
    const start = isFirst ? at : at + 1;
    at = endOf(manifest, start);
    yield decoder.decode(manifest.subarray(start, at));
  }
  const rest = manifest.subarray(at);
  if (rest.length !== tail.length || !startsWith(rest, tail)) throw new SyntaxError('It does not end as manifests do.');
}

const tail = new TextEncoder().encode(']}');

function headOf(version: number): Uint8Array {
  return new TextEncoder().encode(`{"version":${version},"entries":[`);
}

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return start.every((byte, index) => byte === bytes[index]);
}

/** Where an entry ends, which has strings in it but no objects. */
function endOf(manifest: Uint8Array, start: number): number {
  const last = Math.min(manifest.length, start + maxEntryBytes);
  let isText = false;
  for (let at = start; at < last; at += 1) {
    const byte = manifest[at];
    if (byte === quote) isText = !isText;
    else if (isText && byte === backslash) at += 1;
    else if (!isText && byte === close) return at + 1;
  }
  throw new SyntaxError('An entry has no end.');
}
