import type { ListedFlag } from '../api/types.js';
import { propose, review } from '../state/changes.js';
import { Button } from './controls.js';

type Archived = Pick<ListedFlag, 'name' | 'project'> & { readonly revision: number | undefined };

/** The actions of an archived flag. */
export function ArchivedActions({ flag }: { readonly flag: Archived }) {
  const ref = { project: flag.project, flag: flag.name };
  const known = flag.revision === undefined ? {} : { ifRevision: flag.revision };
  return (
    <span class="actions">
      <Button
        label={`Revive ${flag.name}`}
        needs={['reviveFlag', 'applyChanges']}
        project={flag.project}
        onClick={() =>
          void propose({
            title: `Revive ${flag.name}`,
            changes: [{ op: 'reviveFlag', ref, ...known }],
            done: `${flag.name} is back, off in every environment.`,
          })
        }
      >
        Revive
      </Button>
      <Button
        label={`Delete ${flag.name}`}
        needs={['deleteFlag', 'applyChanges']}
        project={flag.project}
        onClick={() =>
          void review({
            title: `Delete ${flag.name}`,
            text: `${flag.name} is deleted for good, and its name is free again. Applications that still ask for it get off.`,
            confirm: `Confirm: delete ${flag.name}`,
            changes: [{ op: 'deleteFlag', ref, ...known }],
            done: `${flag.name} was deleted.`,
          })
        }
      >
        Delete…
      </Button>
    </span>
  );
}
