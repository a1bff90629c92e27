import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon } from './icons.js';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly size?: 'small' | 'large';
}

/** A modal dialog of the platform. Its first field gets the focus, which returns to what opened the dialog. */
export function Dialog({ title, onClose, children, size = 'small' }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    element?.querySelector<HTMLElement>('.dialog-body :is(input, textarea, select):not(details *)')?.focus();
    return () => {
      // One that is closed already was left by a navigation, or by an action that has moved the focus itself.
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
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet square" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  /** The label of the button. */
  readonly confirm: string;
  readonly isDanger?: boolean;
  readonly onConfirm: () => unknown;
  readonly onClose: () => void;
}

/** Asks before something that cannot be taken back, or that is easily done by mistake. */
export function Confirm({ title, text, confirm, isDanger = false, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-body">
        <p>{text}</p>
      </div>
      <footer class="dialog-foot">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class={isDanger ? 'danger' : 'primary'}
          onClick={() => {
            onClose();
            onConfirm();
          }}
        >
          {confirm}
        </button>
      </footer>
    </Dialog>
  );
}
