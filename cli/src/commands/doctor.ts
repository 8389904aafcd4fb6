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
      .description(
        'check what Suzumio needs on this machine, or the server of --url; say what to do about what is broken',
      )
      .option('--host <host>', `the address that the API is to listen on here (by default ${host})`)
      .option('--port <port>', `its port (by default ${port})`, parsePort),
    ['doctor'],
    ['doctor --port 8080', 'for a server that is to listen there'],
    ['doctor --url https://suzumio.example', 'a server elsewhere: its services, queue, workers and disk'],
  ).action(
    action(async (session: Session, options: DoctorOptions) =>
      (await import('../doctor/doctor.js')).doctor(session, options),
    ),
  );
};
