import type { DoctorOptions } from '../doctor/doctor.js';
import { configDefaults } from '@suzumio/core/config/defaults';
import type { Session } from '../session.js';
import type { Register } from './action.js';
import { parsePort } from './arguments.js';
import { examples } from './help.js';

const { host, port } = configDefaults.observability.http;

export const registerDoctor: Register = (program, action) => {
  examples(
    program
      .command('doctor')
      .description('check what Suzumio needs on this machine; say what to do about what is broken')
      .option('--host <host>', 'the address that the API is to listen on', host)
      .option('--port <port>', 'its port', parsePort, port),
    ['doctor'],
    ['doctor --port 8080', 'for a server that is to listen there'],
  ).action(
    action(async (session: Session, options: DoctorOptions) =>
      (await import('../doctor/doctor.js')).doctor(session, options),
    ),
  );
};
