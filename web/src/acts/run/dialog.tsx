import { useQuery } from '@tanstack/react-query';
import { type ReactNode, type RefObject, useEffect, useId, useRef } from 'react';
import { api, isUnauthenticated, keys } from '../../api.js';
import { closeDialog } from './dialogs.js';
import { useKeptFocus } from './kept-focus.js';

/**
 * Something that is asked over the page: what cannot be undone, or wants more than a button.
 *
 * @param children what is in it, given what closes it
 */
export function Dialog({
  title,
  className = '',
  onClosed = closeDialog,
  children,
}: {
  title: ReactNode;
  className?: string;
  onClosed?: () => void;
  children: (close: () => void) => ReactNode;
}) {
  const id = useId();
  const place = useRef<HTMLDialogElement>(null);
  const kept = useKeptFocus(place);
  const isOut = useIsOut(place);
  return (
    <dialog
      className={`dialog ${className}`}
      aria-labelledby={id}
      ref={place}
      {...kept}
      onClose={() => {
        if (!isOut && place.current?.open === false) onClosed();
      }}
    >
      <h2 id={id} className="dialog-title">
        {title}
      </h2>
      {children(() => place.current?.close())}
    </dialog>
  );
}

/** Whether somebody has to sign in first, whom a dialog over the page would keep from that: it steps back until then. */
function useIsOut(place: RefObject<HTMLDialogElement | null>): boolean {
  const session = useQuery({ queryKey: keys.session, queryFn: () => api.getSession(), enabled: false });
  const isOut = isUnauthenticated(session.error);
  useEffect(() => {
    const dialog = place.current;
    if (isOut || dialog === null) return undefined;
    dialog.showModal();
    return () => dialog.close();
  }, [isOut, place]);
  return isOut;
}
