import process from 'node:process';
import { parseArgs } from 'node:util';

/**
 * The command line of a script. `--help` prints the usage and ends the process; so does a mistake, with 2.
 *
 * @param usage what the script takes, in lines for people
 * @param config as for `parseArgs`
 * @param mistakeIn says what is wrong with values, if anything is
 */
export function readOptions(usage, { options, ...config }, mistakeIn = () => undefined) {
  try {
    const read = parseArgs({ ...config, options: { ...options, help: { type: 'boolean', short: 'h' } } });
    if (read.values.help) end(0, usage);
    const mistake = mistakeIn(read.values);
    if (mistake !== undefined) end(2, `error: ${mistake}\n${usage}`);
    return read;
  } catch (error) {
    if (!String(error.code).startsWith('ERR_PARSE_ARGS_')) throw error;
    return end(2, `error: ${error.message.split('. ')[0]}\n${usage}`);
  }
}

function end(code, text) {
  (code === 0 ? process.stdout : process.stderr).write(`${text}\n`);
  process.exit(code);
}
