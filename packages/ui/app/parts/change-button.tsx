import { type Proposal, propose } from '../state/changes.js';
import { Button, type ButtonProps } from './controls.js';

interface ChangeButtonProps extends Omit<ButtonProps, 'needs' | 'onClick'> {
  readonly proposal: Proposal;
}

/** A button that proposes changes. It needs the permission of each operation. */
export function ChangeButton({ proposal, ...button }: ChangeButtonProps) {
  const { undoes, changes } = proposal;
  const needs = undoes === undefined ? [...changes.map(({ op }) => op), 'applyChanges'] : ['undoChange'];
  return <Button {...button} needs={needs} onClick={() => propose(proposal)} />;
}
