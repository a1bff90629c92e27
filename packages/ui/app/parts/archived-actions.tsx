import type { ListedFlag } from '../api/types.js';
import { ChangeButton } from './change-button.js';

type Archived = Pick<ListedFlag, 'name' | 'project'> & { readonly revision: number | undefined };

/** The actions of an archived flag. */
export function ArchivedActions({ flag: { name, project, revision } }: { readonly flag: Archived }) {
  const ref = { project, flag: name };
  const known = revision === undefined ? {} : { ifRevision: revision };
  const revive = {
    title: `Revive ${name}`,
    changes: [{ op: 'reviveFlag' as const, ref, ...known }],
    done: `${name} is back, off in every environment.`,
  };
  const remove = {
    title: `Delete ${name}`,
    text: `${name} is deleted for good, and its name is free again. For applications that still ask for it, it is off.`,
    confirm: `Confirm: delete ${name}`,
    changes: [{ op: 'deleteFlag' as const, ref, ...known }],
    done: `${name} was deleted.`,
  };
  return (
    <span class="actions">
      <ChangeButton label={revive.title} project={project} proposal={revive}>
        Revive
      </ChangeButton>
      <ChangeButton label={remove.title} project={project} proposal={remove}>
        Delete…
      </ChangeButton>
    </span>
  );
}
