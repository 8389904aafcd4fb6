import { useMutation } from '@tanstack/react-query';
import { useId } from 'react';
import { api, queries, wordsOf } from '../../api.js';
import { Dialog } from '../../acts/run/dialog.js';
import { Copyable } from '../../parts/copy.js';
import { Moment } from '../../parts/time.js';
import { accessKeys } from './use-people.js';
import { useSecret } from './use-secret.js';

/** A link that signs a browser in as a token: shown once, and kept nowhere. */
export function LinkDialog({ token, isOwn }: { token: string; isOwn: boolean }) {
  const id = useId();
  const [made, setMade] = useSecret<Awaited<ReturnType<typeof api.createSignInLink>>>();
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
            if (link.isPending) return;
            link.mutate(undefined, {
              onSuccess: (answer) => {
                setMade(answer);
                link.reset();
              },
            });
          }}
        >
          {made === undefined ? (
            <p id={id}>
              It signs one browser in, once, within ten minutes. Whoever opens it is <b>{token}</b>
              {isOwn
                ? ', as you are: send it to nobody else.'
                : ': send it to nobody else. That you made it is recorded.'}
            </p>
          ) : (
            <div role="status" className="once">
              <Copyable text={made.url} name="the link" />
              <p className="quiet">
                {made.expiresAt === null ? (
                  'This server asks nobody to sign in.'
                ) : (
                  <>
                    Good until <Moment at={made.expiresAt} />, for one browser. It is shown this once.
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
            {made === undefined ? (
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
