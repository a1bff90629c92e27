export type { Patterns } from '../evaluation/patterns.types.js';
export { patterns } from '../evaluation/re2.js';
