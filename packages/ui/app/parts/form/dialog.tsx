import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { type Proposal, submit } from '../../state/changes.js';
import { Button, IconButton } from '../control/controls.js';
import { Form } from './form.js';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly size?: 'small' | 'large' | 'wide';
  /** What gets the focus first: a field, or the title where the content must be read before. Default: a field. */
  readonly focus?: 'field' | 'title';
}

/** A modal `<dialog>`. Its first field gets the focus, which returns to the opener when the dialog closes. */
export function Dialog({ title, onClose, children, size = 'small', focus = 'field' }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    const first = focus === 'title' ? 'h2' : '.dialog-body :is(input, textarea, select):not(details *)';
    element?.querySelector<HTMLElement>(first)?.focus({ preventScroll: true });
    return () => {
      // If the dialog is already closed, a navigation or an action has moved the focus.
      if (!element?.open) return;
      element.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog ${size}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={id} tabIndex={-1}>
          {title}
        </h2>
        <IconButton icon="close" label="Close" onClick={onClose} />
      </div>
      {children}
    </dialog>
  );
}

interface FormDialogProps extends DialogProps {
  /** The label of the button that submits the form. */
  readonly submit: string;
  /** The label of the button that closes the form. Default: Cancel */
  readonly dismiss?: string;
  readonly isDanger?: boolean;
  /** Why the form cannot be submitted. */
  readonly blocked?: string | undefined;
  readonly onSubmit: () => unknown;
}

/** A form in a dialog. */
export function FormDialog({ submit, dismiss = 'Cancel', isDanger = false, blocked, ...props }: FormDialogProps) {
  const { onSubmit, children, ...dialog } = props;
  return (
    <Dialog {...dialog}>
      <Form
        bodyClass="dialog-body"
        onSubmit={onSubmit}
        foot={(isBusy) => (
          <div class="dialog-foot">
            <Button onClick={dialog.onClose}>{dismiss}</Button>
            <Button type="submit" class={isDanger ? 'danger' : 'primary'} isBusy={isBusy} blocked={blocked}>
              {submit}
            </Button>
          </div>
        )}
      >
        {children}
      </Form>
    </Dialog>
  );
}

interface ChangeDialogProps extends Omit<FormDialogProps, 'onSubmit'> {
  /** Returns the changes of the form; undefined if nothing has changed. */
  readonly proposal: () => Proposal | undefined;
}

/** A form in a dialog that proposes changes. It closes when they are applied. */
export function ChangeDialog({ proposal: propose, ...dialog }: ChangeDialogProps) {
  const save = () => {
    const proposal = propose();
    if (proposal === undefined) return dialog.onClose();
    const onApplied: Proposal['onApplied'] = (set) => {
      dialog.onClose();
      proposal.onApplied?.(set);
    };
    return submit({ ...proposal, onApplied });
  };
  return <FormDialog {...dialog} onSubmit={save} />;
}

interface ConfirmProps extends Omit<DialogProps, 'children' | 'size'>, Pick<FormDialogProps, 'dismiss'> {
  readonly text: string;
  /** The label of the button. */
  readonly confirm: string;
  readonly onConfirm: () => unknown;
}

/** Asks for a confirmation of an action that cannot be undone, or that is easily done by mistake. */
export function Confirm({ text, confirm, onConfirm, ...dialog }: ConfirmProps) {
  return (
    <FormDialog
      {...dialog}
      submit={confirm}
      isDanger
      onSubmit={() => {
        dialog.onClose();
        onConfirm();
      }}
    >
      <p>{text}</p>
    </FormDialog>
  );
}
