import type { ComponentChildren } from 'preact';
import type { FlagDetail } from '../../api/types.js';
import { ChangeDialog, Dialog } from '../../parts/form/dialog.js';
import { ConflictTable } from '../../parts/review/conflict-table.js';
import type { Proposal } from '../../state/changes.js';
import { draftOf } from '../../state/drafts.js';
import { useFlagEdit } from '../../state/edit.js';

/** The part of a flag that a dialog edits. Each part has its own draft, which survives a reload and a sign-in. */
type FlagPart = 'details' | 'variants';

const keyOf = (flag: string, part: FlagPart) => `${flag}#${part}`;

/** Whether there is an unsaved edit: its dialog opens again. */
export function hasFlagDraft(flag: string, part: FlagPart): boolean {
  return draftOf(keyOf(flag, part)) !== undefined;
}

interface FlagFormProps {
  readonly detail: FlagDetail;
  readonly revision: number;
  readonly part: FlagPart;
  readonly size?: 'small' | 'large';
  readonly onClose: () => void;
  readonly children: (form: FlagFormState) => ComponentChildren;
}

interface FlagFormState {
  readonly mine: FlagDetail;
  readonly edit: (change: Partial<FlagDetail>) => void;
}

/** A dialog that edits a part of a flag, and resolves conflicts with concurrent changes. */
export function FlagForm({ detail, revision, part, onClose, children, ...dialog }: FlagFormProps) {
  const { name } = detail;
  const { draft, changes, conflict, edit, discard } = useFlagEdit(keyOf(name, part), detail, revision);
  const title = `${part === 'details' ? 'Details' : 'Variants'} of ${name}`;
  const close = () => {
    discard();
    onClose();
  };
  const proposal: Proposal = {
    title: `Change the ${part} of ${name}`,
    changes,
    done: `The ${part} of ${name} were saved.`,
    mergesConflicts: true,
  };
  if (conflict) {
    return (
      <Dialog title={title} size="large" onClose={close}>
        <div class="dialog-body">
          <ConflictTable flag={name} conflict={conflict} />
        </div>
      </Dialog>
    );
  }
  return (
    <ChangeDialog
      {...dialog}
      title={title}
      submit={`Save ${part}`}
      proposal={() => (changes.length === 0 ? undefined : proposal)}
      onClose={close}
    >
      {children({ mine: draft.mine, edit: (change) => edit({ ...draft.mine, ...change }) })}
    </ChangeDialog>
  );
}
