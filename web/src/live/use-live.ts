import { type CellNotice, followCell, followEvents } from '@suzumio/sdk/client';
import { useEffect, useState } from 'react';
import { api, isUnauthenticated, keys, publicPath, queries } from '../api.js';
import { useWho } from '../who.js';
import { follow, type Told } from './leader.js';
import { refresh } from './refresh.js';

/** Whether what is shown is kept up to date, and since when it is not. */
export type Live = { state: 'live' } | { state: 'lost'; since: number };

/**
 * Keeps everything that was read up to date: what events are about is read again.
 *
 * @returns whether it does, and whether this tab reads the events for the others of its browser
 */
export function useLive(): { live: Live; leads: boolean } {
  const { name: holder, project, session } = useWho();
  const id = session?.id ?? holder;
  const [live, setLive] = useState<Live>({ state: 'live' });
  const [leads, setLeads] = useState(false);
  useEffect(() => {
    const hear = (told: Told) => {
      if (told.kind === 'hello') return;
      if (told.kind !== 'state') {
        refresh(told);
        return;
      }
      setLive((before) => {
        if (told.live) return before.state === 'live' ? before : { state: 'live' };
        return before.state === 'lost' ? before : { state: 'lost', since: Date.now() };
      });
    };
    // Another one's session has another stream.
    const name = `suzumio${publicPath} ${id}`;
    const { stop } = follow(
      name,
      (tell, signal) => read(project, tell, signal),
      hear,
      () => setLeads(true),
    );
    return () => {
      stop();
      setLeads(false);
    };
  }, [id, project]);
  return { live, leads };
}

/** Reads the stream, and begins anew where its connection has gone with the network that the browser had. */
async function read(project: string | null, tell: (told: Told) => void, signal: AbortSignal): Promise<void> {
  let isLost = false;
  for (let isAgain = true; isAgain && !signal.aborted;) {
    const cut = new AbortController();
    const listening = new AbortController();
    // A server on this machine is there without a network, and a dead connection is silent for a minute.
    const look = () => {
      const options = { signal: AbortSignal.any([signal, AbortSignal.timeout(answersWithinMs)]) };
      api.getHealth(undefined, options).catch(() => cut.abort());
    };
    const back = () => {
      if (isLost) cut.abort();
    };
    addEventListener('offline', look, listening);
    addEventListener('online', back, listening);
    const note = (told: Told) => {
      if (told.kind === 'state') isLost = !told.live;
      tell(told);
    };
    await readOnce(project, note, AbortSignal.any([signal, cut.signal])).finally(() => listening.abort());
    isAgain = cut.signal.aborted;
    if (isAgain) note({ kind: 'state', live: false });
  }
}

const answersWithinMs = 5_000;

/** Reads the stream of all projects, or of the one that the session is for. */
async function readOnce(project: string | null, tell: (told: Told) => void, signal: AbortSignal): Promise<void> {
  const onOpen = () => {
    tell({ kind: 'state', live: true });
    // What was read before may have been read before something that no connection has told.
    tell({ kind: 'old' });
  };
  const onLost = () => tell({ kind: 'state', live: false });
  const anew = new AbortController();
  // Everything would come again: what is on show is read anew, and followed from there.
  const onReset = () => {
    tell({ kind: 'reset' });
    anew.abort();
  };
  const onNotice = (notice: CellNotice) => (notice.type === 'reset' ? onReset() : tell(toldBy(notice)));
  const stream = { onOpen, onLost, signal: AbortSignal.any([signal, anew.signal]) };
  try {
    if (project === null) {
      for await (const event of followCell(api, { ...stream, onNotice })) tell(toldOf(event.project, event));
    } else {
      const { items } = await api.listEvents({ project, query: { limit: 1, order: 'desc' } });
      const after = items[0]?.id;
      for await (const event of followEvents(api, { ...stream, project, after, onReset })) tell(toldOf(project, event));
    }
  } catch (error) {
    if (signal.aborted) return;
    if (!anew.signal.aborted) {
      onLost();
      // Signed out, or the project is deleted: the page says which.
      if (isUnauthenticated(error)) await queries.invalidateQueries({ queryKey: keys.session });
      else tell({ kind: 'old' });
    }
  }
  if (anew.signal.aborted) await readOnce(project, tell, signal);
}

type ProjectEvent = Awaited<ReturnType<typeof api.listEvents>>['items'][number];

function toldOf(project: string, event: ProjectEvent): Told {
  const { type, agent } = event;
  const isMailToUser = type === 'message.created' && event.data.recipient === 'user';
  return { kind: 'event', project, type, agent, isMailToUser };
}

function toldBy({ type, project }: CellNotice): Told {
  if (type === 'project.deleted' && project !== undefined) return { kind: 'deleted', project };
  return project === undefined ? { kind: 'old' } : { kind: 'reset', project };
}
