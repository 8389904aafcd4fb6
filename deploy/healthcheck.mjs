// Whether the service of this container can do its work: its exit code is what the engine shows as healthy or not.
import { get } from 'node:http';

const request = get({ host: '127.0.0.1', port: process.env.SUZUMIO_HEALTH_PORT, path: '/readyz', timeout: 4_000 });
request.on('response', (response) => process.exit(response.statusCode === 200 ? 0 : 1));
request.on('timeout', () => request.destroy(new Error('no answer')));
request.on('error', () => process.exit(1));
