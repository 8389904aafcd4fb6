import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import { api, isUnauthenticated, keys } from '../../api.js';
import { useWho } from '../../who.js';

/** Something that is shown once: gone when the page is left, when the session ends, and when somebody else signs in. */
export function useSecret<Secret>() {
  const [secret, setSecret] = useState<Secret>();
  const { name, session } = useWho();
  const { error } = useQuery({ queryKey: keys.session, queryFn: () => api.getSession(), enabled: false });
  const holder = isUnauthenticated(error) ? '' : (session?.id ?? name);
  useEffect(() => {
    const forget = () => setSecret(undefined);
    // The browser may keep the page as it stands right after, for the way back.
    const forgetNow = () => flushSync(forget);
    addEventListener('pagehide', forgetNow);
    return () => {
      removeEventListener('pagehide', forgetNow);
      forget();
    };
  }, [holder]);
  return [secret, setSecret] as const;
}
