export { type Api, type ApiConfig, createApi } from './api.js';
