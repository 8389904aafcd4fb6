import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * The process that listens on a TCP port of this machine, as `name (process 123)`; undefined where the system does not
 * say, as of other people's processes.
 */
export function listenerOn(port: number): string | undefined {
  const sockets = new Set(
    ['tcp', 'tcp6'].flatMap((table) => listening(table, port)).map((inode) => `socket:[${inode}]`),
  );
  if (sockets.size === 0) return undefined;
  for (const pid of readable(() => readdirSync('/proc')).filter((name) => /^\d+$/.test(name))) {
    const descriptors = readable(() => readdirSync(`/proc/${pid}/fd`));
    if (descriptors.some((fd) => sockets.has(readable(() => [readlinkSync(`/proc/${pid}/fd/${fd}`)])[0] ?? ''))) {
      // The name of the process may be that of its main thread, as Node.js's is.
      const [program = ''] = readable(() => [readlinkSync(`/proc/${pid}/exe`)]);
      return `${program === '' ? 'a program' : basename(program)} (process ${pid})`;
    }
  }
  return undefined;
}

/** The inodes of sockets that listen on a port: state 0A in the kernel's own table. */
function listening(table: string, port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return readable(() => readFileSync(`/proc/net/${table}`, 'utf8').split('\n'))
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(`:${hex}`) && fields[3] === '0A')
    .map((fields) => fields[9] ?? '');
}

/** Nothing where there is nothing to read, or not for this person. */
function readable(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}
