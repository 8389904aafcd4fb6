/** What tabs tell each other of the one stream that they share. */
export type Told =
  | { kind: 'event'; project: string; type: string; agent: string | null; isMailToUser: boolean }
  /** What was read may be old: something may have happened that nobody has told. */
  | { kind: 'old' }
  /** What was read, of one project or of all, may never have been: a backup was restored. */
  | { kind: 'reset'; project?: string }
  | { kind: 'deleted'; project: string }
  | { kind: 'state'; live: boolean }
  | { kind: 'hello' };

/** How a tab sees the stream: as its leader, who reads it, or from what the leader tells. */
export interface Following {
  stop: () => void;
}

/**
 * Has one tab of this browser read the stream, and all of them hear what it tells: browsers open six connections to a
 * server, and every stream keeps one. The tab that holds the lock reads; when it goes, another one does, and everybody reads
 * anew what may have happened in between. Where there are no locks (HTTP off this machine), each tab reads for itself.
 *
 * @param read reads the stream until the signal ends it, and passes on what is told
 * @param hear what is told, here or in another tab
 * @param lead is called when this tab begins to read
 */
export function follow(
  name: string,
  read: (tell: (told: Told) => void, signal: AbortSignal) => Promise<void>,
  hear: (told: Told) => void,
  lead: () => void,
): Following {
  const end = new AbortController();
  const channel = new BroadcastChannel(name);
  let leads = false;
  let live = true;
  const tell = (told: Told) => {
    if (told.kind === 'state') live = told.live;
    hear(told);
    channel.postMessage(told);
  };
  channel.onmessage = ({ data }: MessageEvent<Told>) => {
    if (data.kind !== 'hello') hear(data);
    else if (leads) channel.postMessage({ kind: 'state', live } satisfies Told);
  };
  channel.postMessage({ kind: 'hello' } satisfies Told);
  const begin = async () => {
    if (end.signal.aborted) return;
    leads = true;
    lead();
    await read(tell, end.signal);
  };
  const leading = 'locks' in navigator ? navigator.locks.request(name, { signal: end.signal }, begin) : begin();
  // Aborted while it waits for the lock: another tab reads.
  leading.catch((error: unknown) => {
    if (!end.signal.aborted) throw error;
  });
  return {
    stop: () => {
      end.abort();
      channel.close();
    },
  };
}
