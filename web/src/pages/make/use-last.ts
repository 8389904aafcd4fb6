import { useState } from 'react';

/**
 * The last value that was known of something: it stays while a line is being written.
 *
 * @param of what it is of; undefined where there is nothing
 */
export function useLast<Value>(value: Value | undefined, of: number | undefined): Value | undefined {
  const [last, setLast] = useState<{ value: Value; of: number | undefined }>();
  if (value !== undefined && (last?.value !== value || last.of !== of)) setLast({ value, of });
  return value ?? (last?.of === of ? last?.value : undefined);
}
