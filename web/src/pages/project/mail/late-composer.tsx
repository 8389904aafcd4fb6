import { late } from '../../../acts/run/late.js';

/** The composer, with its room kept until it is there. */
export const Composer = late(() => import('./composer.js'), <div className="composer composer-coming" />);
