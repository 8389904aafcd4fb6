import type { ShownImage } from '@suzumio/protocol/images';
import type { RecordedStep } from '../journal.js';
import type { SqlReader } from '../sqlite/sql.js';

// An image that a call has shown stands in the call's row as a reference to its content. A question to a model refers to
// the same, so that no row holds its bytes.

/** An image as it stands in its call's row. */
export function keptImage(result: RecordedStep): string | null {
  return result.ok && result.response.image ? JSON.stringify(result.response.image) : null;
}

/** The images that a turn's calls have shown, by their hashes. */
export function imagesOf(reader: SqlReader, turn: string): Map<string, ShownImage> {
  const rows = reader.all<{ image: string }>(
    'SELECT image_json AS image FROM tool_calls WHERE turn_id = :turn AND image_json IS NOT NULL',
    { turn },
  );
  return new Map(rows.map(({ image }) => JSON.parse(image) as ShownImage).map((image) => [image.sha256, image]));
}

/** The hashes of images that a turn may still ask about: any but a completed one may go on. */
export function imagesInUse(reader: SqlReader): Set<string> {
  const rows = reader.all<{ sha256: string }>(
    `SELECT DISTINCT image_json ->> 'sha256' AS sha256 FROM tool_calls JOIN turns ON turns.id = turn_id
     WHERE image_json IS NOT NULL AND turns.status <> 'completed'`,
  );
  return new Set(rows.map(({ sha256 }) => sha256));
}

/** The turns of which a call has shown one of some images. */
export function turnsShown(reader: SqlReader, hashes: readonly string[]): string[] {
  const rows = reader.all<{ turn: string }>(
    `SELECT DISTINCT turn_id AS turn FROM tool_calls
     WHERE image_json IS NOT NULL AND image_json ->> 'sha256' IN (SELECT value FROM json_each(:hashes))`,
    { hashes: JSON.stringify(hashes) },
  );
  return rows.map(({ turn }) => turn);
}
