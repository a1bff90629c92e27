import { MIGRATIONS } from './migrations.js';
import { type Place, tableNames } from './table-names.js';

/** The statements that bring the tables from a schema version to the newest; from nothing at all when it is 0. */
export function migrationSteps(place: Place, from: number): readonly string[] {
  const names = tableNames(place);
  return MIGRATIONS.slice(from).map((step) => step(names));
}
