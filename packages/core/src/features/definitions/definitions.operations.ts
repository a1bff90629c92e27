import { Namespace, run } from '../../kernel/changes/run-operation.js';
import { type Call, call, defineOperations, NO_REFERENCE } from '../../kernel/operation.js';
import type { EnvironmentEngine } from '../environments/plan.operations.js';
import type { Definitions, ExportQuery, ImportOptions, ImportResult } from './definition.types.js';
import { exportDefinitions } from './export-definitions.js';
import { importDefinitions } from './import-definitions.js';

export const definitionOperations = defineOperations({
  exportDefinitions: call({
    method: 'definitions.export',
    ref: ['project?'],
    run: (engine: EnvironmentEngine, { ref }: Call<ExportQuery | undefined>) => exportDefinitions(engine, ref),
  }),
  importDefinitions: call({
    method: 'definitions.import',
    ref: NO_REFERENCE,
    run: (engine: EnvironmentEngine, { input, context }: Call<undefined, Definitions, ImportOptions | undefined>) =>
      importDefinitions(engine, input, context),
  }),
});

/** Flags as code: `flags.definitions`. */
export class FlagDefinitions extends Namespace {
  /**
   * Exports projects with their members, segments, and flags with all configured environments, each by name or id.
   * Reads in slices of some milliseconds. Concurrent changes may be partly included.
   *
   * @throws FlagsError `project_not_found`, `invalid_input`
   * @example
   * await writeFile('flags.json', JSON.stringify(await flags.definitions.export(), null, 2));
   */
  export(query?: ExportQuery): Promise<Definitions> {
    return run(this, definitionOperations.exportDefinitions, { ref: query });
  }

  /**
   * Brings projects, segments and flags to the state of a document, in one change set. Idempotent: commits the
   * differences only. Leaves the percentage of a strategy that rolls out alone: the answer names each one. If anything else
   * of it differs, its rollout ends.
   *
   * Refuses more than 1,000 changed documents, and more than 8 MiB of documents and events, also in a dry run: import
   * by project. Flags and projects are identified by name and id, segments by name, or by id and creation time
   * together. Safe to call concurrently: after a conflict, the import is decided again.
   *
   * @throws FlagsError `invalid_input`: `details[].path` are JSON Pointers into the document, and nothing has changed.
   * Also the refusals of single operations, with the place of the item or dependency: `flag_has_children`,
   * `segment_in_use`, `dependency_too_deep`, `dependency_cycle`, `parent_not_found`, `last_owner`; without a place:
   * `segment_exists`, `change_set_too_large`, `id_taken`
   * @example
   * const { differences } = await flags.definitions.import(document, { dryRun: true });
   * await flags.definitions.import(document, { reason: 'Release 7', prune: true });
   */
  import(document: Definitions, options?: ImportOptions): Promise<ImportResult> {
    return run(this, definitionOperations.importDefinitions, { input: document, context: options });
  }
}
