import { useEffect, useState } from 'react';
import { queries } from '../api.js';

const [everyMs, patienceMs] = [1_000, 5_000];

/** Says for how long the server has owed an answer, where that is long. */
export function Slow() {
  const silentMs = useSilence();
  if (silentMs < patienceMs) return null;
  return (
    <p className="lost" role="status">
      The server has not answered for {Math.round(silentMs / 1_000)} s. Still waiting.
    </p>
  );
}

/** How long the oldest question waits for its answer. */
function useSilence(): number {
  const [silentMs, setSilentMs] = useState(0);
  useEffect(() => {
    const since = new Map<string, number>();
    const look = () => {
      const now = Date.now();
      const asked = new Set(
        queries
          .getQueryCache()
          .findAll({ fetchStatus: 'fetching' })
          .map(({ queryHash }) => queryHash),
      );
      for (const hash of since.keys()) if (!asked.has(hash)) since.delete(hash);
      for (const hash of asked) if (!since.has(hash)) since.set(hash, now);
      const longest = now - Math.min(now, ...since.values());
      setSilentMs(longest < patienceMs ? 0 : longest);
    };
    const timer = setInterval(look, everyMs);
    return () => clearInterval(timer);
  }, []);
  return silentMs;
}
