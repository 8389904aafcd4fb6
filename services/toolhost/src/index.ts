export { createToolhost, type Toolhost, type ToolhostConfig } from './toolhost.js';
