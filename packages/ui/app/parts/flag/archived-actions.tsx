import type { ListedFlag } from '../../api/types.js';
import { ChangeButton } from '../form/change-button.js';

type Archived = Pick<ListedFlag, 'name' | 'project'> & { readonly revision: number | undefined };

/** The actions of an archived flag. */
export function ArchivedActions({ flag: { name, project, revision } }: { readonly flag: Archived }) {
  const ref = { project, flag: name };
  const known = revision === undefined ? {} : { ifRevision: revision };
  const revive = {
    title: `Revive ${name}`,
    changes: [{ op: 'reviveFlag' as const, ref, ...known }],
    done: `${name} was revived, and is off in every environment.`,
  };
  const remove = {
    title: `Delete ${name}`,
    text: `${name} is deleted permanently, and its name can be used again. In applications that still evaluate it, it is off.`,
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
