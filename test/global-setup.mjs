import { compileAll } from '../scripts/compile-schemas.mjs';

/** Compiles the schemas before the tests, if they have changed since. */
export default compileAll;
