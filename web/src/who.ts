import type { WhoAmI } from '@suzumio/sdk/client';
import { createContext, useContext } from 'react';

export const WhoContext = createContext<WhoAmI | undefined>(undefined);

/** Who is signed in. */
export function useWho(): WhoAmI {
  const who = useContext(WhoContext);
  if (who === undefined) throw new Error('nobody is signed in here');
  return who;
}
