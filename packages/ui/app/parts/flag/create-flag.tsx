import { href, navigate } from '../../router.js';
import type { Proposal } from '../../state/changes.js';
import { draftOf, keepDraft } from '../../state/drafts.js';
import { useEdit } from '../../state/edit.js';
import { ChangeDialog } from '../form/dialog.js';
import { fieldProps, TextField } from '../form/field.js';
import { FlagFields, type FlagMetadata } from './flag-fields.js';

interface NewFlag extends FlagMetadata {
  readonly name: string;
}

const EMPTY: NewFlag = { name: '', description: '', type: 'release', owner: '', labels: [] };

/** A prefix that cannot be a flag name: names contain no space. */
const keyOf = (project: string) => `new flag in ${project}`;

/** Whether a project has an unsaved form. */
export function hasNewFlag(project: string): boolean {
  return draftOf(keyOf(project)) !== undefined;
}

/** Opens the form for a new flag with a name. */
export function createFlagNamed(project: string, name: string): void {
  keepDraft(keyOf(project), { base: EMPTY, revision: 0, mine: { ...EMPTY, name } });
  navigate(href(['projects', project]));
}

/** Creates a flag, disabled in every environment, and opens it. The form survives a reload and a sign-in. */
export function CreateFlagDialog({ project, onClose }: { readonly project: string; readonly onClose: () => void }) {
  const { draft, edit, discard } = useEdit(keyOf(project), EMPTY, 0);
  const form = draft.mine;
  const close = () => {
    discard();
    onClose();
  };
  const change = (changed: Partial<NewFlag>) => edit({ ...form, ...changed });
  const create = (): Proposal => {
    const { description, type, labels } = form;
    const [name, owner] = [form.name.trim(), form.owner.trim()];
    return {
      title: `Create ${name}`,
      changes: [
        {
          op: 'createFlag',
          ref: { project },
          input: { name, description, type, ...(owner !== '' && { owner }), ...(labels.length > 0 && { labels }) },
        },
      ],
      done: `${name} was created, off in every environment.`,
      onApplied: () => navigate(href(['projects', project, 'flags', name])),
    };
  };
  return (
    <ChangeDialog title="New flag" submit="Create flag" proposal={create} onClose={close}>
      <TextField
        label="Name"
        hint="Your code asks for this name. It cannot be changed."
        required
        maxLength={100}
        spellcheck={false}
        {...fieldProps(form, change)('name')}
      />
      <FlagFields values={form} onChange={change} />
    </ChangeDialog>
  );
}
