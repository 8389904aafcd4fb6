import { visible } from '../../parts/visible.js';

/** Chooses a file of this machine. The same one can be chosen again. */
export function ChooseFile({ onFile }: { onFile: (file: File | undefined) => void }) {
  return (
    <label className="button make-upload">
      Choose a file
      <input
        type="file"
        className="visually-hidden"
        onChange={({ target }) => {
          onFile(target.files?.[0]);
          target.value = '';
        }}
      />
    </label>
  );
}

/** Why a file was not taken; nothing where it was. */
export function Refused({ words }: { words: string }) {
  if (words === '') return null;
  return (
    <p className="make-refused" role="alert">
      <bdi>{visible(words)}</bdi>
    </p>
  );
}
