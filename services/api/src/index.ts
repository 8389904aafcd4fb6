export { type Api, type ApiConfig, createApi } from './api.js';
export type { ApiGuards } from './app.js';
export { accessEnvironment, accessOf } from './environment.js';
