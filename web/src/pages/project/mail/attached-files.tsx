import { Icon } from '../../../parts/icon.js';
import { visible } from '../../../parts/visible.js';
import { bytes } from '../../../parts/numbers.js';
import { type Attached, chosen } from './deliver.js';
import type { Going } from './outbox.js';

interface AttachedFilesProps {
  files: readonly Attached[];
  /** The letter, while it is on its way. */
  going: Pick<Going, 'uploaded'> | undefined;
  remove: (file: Attached) => void;
}

/** What a letter will carry. It is uploaded when the letter is sent: nothing is published before. */
export function AttachedFiles({ files, going, remove }: AttachedFilesProps) {
  return (
    <ul className="attachments composer-files" aria-label="Attached files">
      {files.map((file) => {
        const { key, name, size, id } = file;
        const uploaded = going?.uploaded[key];
        return (
          <li key={key} className="attachment">
            <Icon name="file" />
            <bdi className="clip">{visible(name)}</bdi>
            {going === undefined ? (
              <>
                <span className="quiet">
                  {bytes(size)}
                  {id === undefined ? '' : ', uploaded'}
                </span>
                {id === undefined && !chosen.has(key) ? <span className="state-failed">choose it again</span> : null}
                <button
                  type="button"
                  className="icon-button"
                  aria-label={`Remove ${visible(name)}`}
                  onClick={() => remove(file)}
                >
                  <Icon name="close" />
                </button>
              </>
            ) : id === undefined ? (
              <>
                <span className="quiet">
                  {uploaded === undefined ? bytes(size) : `${bytes(Math.min(uploaded, size))} of ${bytes(size)}`}
                </span>
                <progress aria-label={`Upload of ${visible(name)}`} max={size} value={Math.min(uploaded ?? 0, size)} />
              </>
            ) : (
              <span className="quiet">{bytes(size)}, uploaded</span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
