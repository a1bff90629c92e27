import type { ComponentChildren } from 'preact';
import { actionOf } from '../../model/change-request.js';
import { type Proposal, propose } from '../../state/changes.js';
import { Button, type ButtonProps, DialogButton } from '../control/controls.js';
import { Dialog } from './dialog.js';

interface ChangeButtonProps extends Omit<ButtonProps, 'needs' | 'onClick'> {
  readonly proposal: Proposal;
  /** Why the change is not possible yet. The button then opens this text. */
  readonly obstacle?: { readonly title: string; readonly text: ComponentChildren } | false;
}

/** A button that proposes changes. It needs the permission of each operation. */
export function ChangeButton({ proposal, obstacle, ...button }: ChangeButtonProps) {
  const { undoes, changes } = proposal;
  const needs = undoes === undefined ? [...changes.map(({ op }) => actionOf(op)), 'applyChanges'] : ['undoChange'];
  if (!obstacle) return <Button {...button} needs={needs} onClick={() => propose(proposal)} />;
  const dialog = (close: () => void) => (
    <Dialog title={obstacle.title} onClose={close}>
      <div class="dialog-body">{obstacle.text}</div>
      <div class="dialog-foot">
        <Button class="primary" onClick={close}>
          Close
        </Button>
      </div>
    </Dialog>
  );
  return <DialogButton {...button} needs={needs} dialog={dialog} />;
}
