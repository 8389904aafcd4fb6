import { Document, isScalar, Scalar, visit } from 'yaml';
import type { FileConfig } from '@suzumio/contract/model/project-config';
import { escapeEnvironment, isReadAtRunTime } from './environment.js';
import { escapeImport } from './import-marker.js';

/**
 * The project file with everything resolved, marked `rendered: 1`. Loading it gives the same config in any environment:
 * texts that look like variables or imports are escaped.
 */
export function renderConfig(config: FileConfig): string {
  const document = new Document(escapeTexts(config, []), { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === 'string' && needsQuotes(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
    Pair: (_key, pair) => {
      if (isScalar(pair.key) && typeof pair.key.value === 'string' && needsQuotes(pair.key.value)) {
        pair.key.type = Scalar.QUOTE_DOUBLE;
      }
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** Whether a text has characters that YAML would fold, strip or read as a line break unless they are escaped. */
function needsQuotes(text: string): boolean {
  // In a block, readers take lines of spaces for indentation.
  const hasBlankLine = text.includes('\n') && /^ +$/m.test(text);
  return hasBlankLine || /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text.replaceAll('\n', '')) || text.startsWith('@');
}

function escapeTexts(value: unknown, path: readonly (string | number)[]): unknown {
  if (typeof value === 'string') return escapeImport(isReadAtRunTime(path) ? value : escapeEnvironment(value));
  if (Array.isArray(value)) return value.map((item, index) => escapeTexts(item, [...path, index]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, escapeTexts(item, [...path, key])]));
}
