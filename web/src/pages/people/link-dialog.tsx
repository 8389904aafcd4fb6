import { useMutation } from '@tanstack/react-query';
import { useId } from 'react';
import { api, queries, wordsOf } from '../../api.js';
import { Dialog } from '../../acts/run/dialog.js';
import { Copyable } from '../../parts/copy.js';
import { Moment } from '../../parts/time.js';
import { accessKeys } from './use-people.js';

/** A link that signs a browser in as a token: shown once, and kept nowhere. */
export function LinkDialog({ token, isOwn }: { token: string; isOwn: boolean }) {
  const id = useId();
  const link = useMutation({
    mutationFn: () => api.createSignInLink({ body: isOwn ? {} : { token } }),
    gcTime: 0,
    onSettled: () => {
      for (const queryKey of accessKeys) queries.invalidateQueries({ queryKey }).catch(() => undefined);
    },
  });
  return (
    <Dialog
      title={
        <>
          A link that signs in as <bdi>{token}</bdi>
        </>
      }
    >
      {(close) => (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (!link.isPending) link.mutate();
          }}
        >
          {link.data === undefined ? (
            <p id={id}>
              It signs one browser in, once, within ten minutes. Whoever opens it is <b>{token}</b>
              {isOwn
                ? ', as you are: send it to nobody else.'
                : ': send it to nobody else. That you made it is recorded.'}
            </p>
          ) : (
            <div role="status" className="once">
              <Copyable text={link.data.url} name="the link" />
              <p className="quiet">
                {link.data.expiresAt === null ? (
                  'This server asks nobody to sign in.'
                ) : (
                  <>
                    Good until <Moment at={link.data.expiresAt} />, for one browser. It is shown this once.
                  </>
                )}
              </p>
            </div>
          )}
          {link.error ? (
            <p role="alert" className="outcome-refused">
              {wordsOf(link.error)}
            </p>
          ) : null}
          <div className="dialog-foot">
            <button type="button" className="button" data-next onClick={close}>
              Close
            </button>
            {link.data === undefined ? (
              <button type="submit" className="button button-filled" aria-describedby={id}>
                {link.isPending ? 'Making…' : 'Make the link'}
              </button>
            ) : null}
          </div>
        </form>
      )}
    </Dialog>
  );
}
